package gitrepo

import (
	"reflect"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestReadRef(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("update-ref", "refs/heads/packed", one)
	g.Git("update-ref", "refs/heads/ref-of-main/x", one)
	g.Git("pack-refs", "--all")
	g.Git("update-ref", "refs/heads/loose", one)
	g.Git("symbolic-ref", "refs/heads/dangling", "refs/heads/gone")
	r := open(t, g)
	for ref, want := range map[string]string{
		"refs/heads/main": one, "refs/heads/packed": one, "refs/heads/loose": one,
		"refs/heads/absent": "", "main": "", "refs/heads": "", "refs/heads/ref-of-main": "", "refs/heads/dangling": "",
		"refs/heads/*": "", "refs/evolve/reviews/" + strings.Repeat("a", 64): "",
	} {
		got, err := r.ReadRef(t.Context(), ref)
		if err != nil || got != ID(want) {
			t.Errorf("%s: got %q, %v, want %q", ref, got, err, want)
		}
	}
}

// https://github.com/go-git/go-git/issues/2399: an empty file is no absence.
func TestReadRefTellsBrokenFromAbsent(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	writeFile(t, g.Path(".git/refs/heads/empty"), "", 0o666)
	writeFile(t, g.Path(".git/refs/heads/garbage"), "not an id\n", 0o666)
	writeFile(t, g.Path(".git/refs/heads/gone"), strings.Repeat("ab", 20)+"\n", 0o666)
	r := open(t, g)
	for _, ref := range []string{"refs/heads/empty", "refs/heads/garbage", "refs/heads/gone"} {
		got, err := r.ReadRef(t.Context(), ref)
		if err == nil {
			t.Errorf("%s reads as %q", ref, got)
			continue
		}
		wantCode(t, err, fault.GitFailed)
	}
	// A broken neighbour hinders no other ref, not even one it begins with.
	for ref, want := range map[string]string{"refs/heads/main": one, "refs/heads/emp": "", "refs/heads/absent": ""} {
		got, err := r.ReadRef(t.Context(), ref)
		if err != nil || got != ID(want) {
			t.Errorf("%s: got %q, %v, want %q", ref, got, err, want)
		}
	}
}

func TestRefs(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	for _, ref := range []string{"refs/evolve/reviews/b", "refs/evolve/reviews/a", "refs/evolve/revoked/a", "refs/evolve/reviewsx/a"} {
		g.Git("update-ref", ref, one)
	}
	r := open(t, g)
	got, err := r.Refs(t.Context(), "refs/evolve/reviews/")
	noError(t, err)
	if want := []RefInfo{{"refs/evolve/reviews/a", ID(one)}, {"refs/evolve/reviews/b", ID(one)}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got, err = r.Refs(t.Context(), "refs/none/")
	if err != nil || len(got) != 0 {
		t.Errorf("got %v, %v, want nothing", got, err)
	}
}

func TestUpstream(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("remote", "add", "origin", g.Dir())
	g.Git("update-ref", "refs/remotes/origin/main", one)
	g.Git("branch", "topic", "main")
	g.Git("branch", "alone", "main")
	g.Git("branch", "orphaned", "main")
	g.Git("branch", "-q", "--set-upstream-to=origin/main", "topic")
	g.Git("config", "branch.orphaned.remote", "origin")
	g.Git("config", "branch.orphaned.merge", "refs/heads/gone")
	r := open(t, g)
	for ref, want := range map[string]string{
		"refs/heads/topic": "refs/remotes/origin/main", "refs/heads/alone": "", "refs/heads/orphaned": "", "refs/heads/absent": "",
	} {
		got, err := r.Upstream(t.Context(), ref)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", ref, got, err, want)
		}
	}
}
