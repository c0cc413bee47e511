package decl

import (
	"crypto/sha256"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// fields are the fields of a declaration and how each is read.
var fields = map[string]func(*reader, *yaml.Node, redact.Shown, *Declaration){
	"enabled": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { r.boolean(n, f, &d.Enabled) },
	"transport": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) {
		enum(r, n, f, &d.Transport, Stdio, StreamableHTTP)
	},
	"command": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { r.text(n, f, &d.Command) },
	"args":    func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { d.Args = r.strs(n, f) },
	"env":     func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { d.Env = r.pairs(n, f) },
	"cwd":     func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { r.text(n, f, &d.Cwd) },
	"url":     func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { r.text(n, f, &d.URL) },
	"headers": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { d.Headers = r.pairs(n, f) },
	"tools":   (*reader).filters,
	"risk": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) {
		enum(r, n, f, &d.Risk, RiskLow, RiskMedium, RiskHigh, RiskCritical)
	},
	"approval_policy": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) {
		enum(r, n, f, &d.ApprovalPolicy, ApprovalAuto, ApprovalPrompt, ApprovalDeny)
	},
	"capability": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { r.text(n, f, &d.Capability) },
	"connect_timeout_seconds": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) {
		r.seconds(n, f, &d.ConnectTimeout)
	},
	"timeout_seconds": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) { r.seconds(n, f, &d.Timeout) },
	"supports_parallel_tool_calls": func(r *reader, n *yaml.Node, f redact.Shown, d *Declaration) {
		r.boolean(n, f, &d.Parallel)
	},
}

// FieldNames are the fields a declaration may have, in the order in which they
// are shown.
func FieldNames() []string {
	return []string{
		"enabled", "transport", "command", "args", "env", "cwd", "url", "headers", "tools", "risk", "approval_policy",
		"capability", "connect_timeout_seconds", "timeout_seconds", "supports_parallel_tool_calls",
	}
}

// maxServerID is the longest id of a server, in bytes.
const maxServerID = 64

// ValidServerID reports whether s may be a server's id: a letter or digit, then
// letters, digits, dots, dashes and underscores, 64 bytes at most. "__" is refused
// beside it: it separates server and tool in a tool's exposed name.
func ValidServerID(s string) bool {
	if s == "" || len(s) > maxServerID || strings.Contains(s, "__") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return true
}

// Parse reads one declaration file. It never fails: what is wrong with the
// bytes is in the File's Problems and State.
func Parse(path string, mode Mode, data []byte) File {
	r := &reader{path: path}
	f := File{Path: path, Mode: mode, SHA256: sha256.Sum256(data)}
	id := serverIDOf(path)
	if ValidServerID(id) {
		f.ServerID = id
	} else {
		r.problem(0, "", ServerIDInvalid,
			"the file's name is no server id; use letters, digits, dots, dashes and underscores, without two underscores in a row")
	}
	data, f.HasBOM = cutBOM(data)
	if root := r.document(data); root != nil {
		r.structure(root, "", 0)
		f.Decl = r.declaration(root, f)
		r.sketch(root)
	}
	sortProblems(r.problems)
	f.Problems, f.Outline, f.State = r.problems, r.outline, stateOf(r.problems)
	if f.State != StateValid {
		f.Decl = nil
	}
	return f
}

func cutBOM(data []byte) ([]byte, bool) {
	rest, found := strings.CutPrefix(string(data), byteOrderMark)
	return []byte(rest), found
}

// serverIDOf is a declaration's file name without its suffix.
func serverIDOf(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name[:max(strings.LastIndexByte(name, '.'), 0)]
}

// declaration reads the fields under root, defaults applied.
func (r *reader) declaration(root *yaml.Node, f File) *Declaration {
	d := &Declaration{
		ServerID: f.ServerID, Path: f.Path,
		Enabled: true, Transport: Stdio, Risk: RiskMedium, ApprovalPolicy: ApprovalPrompt,
		Capability:     redact.NewRaw("mcp.call:" + f.ServerID),
		ConnectTimeout: DefaultConnectTimeout, Timeout: DefaultTimeout,
	}
	for _, e := range r.entries(root, "") {
		read, known := fields[e.key.Value]
		if !known {
			r.unknown(e, FieldNames())
			continue
		}
		read(r, e.value, e.field, d)
	}
	if root.Kind == yaml.MappingNode {
		r.rules(root, d)
	}
	return d
}

