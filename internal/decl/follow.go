package decl

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// What a named file names is bound too, as far as a text can say it: a script
// that runs ../lib/server.js, an environment file with NODE_OPTIONS, a settings
// file that extends another. Paths that a program computes cannot be found. This
// holds for honest layouts, so that an old, reviewed script does not carry a new,
// unreviewed file; who writes the script itself is reviewed.

// maxFollowed bounds the named files of a surface whose text is searched for
// names, maxRunners the files that runners read by themselves.
const (
	maxFollowed = 64
	maxRunners  = 4096
)

// reading is how a file's text names others.
type reading int

const (
	unread   reading = iota
	asCode           // names begin with ./ or ../
	asScript         // also names with a slash or a launcher's suffix
)

// codeSuffixes are of languages in which one file imports another by path, and
// of lists of requirements.
var codeSuffixes = words(".js .mjs .cjs .jsx .ts .mts .cts .tsx .py .rb .php .pl .pm .lua .r .jl .kts .groovy .exs .ps1 .psm1 .go .rs .java " +
	".txt .in .pth")

// scriptSuffixes are of shells and of settings, in which a bare word is a path.
var scriptSuffixes = words(".sh .bash .zsh .fish .ksh .bat .cmd .json .jsonc .json5 .yaml .yml .toml .ini .cfg .conf .properties .xml " +
	".mk .env .envrc .npmrc .plist .service .rsp .args .argfile")

// scriptNames are files of such kinds that have no suffix of their own.
var scriptNames = words("makefile gnumakefile justfile .justfile dockerfile containerfile procfile rakefile .env .envrc .npmrc")

func readingOf(name string, data []byte) reading {
	lower := strings.ToLower(name)
	suffix := ""
	if dot := strings.LastIndexByte(lower, '.'); dot >= 0 {
		suffix = lower[dot:]
	}
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return unread
	case scriptNames[lower], scriptSuffixes[suffix], strings.HasPrefix(lower, ".env"):
		return asScript
	case codeSuffixes[suffix]:
		return asCode
	}
	if shebang := shebangOf(data); len(shebang) > 0 {
		if slices.ContainsFunc(shebang, func(w string) bool { return shells[program(w)] }) {
			return asScript
		}
		return asCode
	}
	return unread
}

// shebangOf is the words of a #! line.
func shebangOf(data []byte) []string {
	if !bytes.HasPrefix(data, []byte("#!")) {
		return nil
	}
	line, _, _ := bytes.Cut(data[2:min(len(data), 512)], []byte("\n"))
	return strings.Fields(string(line))
}

// interpreters are the programs that run a file by its suffix.
var interpreters = map[string]string{
	".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "tsx", ".mts": "tsx", ".cts": "tsx", ".jsx": "node", ".tsx": "tsx",
	".py": "python", ".pyz": "python", ".pyc": "python", ".rb": "ruby", ".php": "php", ".r": "rscript", ".jl": "julia", ".jar": "java",
	".class": "java", ".exs": "elixir", ".kts": "kotlin",
}

// followNamed reads the files that were named, and those that they name.
func (b *binder) followNamed() error {
	for i := 0; i < len(b.files); i++ {
		at := b.files[i]
		suffix := strings.ToLower(path.Ext(at))
		if run, known := interpreters[suffix]; known && !slices.Contains(b.extra, run) {
			b.extra = append(b.extra, run)
		}
		data, err := b.text(at, maxFollowed)
		if err != nil || data == nil {
			if err != nil {
				return err
			}
			continue
		}
		b.extra = append(b.extra, shebangOf(data)...)
		how := readingOf(path.Base(at), data)
		if how == unread {
			continue
		}
		bases := []string{baseOf(at)}
		if how == asScript {
			bases = append(bases, b.bases...)
		}
		if err := b.follow(string(data), bases, func(name string) bool { return isRelative(name) || how == asScript && looksLikePath(name) }); err != nil {
			return err
		}
	}
	return nil
}

