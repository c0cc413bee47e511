package gitrepo

import (
	"os"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func openTest(t *testing.T, g *gittest.Repo) *Repo {
	t.Helper()
	r, err := Open(t.Context(), Options{Dir: g.Dir(), Env: g.Env()})
	noError(t, err)
	t.Cleanup(func() { noError(t, r.Close()) })
	return r
}

func TestRefStatesFollowsWhatAnUpdateWouldMove(t *testing.T) {
	g := gittest.New(t)
	one := ID(g.Commit(map[string]string{"a": "1\n"}, "one"))
	g.Git("branch", "topic")
	g.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	g.Git("symbolic-ref", "refs/heads/second", "refs/heads/alias")
	g.Git("symbolic-ref", "refs/heads/dangling", "refs/heads/later")
	g.Git("pack-refs", "--all")
	r := openTest(t, g)
	want := map[string]RefState{
		"refs/heads/main":     {Target: "refs/heads/main", Value: one},
		"refs/heads/alias":    {Target: "refs/heads/main", Value: one},
		"refs/heads/second":   {Target: "refs/heads/main", Value: one},
		"refs/heads/dangling": {Target: "refs/heads/later"},
		"refs/heads/absent":   {Target: "refs/heads/absent"},
		"refs/heads":          {Target: "refs/heads"}, // a directory of refs is none
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	got, err := r.RefStates(t.Context(), names)
	noError(t, err)
	for name, state := range want {
		equal(t, name, got[name], state)
	}
	if _, err := r.RefStates(t.Context(), []string{"HEAD"}); fault.CodeOf(err) != fault.RefInvalid {
		t.Errorf("HEAD: %v", err)
	}
	none, err := r.RefStates(t.Context(), nil)
	noError(t, err)
	equal(t, "nothing asked", len(none), 0)
}

func TestPackedValue(t *testing.T) {
	g := gittest.New(t)
	one := ID(g.Commit(map[string]string{"a": "1\n"}, "one"))
	r := openTest(t, g)
	value, _, err := r.PackedValue("refs/heads/main")
	noError(t, err)
	equal(t, "before", value, ID(""))
	g.Git("pack-refs", "--all")
	g.Commit(map[string]string{"a": "2\n"}, "two")
	value, locked, err := r.PackedValue("refs/heads/main")
	noError(t, err)
	equal(t, "packed, and moved since", value, one)
	equal(t, "locked", locked, false)
	value, _, err = r.PackedValue("heads/main")
	noError(t, err)
	equal(t, "the end of a name", value, ID(""))
	noError(t, os.WriteFile(g.Path(".git/packed-refs.lock"), nil, 0o600))
	_, locked, err = r.PackedValue("refs/heads/main")
	noError(t, err)
	equal(t, "locked", locked, true)
}

func TestHooksDirAndWhoChoseIt(t *testing.T) {
	g := gittest.New(t)
	r := openTest(t, g)
	dir, chosen, err := r.HooksDir(t.Context())
	noError(t, err)
	equal(t, "Git's own", dir+chosen.Key, g.Path(".git/hooks"))
	g.Git("config", "--global", "core.hooksPath", "/srv/hooks")
	dir, chosen, err = r.HooksDir(t.Context())
	noError(t, err)
	equal(t, "the user's", dir+" "+chosen.Scope, "/srv/hooks global")
	g.Git("config", "core.hooksPath", "own")
	dir, chosen, err = r.HooksDir(t.Context())
	noError(t, err)
	equal(t, "the repository's", dir+" "+chosen.Scope, g.Path("own")+" local")
	noError(t, r.AddConfig(t.Context(), "evolve.guard", "refs/heads/main"))
	noError(t, r.AddConfig(t.Context(), "evolve.guard", "refs/heads/live"))
	equal(t, "added", g.Git("config", "--get-all", "evolve.guard"), "refs/heads/main\nrefs/heads/live")
}

func TestPushAndFetchTellWhatFailed(t *testing.T) {
	g, other := gittest.New(t), gittest.New(t, gittest.Bare)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	r := openTest(t, g)
	var said strings.Builder
	term := Terminal{Out: &said, Err: &said}
	noError(t, r.Push(t.Context(), term, other.Dir(), "HEAD:refs/heads/a", "HEAD:refs/heads/b"))
	equal(t, "pushed", other.Git("rev-parse", "a", "b"), one+"\n"+one)
	noError(t, r.Fetch(t.Context(), term, other.Dir(), "refs/heads/*:refs/copies/*"))
	equal(t, "fetched", g.Git("rev-parse", "refs/copies/a"), one)
	for name, err := range map[string]error{
		"push":  r.Push(t.Context(), term, "/nowhere", "HEAD:refs/heads/a"),
		"fetch": r.Fetch(t.Context(), term, "/nowhere", "refs/heads/*:refs/copies/*"),
		"flag":  r.Push(t.Context(), term, "--receive-pack=x", "HEAD:refs/heads/a"),
	} {
		if fault.CodeOf(err) != fault.GitFailed || strings.Contains(err.Error(), "fatal") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
