package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestMain(m *testing.M) {
	// The test binary also is the program that hooks of test repositories run.
	if dir := os.Getenv(hookReport); dir != "" {
		os.Exit(actAsHook(dir))
	}
	os.Exit(m.Run())
}

// open opens a repository of a test as its user would.
func open(t *testing.T, g *gittest.Repo) *Repo {
	t.Helper()
	return openWith(t, Options{Dir: g.Dir(), Env: g.Env()})
}

func openWith(t *testing.T, o Options) *Repo {
	t.Helper()
	r, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v: %v", err, errors.Unwrap(err))
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// wantCode checks the code of an error, and that there is a message and, since a
// person must know how to go on, nearly always a hint.
func wantCode(t *testing.T, err error, code fault.Code) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("got error %v, want code %s", err, code)
	}
	if f.Code != code {
		t.Fatalf("got %v, want code %s", f, code)
	}
	if f.Message == "" {
		t.Error("the error says nothing")
	}
	return f
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// state is the digest of refs, index and worktree that a refusal leaves alone.
func state(t *testing.T, g *gittest.Repo) [32]byte {
	t.Helper()
	s, err := gittest.State(g.Dir())
	noError(t, err)
	return s
}

func writeFile(t *testing.T, path, data string, mode os.FileMode) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	noError(t, os.WriteFile(path, []byte(data), mode))
	noError(t, os.Chmod(path, mode))
}

// readBlobAt reads the regular file at path in a commit, of at most limit bytes. It
// wraps fs.ErrNotExist when the path is absent or no regular file.
func readBlobAt(ctx context.Context, r *Repo, commit ID, path string, limit int64) ([]byte, error) {
	tree, err := r.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	dir, name := "", path // a slash in front stays in the name, which no entry has
	if i := strings.LastIndex(path, "/"); i > 0 {
		dir, name = path[:i], path[i+1:]
	}
	entries, err := tree.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name == name && e.Mode.IsRegular() {
			return tree.Read(ctx, dir, e, limit)
		}
	}
	return nil, fmt.Errorf("no file: %w", fs.ErrNotExist)
}

// checkedOut are the paths of the worktrees that have ref checked out.
func checkedOut(t *testing.T, r *Repo, ref string) []string {
	t.Helper()
	all, err := r.Occupants(t.Context(), ref)
	noError(t, err)
	var paths []string
	for _, o := range all {
		paths = append(paths, o.Path)
	}
	return paths
}

func resolveRef(t *testing.T, r *Repo, name string) (string, error) {
	t.Helper()
	full, _, err := r.ResolveRefValue(t.Context(), name)
	return full, err
}
