package workspace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/workspace"
)

func load(t *testing.T, tree decl.Tree) *decl.Surface {
	t.Helper()
	s, err := decl.LoadSurface(t.Context(), tree, decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOnlyReviewedFilesOfTheCoreAreWritten(t *testing.T) {
	tree := decltest.Files(map[string]string{
		"bot/agent.yaml": "", "bot/agent/mcp/notes.yaml": "command: python3\nargs: [tools/server.py]\n", "bot/tools/lib/x.py": "2",
		"bot/secret.txt": "no", "other/agent/mcp/x.yaml": "command: x\n", "bot/pyproject.toml": "[x]",
	})
	tree.Put("bot/tools/server.py", decl.ModeExecutable, "1")
	parent := t.TempDir()
	w, err := workspace.New(t.Context(), tree, load(t, tree), "bot", parent)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	root := filepath.Dir(w.Dir())
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if perm := info.Mode().Perm(); perm&0o077 != 0 {
			t.Errorf("%s has mode %o", p, perm)
		}
		if !d.IsDir() {
			rel, _ := filepath.Rel(root, p)
			got = append(got, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{"bot/agent.yaml", "bot/agent/mcp/notes.yaml", "bot/pyproject.toml", "bot/tools/lib/x.py", "bot/tools/server.py"}
	if !slices.Equal(got, want) {
		t.Errorf("written: %v, want %v", got, want)
	}
	if info, err := os.Stat(filepath.Join(w.Dir(), "tools", "server.py")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the script: %v %v", info, err)
	}
	if err := os.Chmod(filepath.Join(w.Dir(), "tools"), 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestPathsThatCouldLeaveTheWorkspaceAreRefused(t *testing.T) {
	for _, p := range []string{"tools/../../x", "tools/.git/hooks/x", "tools/.GIT/config", `tools/a\..\..\b`} {
		tree := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: ./tools/run\n", "tools/run": "1", p: "2"})
		parent := t.TempDir()
		_, err := workspace.New(t.Context(), tree, load(t, tree), "", parent)
		if fault.CodeOf(err) != fault.SurfaceUnreadable {
			t.Errorf("%q: %v", p, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Errorf("%q: left behind: %v %v", p, left, err)
		}
	}
}
