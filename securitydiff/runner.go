package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// runnerState follows a known runner's command line to the argument that names
// what it runs.
type runnerState struct {
	packages  bool // an npm or Python package runner
	container bool
	verbs     map[string]bool // words that must come first: run, dlx, exec
	valued    map[string]bool // options whose next argument is a value
	waiting   bool            // the next argument is an option's value
	named     bool            // what is run was named already
	sawVerb   bool
	pkgOption map[string]bool // options that name the package in place of the argument
	besides   map[string]bool // options that name a further package
	// then are verbs that need a second one: uv tool run.
	then map[string]map[string]bool
	// plain are verbs behind which no package is named: uv run.
	plain map[string]bool
	// byOption: an option named the package, so the argument is a program in it.
	byOption bool
	// open: no package is named, but options of the runner may still follow.
	open bool
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// containerValued are the options of docker run and its kin whose value is the
// next argument (docker-run(1), podman-run(1)).
var containerValued = set(`-e --env --env-file -v --volume --mount --name --network --net -p --publish -u --user -w --workdir
	--entrypoint -l --label --platform --pull -h --hostname --add-host --cap-add --cap-drop --security-opt --device --gpus -m --memory
	--cpus --ulimit --tmpfs --dns --pid --ipc --uts --userns --restart --log-driver --log-opt --runtime --shm-size --stop-timeout
	--group-add --annotation --cidfile --cgroupns --cpu-shares --expose --health-cmd --init-path --ip --isolation --kernel-memory
	--label-file --link --mac-address --memory-swap --network-alias --oom-score-adj --pids-limit --stop-signal --storage-opt --sysctl
	--volume-driver --volumes-from -a --attach -c`)

var runners = map[string]runnerState{
	"npx":  {packages: true, pkgOption: set("-p --package"), valued: set("-c --call -w --workspace --registry")},
	"bunx": {packages: true, pkgOption: set("-p --package")},
	"pnpx": {packages: true, pkgOption: set("--package")},
	"pnpm": {packages: true, verbs: set("dlx exec"), pkgOption: set("--package")},
	"yarn": {packages: true, verbs: set("dlx"), pkgOption: set("-p --package")},
	"npm":  {packages: true, verbs: set("exec x"), pkgOption: set("-p --package")},
	"bun":  {packages: true, verbs: set("x"), pkgOption: set("-p --package")},
	"uvx":  {packages: true, pkgOption: set("--from"), besides: set("--with"), valued: uvValued},
	"uv": {
		packages: true, verbs: set("run"), plain: set("run"), then: map[string]map[string]bool{"tool": set("run")},
		pkgOption: set("--from"), besides: set("--with"), valued: uvValued,
	},
	"go":             {packages: true, verbs: set("run"), valued: set("-C -tags -modfile -ldflags -exec")},
	"deno":           {packages: true, verbs: set("run"), valued: set("-c --config --import-map --lock --cert")},
	"dnx":            {packages: true, valued: set("--version --source --add-source --configfile")},
	"pipx":           {packages: true, verbs: set("run"), pkgOption: set("--spec"), valued: set("--python --index-url --pip-args")},
	"docker":         {container: true, verbs: set("run create"), valued: containerValued},
	"podman":         {container: true, verbs: set("run create"), valued: containerValued},
	"nerdctl":        {container: true, verbs: set("run create"), valued: containerValued},
	"finch":          {container: true, verbs: set("run create"), valued: containerValued},
	"docker-compose": {container: true, verbs: set("run"), valued: set("-e --env -f --file -p --project-name -v --volume")},
}

// uvValued are the options of uv and uvx whose value is the next argument.
var uvValued = set(`-p --python -i --index --index-url --default-index --extra-index-url -f --find-links --with-editable
	--with-requirements --directory --project --config-file --cache-dir --env-file -c --constraint --override --exclude-newer --color
	--extra --group --package`)

func newRunner(program string) runnerState { return runners[program] }

func (r *runnerState) active() bool { return r.packages || r.container }

func (r *runnerState) sawOption(option string) {
	r.waiting = r.active() && (!r.named || r.byOption || r.open) && (r.valued[option] || r.pkgOption[option] || r.besides[option])
	if r.pkgOption[strings.TrimSuffix(option, "=")] && !r.named {
		r.named, r.byOption = true, true
	}
}

// takesPackage reports whether the option's value is a package.
func (r *runnerState) takesPackage(option string) bool {
	if !r.waiting || !r.pkgOption[option] && !r.besides[option] {
		return false
	}
	r.waiting = false
	return true
}

// positional reports whether an argument that is no option names what is run.
func (r *runnerState) positional(s string) (argKind, bool) {
	if !r.active() {
		return 0, false
	}
	if r.waiting {
		r.waiting = false
		return 0, false
	}
	if len(r.verbs) > 0 && !r.sawVerb {
		switch next, more := r.then[s]; {
		case more:
			r.verbs, r.then, r.plain = next, nil, nil
		case r.plain[s]:
			r.sawVerb, r.named, r.open = true, true, true
		default:
			r.sawVerb = r.verbs[s]
		}
		return 0, false
	}
	r.open = false
	if r.byOption {
		r.byOption = false
		return argProgram, true
	}
	if r.named {
		return 0, false
	}
	r.named = true
	if r.container {
		return argImage, true
	}
	return argPackage, true
}

// programName is the last part of a command's path, in lower case, without what
// Windows adds and without an interpreter's version.
func programName(command string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

var shellPrograms = set("sh bash zsh dash ash ksh mksh fish csh tcsh busybox cmd powershell pwsh nu")

// isScriptFlag: the options with which a shell takes a string.
func isScriptFlag(s string) bool {
	switch lower := strings.ToLower(s); lower {
	case "-c", "-lc", "-ic", "-ec", "-xc", "-euc", "/c", "/k", "-command", "-encodedcommand":
		return true
	default:
		return strings.HasPrefix(lower, "-") && !strings.HasPrefix(lower, "--") && len(lower) <= 5 && strings.HasSuffix(lower, "c")
	}
}

var (
	vcsSource  = pattern.New(`^(git|hg|svn|bzr)\+[a-z]+://|^(github|gitlab|bitbucket|gist):|^git://|\.git(#|@|$)`)
	vcsParts   = pattern.New(`^((?:git|hg|svn|bzr)\+[a-z]+|https?|git|ssh)://(?:([^/@]*)@)?([^/:@]+)(:[0-9]+)?(/[^?#]*)?([?#].*)?$`)
	digestPart = pattern.New(`@sha256:[0-9a-f]{64}$`)
	shortHand  = pattern.New(`^(github|gitlab|bitbucket):([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)(#[A-Za-z0-9._/-]+)?$`)
)

// showPackage shows a package, image, or source of one.
func showPackage(v *viewer, s string, kind argKind) (redact.Shown, bool) {
	switch {
	case plainWord(s):
		return redact.Shown(s), true
	case kind == argImage:
		digest := digestPart.FindString(s)
		shown, ok := show(redact.Image, strings.TrimSuffix(s, digest))
		return shown + redact.Shown(digest), ok
	case shortHand.MatchString(s):
		return show(redact.FilePath, strings.ReplaceAll(strings.ReplaceAll(s, ":", "/"), "#", "@"))
	case vcsParts.MatchString(s):
		return showSource(v, s)
	case v.namesPath(s):
		return show(redact.FilePath, s)
	}
	return show(redact.Package, s)
}

// showSource shows where a package is fetched from: scheme, host, path and
// revision, if each passes; never userinfo, query or fragment.
func showSource(v *viewer, s string) (redact.Shown, bool) {
	m := vcsParts.FindStringSubmatch(s)
	host, ok := show(redact.HostName, m[3])
	if !ok {
		return "", false
	}
	out := redact.Shown(m[1] + "://")
	if m[2] != "" {
		v.withhold(m[2])
		out += "<redacted>@"
	}
	out += host + redact.Shown(m[4])
	if m[5] != "" {
		if path, ok := show(redact.FilePath, m[5]); ok {
			out += path
		} else {
			v.withhold(m[5])
			out += "/<path withheld>"
		}
	}
	if m[6] != "" {
		v.withhold(m[6][1:])
		out += redact.Shown(m[6][:1]) + redact.Redacted
	}
	return out, true
}

// runnerNamed reports whether a word names a known runner.
func runnerNamed(s string) bool {
	_, known := runners[programName(s)]
	return known
}