// text reads a file whose text may name others; nil if there is none such, or
// the surface has had its share.
func (b *binder) text(at string, most int) ([]byte, error) {
	key := followKey{b.core, at, most}
	if b.l.bound.followed[key] || b.l.bound.texts[most] >= most || b.l.isDeclaration(at) {
		return nil, nil
	}
	b.l.bound.followed[key] = true
	b.l.bound.texts[most]++
	return b.plainFile(baseOf(at), path.Base(at))
}

// followKey is a file whose text was read, and by which limit.
type followKey struct {
	core, at string
	most     int
}

func isRelative(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	return strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
}

// looksLikePath: a word of a script or of settings is taken for a path if it has
// a slash or the suffix of code.
func looksLikePath(name string) bool {
	return strings.ContainsAny(name, `/\`) || launchSuffixes[strings.ToLower(path.Ext(name))]
}

// follow binds what a text names, of the words that are wanted. Code binds its
// directory, as a launched file does; other files are bound alone. The core
// itself, and what is above it, is not bound in this way: "cd .." and a project's
// own package.json would bind everything.
func (b *binder) follow(text string, bases []string, wanted func(string) bool) error {
	seen := map[string]bool{}
	for _, name := range pieces(text) {
		if seen[name] || !wanted(name) {
			continue
		}
		seen[name] = true
		for _, base := range bases {
			direct, _, err := b.search(base, name)
			if err != nil {
				return err
			}
			for _, m := range direct {
				if err := b.followed(m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *binder) followed(m match) error {
	suffix := strings.ToLower(path.Ext(m.at))
	switch {
	case m.entry.Mode == ModeTree:
		if b.isAbove(m.at) {
			return nil
		}
		b.place(m.at)
		return b.bindDir(m.at)
	case !m.entry.Mode.IsRegular():
		return nil // reported
	case !launchSuffixes[suffix] || b.isAbove(baseOf(m.at)):
		b.bindFile(KindLaunched, m.at, m.entry)
	default:
		if err := b.bindDir(baseOf(m.at)); err != nil {
			return err
		}
	}
	b.place(baseOf(m.at))
	if !slices.Contains(b.files, m.at) {
		b.files = append(b.files, m.at)
	}
	return nil
}

// isAbove reports whether a directory is the core, or holds it.
func (b *binder) isAbove(dir string) bool {
	return dir == "" || dir == b.core || strings.HasPrefix(b.core, dir+"/")
}

// followRunner binds the files that a runner's own file names by path.
func (b *binder) followRunner(at string) error {
	data, err := b.text(at, maxRunners)
	if err != nil || data == nil {
		return err
	}
	bases := []string{baseOf(at)}
	wanted := isRelative
	text := string(data)
	switch name := strings.ToLower(path.Base(at)); {
	case strings.HasPrefix(name, "package."):
		// Only dependencies that are directories: main and bin are what a package
		// offers to others, not what its runner runs.
		text = strings.Join(localDependencies(data), "\n")
		wanted = func(string) bool { return true }
	case strings.HasPrefix(name, "tsconfig"), strings.HasPrefix(name, "jsconfig"):
		text = extended(data)
	}
	return b.follow(text, bases, wanted)
}

// localDependencies are the directories that a package.json takes packages from.
func localDependencies(data []byte) []string {
	var out []string
	for _, text := range strings.Split(string(data), `"`) {
		for _, scheme := range []string{"file:", "link:", "portal:"} {
			if rest, ok := strings.CutPrefix(text, scheme); ok {
				out = append(out, strings.TrimLeft(rest, "/"))
			}
		}
	}
	return out
}

// extended is what a tsconfig.json extends: a text, or a list of texts.
func extended(data []byte) string {
	_, rest, found := strings.Cut(string(data), `"extends"`)
	if !found {
		return ""
	}
	rest = strings.TrimLeft(rest, ": \t\r\n")
	if list, ok := strings.CutPrefix(rest, "["); ok {
		list, _, _ = strings.Cut(list, "]")
		return list
	}
	parts := strings.SplitN(rest, `"`, 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

// jsonStrings reads a JSON list of strings, or the list under "packages" of an
// object.
func jsonStrings(data json.RawMessage) []string {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		return list
	}
	var object struct {
		Packages []string `json:"packages"`
	}
	_ = json.Unmarshal(data, &object)
	return object.Packages
}
