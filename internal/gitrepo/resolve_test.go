package gitrepo

import (
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestResolveCommit(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"dir/file": "1\n"}, "one")
	two := g.Commit(map[string]string{"dir/file": "2\n"}, "two: second")
	g.Git("tag", "-a", "-m", "release", "v1", one)
	g.Git("tag", "-a", "-m", "tag of a tag", "v1-again", "v1")
	g.Git("update-ref", "refs/heads/odd/ä+%'$(x)", one)
	g.Git("update-ref", "refs/heads/-option", one)
	g.Git("update-ref", "refs/heads/--all", one)
	r := open(t, g)

	for rev, want := range map[string]string{
		"main": two, "HEAD": two, "@": two, "heads/main": two, "refs/heads/main": two, "HEAD~1": one, "main^": one,
		one: one, one[:8]: one, "v1": one, "v1-again": one, "v1^{commit}": one, "main@{0}": two, "HEAD^{/one}": one,
		"odd/ä+%'$(x)": one, "refs/heads/-option": one, "refs/heads/--all": one, ":/two: sec": two,
		"v1-2-g" + two[:9]: two, "HEAD^{/two: second}": two,
	} {
		got, err := r.ResolveCommit(t.Context(), rev)
		if err != nil || got != ID(want) {
			t.Errorf("%s: got %s, %v, want %s", rev, got, err, want)
		}
	}
	for _, rev := range []string{
		"", "-option", "--all", "--", "missing", "main..HEAD", "main...HEAD", "^main", "HEAD:dir/file", "HEAD:dir",
		"HEAD:absent", ":dir/file", "v1^{tree}", "v1^{blob}", "main~7", "main@{u}", "main@{99}", "main\nHEAD",
		"main\x00", strings.Repeat("0", 40), strings.Repeat("a", 40), one[:3], "refs/heads/", "main HEAD",
		strings.Repeat("x", 5000), "@{-1}",
	} {
		if got, err := r.ResolveCommit(t.Context(), rev); err == nil {
			t.Errorf("%q resolved to %s", rev, got)
		} else if f := wantCode(t, err, fault.RevisionUnknown); f.Hint == "" || len(f.Message) > 500 {
			t.Errorf("%q: message %q, hint %q", rev, f.Message, f.Hint)
		}
	}
}

func TestResolveCommitTakesNoPathForACommit(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"file^{commit}": "a blob\n"}, "one")
	r := open(t, g)
	_, err := r.ResolveCommit(t.Context(), "HEAD:file")
	wantCode(t, err, fault.RevisionUnknown)
	_, err = r.ResolveCommit(t.Context(), "HEAD:file^{commit}")
	wantCode(t, err, fault.RevisionUnknown)
}

func TestResolveCommitRefusesWhatIsAmbiguous(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	two := g.Commit(map[string]string{"a": "2\n"}, "two")
	g.Git("config", "core.warnAmbiguousRefs", "false")
	g.Git("update-ref", "refs/heads/both", one)
	g.Git("update-ref", "refs/tags/both", two)
	g.Git("update-ref", "refs/heads/"+two, one)      // named like a whole id
	g.Git("update-ref", "refs/heads/"+two[:10], one) // and like a short one
	r := open(t, g)
	for _, rev := range []string{"both", "both~0", two, two[:10]} {
		_, err := r.ResolveCommit(t.Context(), rev)
		if f := wantCode(t, err, fault.RevisionUnknown); !strings.Contains(f.Message, "ambiguous") {
			t.Errorf("%s: %v", rev, f)
		}
	}
	for rev, want := range map[string]string{
		"refs/heads/both": one, "refs/tags/both": two, "heads/both": one, "refs/heads/" + two: one, two[:12]: two,
	} {
		got, err := r.ResolveCommit(t.Context(), rev)
		noError(t, err)
		equal(t, rev, got, ID(want))
	}
}

func TestResolveCommitHEADIsHEAD(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	two := g.Commit(map[string]string{"a": "2\n"}, "two")
	g.Git("update-ref", "refs/heads/HEAD", one)
	r := open(t, g)
	for _, rev := range []string{"HEAD", "@"} {
		got, err := r.ResolveCommit(t.Context(), rev)
		noError(t, err)
		equal(t, rev, got, ID(two))
	}
}

