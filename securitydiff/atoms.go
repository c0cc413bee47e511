package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// ownWords are the texts of ours that stand in a redact.Shown. A withheld value
// that equals one of them, or a part of one, is no secret by standing there.
var ownWords = []string{
	"enabled", "transport", "risk", "approval_policy", "capability", "command", "args[", "cwd", "env.", "headers.",
	"url.scheme", "url.host", "url.port", "url.userinfo", "url.path", "url.query.", "url.fragment", "server_id",
	"tools.include", "tools.exclude", "connect_timeout_seconds", "timeout_seconds", "supports_parallel_tool_calls", "mode",
	"mcp_root", "capabilities.defaults.", "approval.tools.", "approval.capabilities.", "approval.risks.", "approval.default",
	"tools.metadata.", ".approval_policy", ".capability", "runtime", "slots.mcp", "capabilities", "approval",
	"mcp.connect:", "mcp.call:", "streamable_http", "critical", "prompt", "granted", "executable", "regular",
	"literal", "literal with ", "no plain reference", "(every tool)", "(none)", " segments", "userinfo", "withheld",
	string(redact.Withheld), string(redact.Redacted), "<URL withheld>", "/<path withheld>", "://<redacted>@", "=<redacted>",
	"<URL ", "<connection string ", "<absolute path ", "<JSON ", "<number ", "<value ", "<shell script ",
}

// atoms collects the texts of the repository that a report shows for their own
// sake: the names. Only they, and ownWords, may equal a withheld value.
type atoms struct {
	seen map[string]bool
	list []string
}

func (a *atoms) add(texts ...string) {
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	for _, s := range texts {
		if s != "" && !a.seen[s] {
			a.seen[s] = true
			a.list = append(a.list, s)
		}
	}
}

func (a *atoms) raws(list ...redact.Raw) {
	for _, r := range list {
		a.add(r.Reveal())
	}
}

// view adds the names of a declaration.
func (a *atoms) view(w *view) {
	a.file(w.file)
	for _, list := range [][]entryView{w.env, w.headers} {
		for _, e := range list {
			a.add(e.name)
			a.add(e.refs...)
		}
	}
	if w.d == nil {
		return
	}
	a.raws(w.d.Capability, w.d.Cwd)
	a.raws(w.d.Include...)
	a.raws(w.d.Exclude...)
	if len(w.commandLine) == 0 {
		a.raws(w.d.Command)
	}
	a.arguments(w.commandLine)
	a.arguments(w.args)
	a.add(w.url.host, strings.TrimPrefix(string(w.url.shownHost), "["), w.url.port)
	for _, q := range w.url.query {
		if !q.bare {
			a.add(q.name)
		}
	}
}

// file adds a declaration's path and, where it could not be read, its names.
func (a *atoms) file(f *decl.File) {
	a.add(f.Path, f.ServerID)
	a.outline(&f.Outline, f.Problems)
}

func (a *atoms) outline(o *decl.Outline, problems []decl.Problem) {
	a.raws(o.Keys...)
	a.raws(o.Env...)
	a.raws(o.Headers...)
	a.problems(problems)
}

func (a *atoms) problems(list []decl.Problem) {
	for _, p := range list {
		a.add(p.Path, string(p.Field))
	}
}

// arguments adds what of arguments is a name: options, the names in -e and
// --header, references, and whatever has no value that is withheld.
func (a *atoms) arguments(list []arg) {
	for _, x := range list {
		a.add(x.option, x.name)
		for _, m := range reference.FindAllStringSubmatch(x.value, -1) {
			a.add(m[1])
		}
		switch m := vcsParts.FindStringSubmatch(x.raw); {
		case m != nil:
			a.add(m[1], m[3], m[5])
		case x.value == "":
			a.add(x.raw)
			if _, attached, ok := strings.Cut(x.raw, "="); ok {
				a.add(attached)
			}
		}
	}
}

// agent adds the names of an agent.yaml.
func (a *atoms) agent(g *decl.Agent) {
	a.add(g.Path, g.MCPRoot)
	a.outline(&g.Outline, g.Problems)
	a.raws(g.Grants...)
	for _, list := range [][]decl.Rule{g.Approval.Tools, g.Approval.Capabilities, g.Approval.Risks} {
		for _, r := range list {
			a.raws(r.Name)
		}
	}
	for _, m := range g.ToolMetadata {
		a.raws(m.Name, m.Capability)
	}
}
