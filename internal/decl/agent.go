package decl

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// DefaultMCPRoot is where a core's declarations live unless its agent.yaml says
// otherwise, relative to the core.
const DefaultMCPRoot = "agent/mcp"

// maxRootSegments bounds the depth of an MCP root.
const maxRootSegments = 8

// parseAgent reads agent.yaml of the core at dir.
func parseAgent(dir, path string, data []byte) Agent {
	r := &reader{path: path}
	a := newAgent(dir)
	a.Path, a.Present = path, true
	body, _ := cutBOM(data)
	root := r.document(body)
	if root == nil && len(r.problems) == 1 && r.problems[0].Code == EmptyFile {
		r.problems = nil // an empty agent.yaml only marks its directory as a core
	}
	if root != nil {
		r.agent(root, &a)
		a.form = formOf(root)
		r.sketch(root)
	}
	sortProblems(r.problems)
	a.Problems, a.Outline, a.State = r.problems, r.outline, stateOf(r.problems)
	return a
}

func newAgent(dir string) Agent {
	return Agent{Path: join(dir, "agent.yaml"), State: StateValid, MCPRoot: join(dir, DefaultMCPRoot), dir: dir}
}

// agent reads the nodes that matter. The top of the file is held to the rules
// of YAML structure only as far as those nodes are concerned.
func (r *reader) agent(root *yaml.Node, a *Agent) {
	r.construct(root, "")
	if root.Kind != yaml.MappingNode {
		r.wrongType(root, "", "a map of settings")
		return
	}
	r.topLevel(root, "")
	var slot, surfaceRoot *yaml.Node
	for _, e := range r.entries(root, "") {
		switch e.key.Value {
		case "runtime":
			r.structure(e.value, e.field, 1)
			surfaceRoot = lookup(e.value, "surface_root")
			if e.value.Kind != yaml.MappingNode {
				r.wrongType(e.value, e.field, "a map of settings")
			}
		case "slots":
			slot = r.one(e, "mcp")
		case "capabilities":
			r.structure(e.value, e.field, 1)
			r.capabilities(e, a)
		case "approval":
			r.structure(e.value, e.field, 1)
			r.approval(e, a)
		case "tools":
			if metadata := r.one(e, "metadata"); metadata != nil {
				r.metadata(metadata, e.field+".metadata", a)
			}
		}
	}
	r.mcpRoot(slot, surfaceRoot, a)
}

// topLevel reports what could give a read node twice or from elsewhere.
func (r *reader) topLevel(n *yaml.Node, field redact.Shown) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		name := child(field, key)
		r.construct(key, name)
		switch {
		case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
			r.problem(key.Line, name, MergeKey, "a merge key (<<) is not allowed here; write the keys out")
		case key.Kind != yaml.ScalarNode:
			r.problem(key.Line, field, KeyNotString, "a key is not a plain string; write a name")
		case seen[key.Value]:
			r.problem(key.Line, name, DuplicateKey, "this key is given twice; keep one")
		}
		seen[key.Value] = true
	}
}

// one returns the only child of a node that is read, nil if there is none.
func (r *reader) one(e entry, name string) *yaml.Node {
	r.construct(e.value, e.field)
	if e.value.Kind != yaml.MappingNode {
		r.wrongType(e.value, e.field, "a map of settings")
		return nil
	}
	r.topLevel(e.value, e.field)
	n := lookup(e.value, name)
	if n != nil {
		r.structure(n, e.field+"."+redact.Shown(name), 2)
	}
	return n
}

