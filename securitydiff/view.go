package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// view is one side of a declaration, taken apart: what may be shown of it, and
// what the judges compare.
type view struct {
	file *decl.File
	d    *decl.Declaration // nil if the file is no valid declaration
	sum  *Summary
	// program is the base name of the command; line is the command with its
	// arguments when the command field holds a whole line.
	command     redact.Shown
	program     string
	commandLine []arg // words of a command that holds several
	args        []arg
	url         urlView
	env         []entryView
	headers     []entryView
	withheld    []redact.Raw // for the last guard
}

// entryView is one environment variable or header.
type entryView struct {
	name  string
	shown redact.Shown
	value string
	kind  valueKind
	refs  []string // names in ${NAME}
}

// valueKind is what may be said of an env or header value.
type valueKind string

const (
	valueEmpty     valueKind = "empty"
	valueLiteral   valueKind = "literal"
	valueReference valueKind = "reference"
	// valueOdd holds a reference of a form that is not resolved.
	valueOdd valueKind = "unresolvable"
)

// side is one surface of a report, and what views of its declarations share. It
// is safe for use by several goroutines.
type side struct {
	surface     *decl.Surface
	fingerprint redact.Fingerprinter
	known       map[string]bool
}

// viewer makes the view of one declaration, and remembers what it withholds.
type viewer struct {
	side
	path     string
	d        *decl.Declaration
	withheld []redact.Raw
}

// withhold notes a value that is not shown, for the last guard.
func (v *viewer) withhold(value string) {
	if value != "" && !v.known[value] && !plainWord(value) {
		v.withheld = append(v.withheld, redact.NewRaw(value))
	}
}

func (v *viewer) namesPath(s string) bool {
	return v.d != nil && v.surface.NamesPath(v.d, redact.NewRaw(s))
}

// nestedShell reports whether a shell was named among the arguments so far.
func (v *viewer) nestedShell(args []arg) bool {
	for _, a := range args {
		if shellPrograms[programName(a.raw)] {
			return true
		}
	}
	return false
}

// of makes the view of a file, nil of none.
func (s side) of(f *decl.File) *view {
	if f == nil {
		return nil
	}
	v := &viewer{side: s, path: f.Path, d: f.Decl}
	out := v.look(f)
	out.withheld = v.withheld
	return out
}

func (v *viewer) look(f *decl.File) *view {
	if f.Decl == nil {
		return v.unread(f)
	}
	d := f.Decl
	out := &view{file: f, d: d, program: programName(d.Command.Reveal())}
	v.readCommand(out, d.Command.Reveal())
	out.args = v.readArgs(d.Command.Reveal(), reveal(d.Args))
	out.env = v.entries(d.Env, redact.EnvName)
	out.headers = v.entries(d.Headers, redact.HeaderName)
	if d.URL.Len() > 0 {
		out.url = v.readURL(d.URL.Reveal())
	}
	out.sum = v.summary(out)
	return out
}

func reveal(list []redact.Raw) []string {
	out := make([]string, 0, len(list))
	for _, r := range list {
		out = append(out, r.Reveal())
	}
	return out
}

// unread is the view of a file that is no valid declaration: its names only.
func (v *viewer) unread(f *decl.File) *view {
	out := &view{file: f}
	v.withheld = append(v.withheld, f.Outline.Values...)
	for _, n := range f.Outline.Env {
		out.env = append(out.env, entryView{name: n.Reveal(), shown: nameAt(redact.EnvName, n.Reveal())})
	}
	for _, n := range f.Outline.Headers {
		out.headers = append(out.headers, entryView{name: n.Reveal(), shown: nameAt(redact.HeaderName, n.Reveal())})
	}
	out.sum = &Summary{ServerID: showServer(f.ServerID), Path: showPath(f.Path), Tools: noTools()}
	out.sum.EnvNames, out.sum.HeaderNames = names(out.env), names(out.headers)
	return out
}

func nameAt(p redact.Position, s string) redact.Shown {
	shown, _ := show(p, s)
	return shown
}

// showPath is what may be shown of a path in the repository, name by name.
func showPath(p string) redact.Shown {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = string(nameAt(redact.FilePath, part))
	}
	return redact.Shown(strings.Join(parts, "/"))
}

// showServer is what may be shown of a server's id, which is a file's name.
func showServer(id string) redact.Shown {
	if id == "" {
		return ""
	}
	return nameAt(redact.Key, id)
}

func noTools() Tools { return Tools{Include: []redact.Shown{}, Exclude: []redact.Shown{}} }

var assignment = pattern.New(`^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// readCommand shows the command. One that holds several words is a whole command
// line, and is shown word by word.
func (v *viewer) readCommand(out *view, command string) {
	if command == "" {
		return
	}
	words := strings.Fields(command)
	if len(words) < 2 {
		shown, ok := show(redact.Command, command)
		if !ok {
			v.withhold(command)
			shown = redact.Withheld
		}
		out.command = shown
		return
	}
	var parts []string
	for len(words) > 0 {
		m := assignment.FindStringSubmatch(words[0])
		if m == nil {
			break
		}
		a := arg{raw: words[0], kind: argEnvPair, name: m[1], value: m[2], shown: nameAt(redact.EnvName, m[1]) + "=" + redact.Redacted}
		v.withhold(m[2])
		out.commandLine = append(out.commandLine, a)
		words = words[1:]
	}
	if len(words) > 0 {
		shown, ok := show(redact.Command, words[0])
		if !ok {
			v.withhold(words[0])
		}
		out.commandLine = append(out.commandLine, arg{raw: words[0], kind: argWord, shown: shown})
		out.program = programName(words[0])
		r := &argReader{v: v, program: out.program, field: "command", runner: newRunner(out.program)}
		for i, w := range words[1:] {
			r.out = append(r.out, r.one(i, w))
		}
		out.commandLine = append(out.commandLine, r.out...)
	}
	for _, a := range out.commandLine {
		parts = append(parts, string(a.shown))
	}
	out.command = redact.Shown(strings.Join(parts, " "))
}

var (
	reference = pattern.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	oddRef    = pattern.New(`\$\{[^}]*\}|^(op|vault|keychain|aws-sm|gcp-sm|azure-kv|infisical|doppler)://|\$\(|^\$[A-Za-z_]|%[A-Za-z_][A-Za-z0-9_]*%`)
)

