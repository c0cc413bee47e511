package decl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

func TestCores(t *testing.T) {
	tree := decltest.Files(map[string]string{
		"agent/mcp/a.yaml": valid, "one/agent.yaml": "", "two/agent/mcp/x.yaml": valid, "three/x": "", "deep/four/agent/mcp/y.yaml": valid,
		"deep/five/agent.yaml": "slots: {mcp: servers}\n", "deep/five/servers/z.yaml": valid,
	})
	dirs := func(patterns ...string) string {
		var out []string
		for _, c := range load(t, tree, patterns...).Cores {
			out = append(out, fmt.Sprintf("%q:%d", c.Dir, len(c.Files)))
		}
		return strings.Join(out, " ")
	}
	if got, want := dirs(), `"":1 "one":0 "two":1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := dirs("deep/f*"), `"":1 "deep/five":1 "deep/four":1 "one":0 "two":1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestUnknownCores(t *testing.T) {
	before := decltest.Files(map[string]string{"a/b/agent.yaml": "x", "a/c/agent/mcp/old.yaml": valid, "x": "1"})
	for _, tt := range []struct {
		name string
		path string
		want string
	}{
		{"an agent two levels deep", "a/d/agent.yaml", "a/d"},
		{"declarations three levels deep", "a/d/e/agent/mcp/x.yml", "a/d/e"},
		{"in other letter case", "a/d/Agent/MCP/x.YAML", "a/d"},
		{"a changed one", "a/b/agent.yaml", "a/b"},
		{"a top-level core", "z/agent.yaml", ""},
		{"no declaration", "a/d/agent/mcp/readme.md", ""},
		{"another directory", "a/d/agents/mcp/x.yaml", ""},
	} {
		after := before.Clone()
		after.Put(tt.path, decl.ModeRegular, "changed")
		got, err := decl.UnknownCores(t.Context(), before, after, decl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case tt.want == "" && len(got) == 0:
		case len(got) != 1 || tt.want == "" || !strings.Contains(got[0].Mend, "evolve.core '"+tt.want+"'"):
			t.Errorf("%s: %v, want %q", tt.name, got, tt.want)
		}
	}
	if got, err := decl.UnknownCores(t.Context(), nil, before, decl.Options{CorePatterns: []string{"a/*"}}); err != nil || len(got) > 0 {
		t.Errorf("patterns are not heeded: %v %v", got, err)
	}
	if got, _ := decl.UnknownCores(t.Context(), nil, before, decl.Options{}); len(got) != 2 {
		t.Errorf("a new ref: %v", got)
	}
}