// lookup finds the first value of a key.
func lookup(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Kind == yaml.ScalarNode && key.Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// rootSegments is a path of plain segments. "." and ".." are refused beside it.
var rootSegments = pattern.New(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

// mcpRoot decides where the declarations live: slots.mcp, else
// <runtime.surface_root>/mcp, else agent/mcp.
func (r *reader) mcpRoot(slot, surfaceRoot *yaml.Node, a *Agent) {
	n, field, suffix := slot, redact.Shown("slots.mcp"), ""
	if n == nil {
		n, field, suffix = surfaceRoot, "runtime.surface_root", "/mcp"
	}
	if n == nil {
		return
	}
	v, ok := r.str(n, field)
	if !ok {
		a.MCPRoot = ""
		return
	}
	path := v.Reveal()
	segments := strings.Split(path, "/")
	if !rootSegments.MatchString(path) || len(segments) > maxRootSegments ||
		slices.ContainsFunc(segments, oddSegment) {
		r.problem(n.Line, field, RootInvalid,
			"this must be a path inside the core made of letters, digits, dots, dashes and underscores, such as agent/mcp")
		a.MCPRoot = ""
		return
	}
	a.MCPRoot = join(a.dir, path+suffix)
}

// oddSegment: ".", ".." and what Windows takes for them, and the directory that
// no tree can hold but a checkout has.
func oddSegment(s string) bool {
	return strings.Trim(s, ".") == "" || strings.HasSuffix(s, ".") || strings.EqualFold(s, ".git")
}

// capabilities reads the grants: a map from name to {scope: core}.
func (r *reader) capabilities(e entry, a *Agent) {
	for _, c := range r.entries(e.value, e.field) {
		if c.key.Value != "defaults" {
			continue
		}
		for _, g := range r.entries(c.value, c.field) {
			a.Grants = append(a.Grants, redact.NewRaw(g.key.Value))
			r.grant(g)
		}
	}
	slices.SortFunc(a.Grants, redact.Raw.Compare)
}

func (r *reader) grant(g entry) {
	scoped := false
	for _, s := range r.entries(g.value, g.field) {
		if s.key.Value != "scope" {
			r.unknown(s, []string{"scope"})
			continue
		}
		scoped = true
		var scope string
		enum(r, s.value, s.field, &scope, "core")
	}
	if !scoped && g.value.Kind == yaml.MappingNode {
		r.problem(g.key.Line, g.field, ValueMissing, "a grant needs a scope; write {scope: core}")
	}
}

// approval reads the core's approval rules.
func (r *reader) approval(e entry, a *Agent) {
	known := []string{"tools", "capabilities", "risks", "default"}
	for _, s := range r.entries(e.value, e.field) {
		switch s.key.Value {
		case "tools":
			a.Approval.Tools = r.policies(s)
		case "capabilities":
			a.Approval.Capabilities = r.policies(s)
		case "risks":
			a.Approval.Risks = r.policies(s, "low", "medium", "high", "critical")
		case "default":
			enum(r, s.value, s.field, &a.Approval.Default, ApprovalAuto, ApprovalPrompt, ApprovalDeny)
		default:
			r.unknown(s, known)
		}
	}
}

// policies reads a map from name to approval policy, sorted by name. names are
// those that are allowed, if not all are.
func (r *reader) policies(e entry, names ...string) []Rule {
	var out []Rule
	for _, p := range r.entries(e.value, e.field) {
		rule := Rule{Name: redact.NewRaw(p.key.Value)}
		enum(r, p.value, p.field, &rule.Policy, ApprovalAuto, ApprovalPrompt, ApprovalDeny)
		if len(names) > 0 && !slices.Contains(names, p.key.Value) {
			r.problem(p.key.Line, p.field, ValueInvalid, "this must be one of: "+strings.Join(names, ", "))
		}
		out = append(out, rule)
	}
	slices.SortFunc(out, func(a, b Rule) int { return a.Name.Compare(b.Name) })
	return out
}

// metadata reads tools.metadata, which changes declared values tool by tool.
func (r *reader) metadata(n *yaml.Node, field redact.Shown, a *Agent) {
	for _, e := range r.entries(n, field) {
		m := ToolMetadata{Name: redact.NewRaw(e.key.Value)}
		for _, s := range r.entries(e.value, e.field) {
			switch s.key.Value {
			case "risk":
				enum(r, s.value, s.field, &m.Risk, RiskLow, RiskMedium, RiskHigh, RiskCritical)
			case "approval_policy":
				enum(r, s.value, s.field, &m.ApprovalPolicy, ApprovalAuto, ApprovalPrompt, ApprovalDeny)
			case "capability":
				r.text(s.value, s.field, &m.Capability)
			default:
				r.unknown(s, []string{"risk", "approval_policy", "capability"})
			}
		}
		a.ToolMetadata = append(a.ToolMetadata, m)
	}
	slices.SortFunc(a.ToolMetadata, func(x, y ToolMetadata) int { return x.Name.Compare(y.Name) })
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