// unknown reports a key that is no field, with the field it was meant for if
// that is plain.
func (r *reader) unknown(e entry, known []string) {
	message := "this key is not known; remove it"
	if near := Nearest(e.key.Value, known); near != "" {
		message = "this key is not known; did you mean " + near + "?"
	}
	r.problem(e.key.Line, e.field, UnknownKey, message)
}

func (r *reader) filters(n *yaml.Node, field redact.Shown, d *Declaration) {
	for _, e := range r.entries(n, field) {
		switch e.key.Value {
		case "include":
			d.Include = r.strs(e.value, e.field)
		case "exclude":
			d.Exclude = r.strs(e.value, e.field)
		default:
			r.unknown(e, []string{"include", "exclude"})
		}
	}
}

// rules checks what no single field can: what a transport needs, and values
// that no process or request can carry.
func (r *reader) rules(root *yaml.Node, d *Declaration) {
	lines := map[string]int{}
	for _, e := range r.entries(root, "") {
		lines[e.key.Value] = e.key.Line
	}
	switch d.Transport {
	case Stdio:
		r.required(lines, "command", d.Command, "a stdio server needs a command; write the program to run")
	case StreamableHTTP:
		r.required(lines, "url", d.URL, "an HTTP server needs a url; write where it is")
	}
	if d.URL.Set() && d.URL.Len() > 0 && !webURL.MatchString(d.URL.Reveal()) {
		r.problem(lines["url"], "url", ValueInvalid, "a url must begin with http:// or https:// and have no spaces in front")
	}
	if d.Capability.Len() == 0 {
		r.problem(lines["capability"], "capability", ValueInvalid, "a capability must not be empty; remove the line for the default")
	}
	r.processText(lines, d)
	for _, h := range d.Headers {
		field := "headers." + shownName(h.Name.Reveal())
		if !headerName.MatchString(h.Name.Reveal()) {
			r.problem(lines["headers"], field, ValueInvalid, "this is no header name; use letters, digits and dashes")
		}
		if strings.ContainsAny(h.Value.Reveal(), "\r\n\x00") {
			r.problem(lines["headers"], field, ValueInvalid, "a header value must be one line")
		}
	}
}

var (
	webURL = pattern.New(`^[Hh][Tt][Tt][Pp][Ss]?://`)
	// envName is a portable name of an environment variable (POSIX, section 8.1).
	envName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// headerName is a field name (RFC 9110 section 5.1).
	headerName = pattern.New("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")
)

func (r *reader) required(lines map[string]int, field redact.Shown, value redact.Raw, message string) {
	line, given := lines[string(field)]
	switch {
	case !given:
		r.problem(0, field, ValueMissing, message)
	case value.Set() && value.Len() == 0:
		r.problem(line, field, ValueInvalid, message)
	}
}

// processText refuses what execve cannot carry: a NUL byte anywhere, an empty
// environment name or one with "=".
func (r *reader) processText(lines map[string]int, d *Declaration) {
	const nul = "a NUL character cannot be passed to a program; remove it"
	one := func(field redact.Shown, key string, v redact.Raw) {
		if strings.Contains(v.Reveal(), "\x00") {
			r.problem(lines[key], field, ValueInvalid, nul)
		}
	}
	one("command", "command", d.Command)
	one("cwd", "cwd", d.Cwd)
	for i, a := range d.Args {
		one(at("args", i), "args", a)
	}
	for _, p := range d.Env {
		field := "env." + shownName(p.Name.Reveal())
		one(field, "env", p.Value)
		if p.Name.Len() == 0 || strings.ContainsAny(p.Name.Reveal(), "=\x00") {
			r.problem(lines["env"], field, ValueInvalid, "this is no name of an environment variable")
		}
	}
}

// sketch notes the names of a file, so that a refusal can still say them.
func (r *reader) sketch(root *yaml.Node) {
	r.outline.Keys = keyNames(root)
	if root.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch root.Content[i].Value {
		case "env":
			r.outline.Env = append(r.outline.Env, keyNames(root.Content[i+1])...)
		case "headers":
			r.outline.Headers = append(r.outline.Headers, keyNames(root.Content[i+1])...)
		}
	}
}

func keyNames(n *yaml.Node) []redact.Raw {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var out []redact.Raw
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Kind == yaml.ScalarNode && key.Tag != "!!merge" {
			out = append(out, redact.NewRaw(key.Value))
		}
	}
	return out
}