// entries reads env or headers. Values are never shown.
func (v *viewer) entries(pairs []decl.Pair, p redact.Position) []entryView {
	var out []entryView
	for _, pair := range pairs {
		e := entryView{name: pair.Name.Reveal(), value: pair.Value.Reveal()}
		shown, ok := show(p, e.name)
		if !ok {
			v.withhold(e.name)
		}
		e.shown = shown
		e.kind, e.refs = kindOf(e.value)
		rest := strings.TrimSpace(reference.ReplaceAllString(e.value, ""))
		if e.kind != valueReference {
			v.withhold(e.value)
		}
		v.withhold(rest)
		v.withhold(withoutScheme(rest))
		out = append(out, e)
	}
	return out
}

// authSchemes are the words in front of a credential in a header.
var authSchemes = set("bearer basic token apikey digest negotiate bot")

// withoutScheme is a header's value without the word in front of the credential.
func withoutScheme(value string) string {
	if scheme, rest, ok := strings.Cut(value, " "); ok && authSchemes[strings.ToLower(scheme)] {
		return strings.TrimSpace(rest)
	}
	return value
}

// announces is a word of a header's or cookie's own syntax: session=, key:
var announces = pattern.New(`^[A-Za-z][A-Za-z-]*[=:] ?$`)

// kindOf says what a value is. A reference may stand behind one word that names
// a scheme ("Bearer ${TOKEN}") or announces it ("session=${ID}").
func kindOf(value string) (valueKind, []string) {
	var refs []string
	for _, m := range reference.FindAllStringSubmatch(value, -1) {
		refs = append(refs, m[1])
	}
	rest := reference.ReplaceAllString(value, "")
	switch {
	case value == "":
		return valueEmpty, nil
	case oddRef.MatchString(rest):
		return valueOdd, refs
	case len(refs) == 0:
		return valueLiteral, nil
	case strings.TrimSpace(rest) != "" && !authSchemes[strings.ToLower(strings.TrimSpace(rest))] && !announces.MatchString(rest):
		return valueLiteral, refs
	}
	return valueReference, refs
}

// shownRefs writes references as ${A}, ${B}.
func (e entryView) shownRefs() redact.Shown {
	parts := make([]string, 0, len(e.refs))
	for _, r := range e.refs {
		parts = append(parts, "${"+string(nameAt(redact.EnvName, r))+"}")
	}
	return redact.Shown(strings.Join(parts, ", "))
}

// said is what may be said of the value.
func (e entryView) said() redact.Shown {
	switch e.kind {
	case valueReference:
		return e.shownRefs()
	case valueLiteral:
		if len(e.refs) > 0 {
			return "literal with " + e.shownRefs()
		}
		return "literal"
	case valueOdd:
		return "no plain reference"
	case valueEmpty:
		return "empty"
	}
	return "withheld"
}

func names(list []entryView) []redact.Shown {
	out := make([]redact.Shown, 0, len(list))
	for _, e := range list {
		out = append(out, e.shown)
	}
	return out
}

// summary is the effective values of a valid declaration.
func (v *viewer) summary(w *view) *Summary {
	d := w.d
	s := &Summary{
		ServerID: showServer(d.ServerID), Path: showPath(d.Path),
		Enabled: d.Enabled, Transport: string(d.Transport), Risk: string(d.Risk), ApprovalPolicy: string(d.ApprovalPolicy),
		EffectiveConnectApprovalPolicy: string(d.ConnectApproval()),
		ConnectCapability:              "mcp.connect:" + showServer(d.ServerID),
		CallCapability:                 nameAt(redact.Capability, d.Capability.Reveal()),
		Command:                        w.command,
		EnvNames:                       names(w.env), HeaderNames: names(w.headers),
		Tools:                 Tools{Include: v.filters(d.Include), Exclude: v.filters(d.Exclude)},
		ConnectTimeoutSeconds: d.ConnectTimeout, TimeoutSeconds: d.Timeout, SupportsParallelToolCalls: d.Parallel,
	}
	for _, a := range w.args {
		s.Args = append(s.Args, a.shown)
	}
	s.Cwd = v.showCwd(d.Cwd.Reveal())
	if d.URL.Len() > 0 {
		s.URL = w.url.shown()
	}
	return s
}

func (v *viewer) showCwd(cwd string) redact.Shown {
	if cwd == "" {
		return ""
	}
	shown, ok := show(redact.Directory, cwd)
	if !ok {
		v.withhold(cwd)
	}
	return shown
}

func (v *viewer) filters(list []redact.Raw) []redact.Shown {
	out := []redact.Shown{}
	for _, f := range list {
		shown, ok := show(redact.Filter, f.Reveal())
		if !ok {
			v.withhold(f.Reveal())
		}
		out = append(out, shown)
	}
	return out
}
