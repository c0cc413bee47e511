package gitrepo

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// What is told without a git process is what git tells.

func TestGoodRefNameAgreesWithGit(t *testing.T) {
	g := gittest.New(t)
	pieces := []string{"refs", "heads", "/", "/", "/", ".", "..", "a", "x.lock", ".lock", "@", "@{", "{", "~", "^", ":", "?", "*",
		"[", "\\", " ", "\t", "\x7f", "é", "-", "HEAD", ""}
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"refs/heads/main", "refs", "refs/", "/refs/x", "refs//x", "refs/heads/@", "@", "refs/heads/a.", "refs/heads/.a", "refs/a.lock/b"}
	for range 150 {
		name := "refs/heads/"
		for range 1 + random.IntN(4) {
			name += pieces[random.IntN(len(pieces))]
		}
		names = append(names, name)
	}
	for _, name := range names {
		_, err := g.Try("", "check-ref-format", name)
		if got := goodRefName(name); got != (err == nil) {
			t.Errorf("%q is good: %v, git says %v", name, got, err == nil)
		}
	}
}

func TestNearbyAgreesWithGit(t *testing.T) {
	g := gittest.New(t)
	random := rand.New(rand.NewPCG(3, 4))
	var ids []string
	for i := range 24 {
		var parents []string
		for range min(i, 1+random.IntN(2)) {
			p := ids[max(0, len(ids)-1-random.IntN(4))]
			if !slices.Contains(parents, p) {
				parents = append(parents, p)
			}
		}
		ids = append(ids, g.CommitOn(parents, map[string]string{"n": fmt.Sprint(i)}, fmt.Sprint(i)))
	}
	r := open(t, g)
	told := 0
	for i, a := range ids {
		for _, b := range ids[max(0, i-6):min(len(ids), i+7)] {
			got, ok := r.nearby(t.Context(), ID(a), ID(b))
			if !ok {
				continue
			}
			told++
			if _, err := g.Try("", "merge-base", "--is-ancestor", a, b); err != nil {
				t.Errorf("%s is no ancestor of %s", a, b)
			}
			want := strings.Fields(g.Git("rev-list", b, "^"+a))
			have := make([]string, 0, len(got))
			for _, id := range got {
				have = append(have, string(id))
			}
			slices.Sort(want)
			slices.Sort(have)
			if !slices.Equal(want, have) {
				t.Errorf("%s..%s is %v, want %v", a, b, have, want)
			}
		}
	}
	if told < 20 {
		t.Errorf("only %d ranges were told", told)
	}
}

func TestWorktreesAgreesWithGit(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"a": "1\n"}, "one")
	top := filepath.Dir(g.Dir())
	linked := filepath.Join(top, "linked tree")
	g.Git("worktree", "add", "-q", "-b", "side", linked)
	bare := filepath.Join(top, "bare.git")
	g.Git("clone", "-q", "--bare", g.Dir(), bare)
	g.At(bare).Git("worktree", "add", "-q", filepath.Join(top, "of-bare"))
	for _, dir := range []string{g.Dir(), linked, bare, filepath.Join(top, "of-bare")} {
		r := open(t, g.At(dir))
		got, err := r.Worktrees(t.Context())
		noError(t, err)
		trees, err := r.worktrees(t.Context())
		noError(t, err)
		var want []string
		for _, w := range trees {
			want = append(want, w.path)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("in %s: %v, want %v", filepath.Base(dir), got, want)
		}
	}
}

// Refs that are listed early are given out once, as they were then.
func TestEarlyRefs(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	two := g.Commit(map[string]string{"a": "2\n"}, "two")
	g.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	g.Git("symbolic-ref", "refs/heads/dangling", "refs/heads/nothing")
	names := []string{"refs/heads/main", "refs/heads/alias", "refs/heads/absent", "refs/heads/dangling", "refs/heads/main"}
	want := map[string]RefState{
		"refs/heads/main": {"refs/heads/main", ID(two)}, "refs/heads/alias": {"refs/heads/main", ID(two)},
		"refs/heads/absent": {"refs/heads/absent", ""}, "refs/heads/dangling": {"refs/heads/nothing", ""},
	}
	for _, early := range [][]string{nil, names[:3], names, {"refs/heads/main", "-x"}} {
		r, err := Open(t.Context(), Options{Dir: g.Dir(), Env: g.Env(), Early: true, EarlyRefs: early})
		noError(t, err)
		got, err := r.RefStates(t.Context(), names)
		noError(t, err)
		if !maps.Equal(got, want) {
			t.Errorf("early %v: %v, want %v", early, got, want)
		}
		g.Git("update-ref", "refs/heads/main", one)
		value, err := r.ReadRef(t.Context(), "refs/heads/main")
		noError(t, err)
		equal(t, "main, asked again", value, ID(one))
		g.Git("update-ref", "refs/heads/main", two)
		noError(t, r.Close())
	}
}

// What is started early is waited for, whatever became of the opening.
func TestOpenEarly(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("config", "evolve.x", "1")
	r, err := Open(t.Context(), Options{Dir: g.Dir(), Env: g.Env(), Early: true})
	noError(t, err)
	for _, want := range []string{"1", "2"} {
		c, err := r.Config(t.Context())
		noError(t, err)
		s, _ := c.Last("evolve.x")
		equal(t, "evolve.x", s.Value, want)
		g.Git("config", "evolve.x", "2")
	}
	_, err = r.ReadCommit(t.Context(), ID(one))
	noError(t, err)
	noError(t, r.Close())
	if _, err := Open(t.Context(), Options{Dir: filepath.Dir(g.Dir()), Env: g.Env(), Early: true}); err == nil {
		t.Error("a directory without a repository was opened")
	}
}
