package decl_test

import (
	"slices"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

func TestMCPRootMustBePlain(t *testing.T) {
	for root, want := range map[string]string{
		"servers": "", "a/b-c_d/e.f": "", "..": "mcp_root_invalid", "../x": "mcp_root_invalid", "a/../b": "mcp_root_invalid", "/abs": "mcp_root_invalid",
		"a//b": "mcp_root_invalid", "a/": "mcp_root_invalid", "./a": "mcp_root_invalid", `a\b`: "mcp_root_invalid", "a b": "mcp_root_invalid",
		"a.": "mcp_root_invalid", "~": "ambiguous_scalar", "[x]": "wrong_type", "é": "mcp_root_invalid", "a/b/c/d/e/f/g/h/i": "mcp_root_invalid",
	} {
		for _, text := range []string{"slots:\n  mcp: " + root + "\n", "runtime:\n  surface_root: " + root + "\n"} {
			s := load(t, decltest.Files(map[string]string{"agent.yaml": text}))
			got := ""
			if p := s.AllProblems(); len(p) > 0 {
				got = string(p[0].Code)
			}
			if got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
	s := load(t, decltest.Files(map[string]string{"agent.yaml": "slots: {mcp: a}\nruntime: {surface_root: b}\n"}))
	if got := s.Cores[0].Agent.MCPRoot; got != "a" {
		t.Errorf("slots.mcp does not win: %s", got)
	}
	s = load(t, decltest.Files(map[string]string{"agent.yaml": "runtime: {surface_root: b}\n"}))
	if got := s.Cores[0].Agent.MCPRoot; got != "b/mcp" {
		t.Errorf("surface root gives %s", got)
	}
}

func TestAgentIsReadStrictlyWhereItMatters(t *testing.T) {
	for text, want := range map[string]string{
		"name: &a x\nother: *a\n":                                   "", // not ours
		"x: &a {slots: {mcp: y}}\n<<: *a\n":                         "merge_key",
		"slots: &a {mcp: y}\n":                                      "yaml_alias",
		"slots: {mcp: w}\nslots: {mcp: z}\n":                        "duplicate_key",
		"slots: {mcp: w, mcp: z}\n":                                 "duplicate_key",
		"capabilities: {defaults: {a: {scope: all}}}\n":             "value_invalid",
		"capabilities: {defaults: {a: {}}}\n":                       "value_missing",
		"capabilities: {defaults: [a]}\n":                           "wrong_type",
		"approval: {defaults: auto}\n":                              "unknown_key",
		"approval: {default: yes}\n":                                "ambiguous_scalar",
		"approval: {risks: {huge: auto}}\n":                         "value_invalid",
		"approval: {tools: {a: prompt}, risks: {low: auto}}\n":      "",
		"tools: {metadata: {a: {risk: low, approval_policy: x}}}\n": "value_invalid",
		"tools: {other: [], metadata: {a: {capability: b}}}\n":      "",
		"- a\n": "wrong_type",
		"":      "",
	} {
		s := load(t, decltest.Files(map[string]string{"agent.yaml": text}))
		got := ""
		if p := s.AllProblems(); len(p) > 0 {
			got = string(p[0].Code)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAWrongMapIsToldOnce(t *testing.T) {
	for _, text := range []string{"approval: {risks: 5}\n", "approval: {tools: 5}\n", "approval: 5\n"} {
		s := load(t, decltest.Files(map[string]string{"agent.yaml": text}))
		if got := codes(s); !slices.Equal(got, []string{"agent.yaml wrong_type"}) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestGrantsAndRulesAreRead(t *testing.T) {
	s := load(t, decltest.Files(map[string]string{"agent.yaml": `capabilities: {defaults: {"mcp.connect:*": {scope: core}, a: {scope: core}}}
approval: {tools: {x: deny}, capabilities: {w: auto}, risks: {high: deny}, default: prompt}
tools: {metadata: {x: {risk: low, approval_policy: auto, capability: z}}}
`}))
	a := s.Cores[0].Agent
	if len(a.Problems) > 0 || a.Grants[0].Reveal() != "a" || a.Grants[1].Reveal() != "mcp.connect:*" || a.Approval.Tools[0].Policy != decl.ApprovalDeny ||
		a.Approval.Capabilities[0].Policy != decl.ApprovalAuto || a.Approval.Risks[0].Policy != decl.ApprovalDeny ||
		a.Approval.Default != decl.ApprovalPrompt || a.ToolMetadata[0].Risk != decl.RiskLow || a.ToolMetadata[0].Capability.Reveal() != "z" {
		t.Errorf("%+v", a)
	}
}
