//go:build unix

package gitrepo

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// Opening a named pipe would wait for a writer that never comes.
func TestWorkingTreeOpensNoPipe(t *testing.T) {
	g := gittest.New(t)
	noError(t, syscall.Mkfifo(g.Path("docs.yaml"), 0o666))
	tree, err := open(t, g).WorkingTree()
	noError(t, err)
	entries, err := tree.List(t.Context(), "")
	noError(t, err)
	equal(t, "root", listing(entries), "docs.yaml:160000")
	_, err = tree.Read(t.Context(), "", decl.Entry{Name: "docs.yaml", Mode: decl.ModeRegular}, 100)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
