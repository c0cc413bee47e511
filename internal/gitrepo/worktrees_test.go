package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestWorktreesAndCheckedOut(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	top := filepath.Dir(g.Dir())
	side, detached, gone := filepath.Join(top, "si de"), filepath.Join(top, "detached"), filepath.Join(top, "gone")
	g.Git("worktree", "add", "-q", "-b", "side", side)
	g.Git("worktree", "add", "-q", "--detach", detached)
	g.Git("worktree", "add", "-q", "-b", "away", gone)
	noError(t, os.RemoveAll(gone))
	odd := filepath.Join(top, "with\nbreak")
	g.Git("worktree", "add", "-q", "-b", "odd", odd)
	g.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	g.Git("branch", "free", one)

	for _, repo := range []*Repo{open(t, g), open(t, g.At(side))} {
		trees, err := repo.Worktrees(t.Context())
		noError(t, err)
		slices.Sort(trees)
		equal(t, "worktrees", fmt.Sprintf("%q", trees), fmt.Sprintf("%q", []string{detached, gone, g.Dir(), side, odd}))
		for ref, want := range map[string][]string{
			"refs/heads/main": {g.Dir()}, "refs/heads/side": {side}, "refs/heads/free": nil, "refs/heads/absent": nil,
			"refs/heads/odd":  {odd},
			"refs/heads/away": {gone}, // Git keeps it busy until it is pruned
		} {
			got := checkedOut(t, repo, ref)
			equal(t, ref, fmt.Sprintf("%q", got), fmt.Sprintf("%q", want))
		}
	}
	g.Git("symbolic-ref", "HEAD", "refs/heads/alias")
	got := checkedOut(t, open(t, g), "refs/heads/main")
	equal(t, "main, checked out through an alias", fmt.Sprint(got), fmt.Sprint([]string{g.Dir()}))
}

func TestWorktreesOfABareRepository(t *testing.T) {
	g := gittest.New(t, gittest.Bare)
	g.Commit(map[string]string{"a": "1\n"}, "one")
	r := open(t, g)
	trees, err := r.Worktrees(t.Context())
	noError(t, err)
	equal(t, "worktrees", len(trees), 0)
	got := checkedOut(t, r, "refs/heads/main")
	equal(t, "checked out", len(got), 0)
}

// A rebase or a bisection moves its branch when it ends, and until then no
// worktree has it checked out.
func TestCheckedOutSeesOperationsInProgress(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Commit(map[string]string{"a": "2\n"}, "two")
	g.Commit(map[string]string{"a": "3\n"}, "three")
	top := filepath.Dir(g.Dir())
	linked := filepath.Join(top, "linked")
	g.Git("worktree", "add", "-q", "-b", "topic", linked, one)
	w := g.At(linked)
	w.Commit(map[string]string{"a": "topic\n"}, "topic")
	w.Git("branch", "stacked")
	w.Commit(map[string]string{"b": "topic\n"}, "more")
	r := open(t, g)
	check := func(when string, want map[string][]string) {
		t.Helper()
		for ref, paths := range want {
			got := checkedOut(t, r, ref)
			equal(t, when+": "+ref, fmt.Sprint(got), fmt.Sprint(paths))
		}
	}

	if _, err := w.Try("", "rebase", "--update-refs", "main"); err == nil {
		t.Fatal("the rebase has no conflict")
	}
	check("rebase", map[string][]string{
		"refs/heads/topic": {linked}, "refs/heads/stacked": {linked}, "refs/heads/main": {g.Dir()},
	})
	g.Git("checkout", "-q", "--detach")
	check("rebase beside a detached HEAD", map[string][]string{"refs/heads/topic": {linked}, "refs/heads/main": nil})
	w.Git("rebase", "--abort")
	check("after the rebase", map[string][]string{"refs/heads/topic": {linked}, "refs/heads/stacked": nil})

	g.Git("checkout", "-q", "main")
	g.Git("bisect", "start", "main", one)
	check("bisection", map[string][]string{"refs/heads/main": {g.Dir()}, "refs/heads/topic": {linked}})
}