func TestResolveCommitOnAnUnbornBranch(t *testing.T) {
	r := open(t, gittest.New(t))
	_, err := r.ResolveCommit(t.Context(), "HEAD")
	if f := wantCode(t, err, fault.RevisionUnknown); !strings.Contains(f.Message, "refs/heads/main") {
		t.Errorf("the message does not name the branch: %s", f.Message)
	}
	_, err = r.ResolveCommit(t.Context(), "main")
	wantCode(t, err, fault.RevisionUnknown)
}

func TestResolveCommitIgnoresReplacements(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	two := g.Commit(map[string]string{"a": "2\n"}, "two")
	g.Git("replace", two, one)
	r := open(t, g)
	got, err := r.ResolveCommit(t.Context(), "main")
	noError(t, err)
	equal(t, "main", got, ID(two))
	data, err := readBlobAt(t.Context(), r, got, "a", 10)
	noError(t, err)
	equal(t, "a", string(data), "2\n")
}

func TestResolveRef(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("update-ref", "refs/heads/topic/x", one)
	g.Git("update-ref", "refs/heads/HEAD", one)
	g.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	g.Git("symbolic-ref", "refs/heads/alias2", "refs/heads/alias")
	g.Git("symbolic-ref", "refs/heads/unborn-alias", "refs/heads/unborn")
	g.Git("symbolic-ref", "refs/heads/loop", "refs/heads/pool")
	g.Git("symbolic-ref", "refs/heads/pool", "refs/heads/loop")
	g.Git("symbolic-ref", "refs/heads/sneaky", "refs/evolve/reviews/x")
	g.Git("symbolic-ref", "refs/heads/tagged", "refs/tags/v1")
	g.Git("update-ref", "refs/tags/v1", one)
	g.Git("update-ref", "refs/remotes/origin/main", one)
	g.Git("update-ref", "refs/heads/-b", one)
	r := open(t, g)

	for name, want := range map[string]string{
		"main": "refs/heads/main", "heads/main": "refs/heads/main", "refs/heads/main": "refs/heads/main",
		"HEAD": "refs/heads/main", "@": "refs/heads/main", "topic/x": "refs/heads/topic/x",
		"alias": "refs/heads/main", "alias2": "refs/heads/main", "refs/heads/alias2": "refs/heads/main",
		"refs/heads/new": "refs/heads/new", "heads/new": "refs/heads/new", "refs/heads/HEAD": "refs/heads/HEAD",
		"refs/heads/unborn-alias": "refs/heads/unborn", "refs/heads/-b": "refs/heads/-b", "refs/live": "refs/live",
	} {
		got, err := resolveRef(t, r, name)
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
		}
	}
	for name, code := range map[string]fault.Code{
		"": fault.RefInvalid, "-b": fault.RefInvalid, "missing": fault.RefInvalid, "origin/main": fault.RefInvalid,
		"v1": fault.RefInvalid, "refs/tags/v1": fault.RefInvalid, "refs/remotes/origin/main": fault.RefInvalid,
		"tagged": fault.RefInvalid, "loop": fault.RefInvalid, "refs/stash": fault.RefInvalid, "main~1": fault.RefInvalid,
		"main*": fault.RefInvalid, "a..b": fault.RefInvalid, "main.lock": fault.RefInvalid, "main\n": fault.RefInvalid,
		"refs/heads/": fault.RefInvalid, "refs/heads/a b": fault.RefInvalid, one: fault.RefInvalid,
		"refs/evolve/reviews/x": fault.RefProtected, "refs/Evolve/reviews/x": fault.RefProtected,
		"refs/replace/" + one: fault.RefProtected, "sneaky": fault.RefProtected,
	} {
		if got, err := resolveRef(t, r, name); err == nil {
			t.Errorf("%q resolved to %s", name, got)
		} else if f := wantCode(t, err, code); f.Hint == "" && name != "loop" {
			t.Errorf("%q: no hint", name)
		}
	}

	g.Git("symbolic-ref", "HEAD", "refs/heads/unborn")
	got, err := resolveRef(t, r, "HEAD")
	noError(t, err)
	equal(t, "HEAD on an unborn branch", got, "refs/heads/unborn")
	g.Git("symbolic-ref", "HEAD", "refs/evolve/x")
	_, err = resolveRef(t, r, "HEAD")
	wantCode(t, err, fault.RefProtected)
	g.Git("update-ref", "--no-deref", "HEAD", one)
	_, err = resolveRef(t, r, "HEAD")
	wantCode(t, err, fault.RefInvalid)
}
