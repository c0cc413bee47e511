package runtime

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// Preview is what an approver sees of a server or a call. It holds no secret:
// what may not be shown stands there as a keyed fingerprint and a length class,
// every positional argument too. All texts are printable ASCII.
type Preview struct {
	Transport string
	// Of a child process:
	Command  string
	Args     []string
	Cwd      string
	EnvNames []string
	// Of a server over HTTP:
	URL         *URLPolicy
	HeaderNames []string
	// References are the host's environment variables that are read.
	References []string
	Include    []string // tool filters
	Exclude    []string
	// Of a call: its arguments by name, each as a fingerprint and a class.
	Arguments []string
}

// String lays the preview out on one line.
func (p Preview) String() string {
	var b strings.Builder
	part := func(label string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			fmt.Fprintf(&b, "%s %s; ", label, strings.Join(values, " "))
		}
	}
	part("run", append([]string{p.Command}, p.Args...)...)
	part("in", p.Cwd)
	part("environment", p.EnvNames...)
	if p.URL != nil {
		part("connect to", append([]string{p.URL.Target}, p.URL.ResolvedAddresses...)...)
	}
	part("headers", p.HeaderNames...)
	part("reading", p.References...)
	part("only tools", p.Include...)
	part("without tools", p.Exclude...)
	part("arguments", p.Arguments...)
	return strings.TrimSuffix(b.String(), "; ")
}

// previewer makes previews under the host's fingerprint key.
type previewer struct{ prints redact.Fingerprinter }

// server previews connecting. url is nil for a child process.
func (p previewer) server(d *decl.Declaration, url *URLPolicy) Preview {
	out := Preview{
		Transport: string(d.Transport), URL: url, References: references(d),
		Include: p.shown(redact.Filter, d.Include), Exclude: p.shown(redact.Filter, d.Exclude),
	}
	if d.Transport == decl.StreamableHTTP {
		out.HeaderNames = p.pairs(redact.HeaderName, d.Headers)
		return out
	}
	out.Command = p.one(redact.Command, d.Command)
	out.EnvNames = p.pairs(redact.EnvName, d.Env)
	if d.Cwd.Reveal() != "" {
		out.Cwd = p.one(redact.Directory, d.Cwd)
	}
	for i, arg := range d.Args {
		out.Args = append(out.Args, p.argument(d, i, arg))
	}
	return out
}

// option is a word that can be nothing but an option's name.
var option = regexp.MustCompile(`^(-[A-Za-z]|--[A-Za-z]+(-[A-Za-z]+)*)$`)

// argument shows an option's name, and a fingerprint of everything else.
func (p previewer) argument(d *decl.Declaration, i int, arg redact.Raw) string {
	name, value, hasValue := strings.Cut(arg.Reveal(), "=")
	if option.MatchString(name) {
		shown, verdict := redact.Show(redact.OptionName, redact.NewRaw(name))
		if verdict == redact.Passed && !hasValue {
			return string(shown)
		}
		if verdict == redact.Passed {
			return string(shown) + "=" + string(p.prints.Value(d.Path, "args", i, redact.NewRaw(value)))
		}
	}
	return string(p.prints.Value(d.Path, "args", i, arg))
}

func (p previewer) one(at redact.Position, r redact.Raw) string {
	shown, _ := redact.Show(at, r)
	return string(shown)
}

func (p previewer) shown(at redact.Position, list []redact.Raw) []string {
	var out []string
	for _, r := range list {
		out = append(out, p.one(at, r))
	}
	return out
}

func (p previewer) pairs(at redact.Position, list []decl.Pair) []string {
	var out []string
	for _, pair := range list {
		out = append(out, p.one(at, pair.Name))
	}
	return out
}

// maxPreviewArguments bounds the arguments of a call that are listed.
const maxPreviewArguments = 50

// call previews the arguments of a call, which are a JSON object.
func (p previewer) call(d *decl.Declaration, args json.RawMessage) Preview {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(args, &fields)
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	out := Preview{Transport: string(d.Transport)}
	for i, name := range names {
		if i == maxPreviewArguments {
			out.Arguments = append(out.Arguments, "<"+strconv.Itoa(len(names)-i)+" more>")
			break
		}
		value := p.prints.Value(d.Path, "arguments."+name, 0, redact.NewRaw(string(fields[name])))
		out.Arguments = append(out.Arguments, string(redact.Name(redact.NewRaw(name)))+"="+string(value))
	}
	return out
}
