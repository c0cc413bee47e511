package decl_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/internal/fault"
)

// bomb is a tree in which the directory doc holds the same directories again and
// again: a few objects for Git, and more paths than can be walked.
type bomb struct {
	*decltest.Tree
	names []string // in each directory
	depth int
	leaf  []decl.Entry
}

func (b bomb) List(ctx context.Context, dir string) ([]decl.Entry, error) {
	rest, inside := strings.CutPrefix(dir, "doc")
	if !inside {
		list, err := b.Tree.List(ctx, dir)
		if err == nil && dir == "" {
			list = append(list, decl.Entry{Name: "doc", Mode: decl.ModeTree, ID: "level 0"})
		}
		return list, err
	}
	level := strings.Count(rest, "/")
	if level >= b.depth {
		return b.leaf, nil
	}
	var out []decl.Entry
	for _, name := range b.names {
		out = append(out, decl.Entry{Name: name, Mode: decl.ModeTree, ID: fmt.Sprintf("level %d", level+1)})
	}
	return out, nil
}

func ten() []string { return strings.Split("0 1 2 3 4 5 6 7 8 9", " ") }

func files(command string) *decltest.Tree {
	return decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: " + command + "\n"})
}

// TestTreesThatUnfold: what a hostile repository can make of a few objects costs
// a bound, and then is refused. (The reports on "git bombs" are of this kind.)
func TestTreesThatUnfold(t *testing.T) {
	deepPath := "doc" + strings.Repeat("/a", 100)
	for _, tt := range []struct {
		name string
		tree bomb
		want []string
	}{
		{"nothing names it", bomb{files("x"), ten(), 12, nil}, []string{}},
		{"it is launched, with files", bomb{files("doc/0"), ten(), 12, []decl.Entry{{Name: "x", Mode: decl.ModeRegular, ID: "x"}}}, []string{" surface_too_large"}},
		{"it is launched, without files", bomb{files("doc/0"), ten(), 12, nil}, []string{" surface_too_large"}},
		{"letter case doubles each step", bomb{files(deepPath), []string{"A", "a"}, 100, nil}, []string{" surface_too_large"}},
		{"a workspace of everything", bomb{decltest.Files(map[string]string{
			"agent/mcp/a.yaml": "command: npx\nargs: [x]\n", "package.json": `{"workspaces": ["doc/**/**/**"]}`,
		}), ten(), 12, nil}, []string{}},
	} {
		if got := codes(load(t, tt.tree)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestUnknownCoresInTreesThatUnfold(t *testing.T) {
	declared := []decl.Entry{{Name: "agent.yaml", Mode: decl.ModeRegular, ID: "x"}}
	for name, tt := range map[string]struct {
		leaf []decl.Entry
		want bool
	}{"plain": {nil, false}, "agents": {declared, true}} {
		got, err := decl.UnknownCores(t.Context(), files("y"), bomb{files("x"), ten(), 12, tt.leaf}, decl.Options{})
		if err != nil || len(got) > 0 != tt.want {
			t.Errorf("%s: %d found, %v", name, len(got), err)
		}
	}
}

// TestACopyOfAKnownCoreIsFound: a directory that was passed because it is a
// known core is not passed elsewhere.
func TestACopyOfAKnownCoreIsFound(t *testing.T) {
	after := decltest.Files(map[string]string{"one/agent/mcp/a.yaml": valid, "two/one/agent/mcp/a.yaml": valid})
	got, err := decl.UnknownCores(t.Context(), nil, after, decl.Options{})
	if err != nil || len(got) != 1 || !strings.Contains(got[0].Mend, "'two/one'") {
		t.Errorf("%v %v", got, err)
	}
}

func TestAPathThatNoSystemOpens(t *testing.T) {
	deep := bomb{files("doc/a"), []string{"a"}, 5000, nil}
	if _, err := decl.LoadSurface(t.Context(), deep, decl.Options{}); fault.CodeOf(err) != fault.SurfaceUnreadable {
		t.Error(err)
	}
	if _, err := decl.UnknownCores(t.Context(), nil, deep, decl.Options{}); fault.CodeOf(err) != fault.SurfaceUnreadable {
		t.Error(err)
	}
}

// TestAMendCanBePasted: a directory's name cannot end the quotes of the command
// that a person is told to run.
func TestAMendCanBePasted(t *testing.T) {
	after := decltest.Files(map[string]string{"a/b'; touch x; '/agent.yaml": ""})
	got, err := decl.UnknownCores(t.Context(), nil, after, decl.Options{})
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if _, quoted, _ := strings.Cut(got[0].Mend, "evolve.core "); strings.Contains(strings.ReplaceAll(strings.Trim(quoted, "'"), `'\''`, ""), "'") {
		t.Errorf("%s", got[0].Mend)
	}
}
