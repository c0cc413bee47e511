package gogit

import (
	"bytes"
	"compress/zlib"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func open(t *testing.T, g *gittest.Repo, env ...string) *Repo {
	t.Helper()
	r, err := Open(gitrepo.Options{Dir: g.Dir(), Env: g.Env(env...)})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// Each kind that go-git cannot open, or opens and misreads.
func TestRefusesWhatItWouldMisread(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*gittest.Repo)
		env   []string
		code  fault.Code
		says  string
	}{
		"reftable": {code: fault.Unsupported, says: "refs otherwise than in files", spoil: func(g *gittest.Repo) {
			g.Git("config", "core.repositoryFormatVersion", "1")
			g.Git("config", "extensions.refStorage", "reftable")
		}},
		"an unknown extension": {code: fault.Unsupported, says: "an extension", spoil: func(g *gittest.Repo) {
			g.Git("config", "extensions.evolveTest", "true")
		}},
		"a later format": {code: fault.Unsupported, says: "format version", spoil: func(g *gittest.Repo) {
			g.Git("config", "core.repositoryFormatVersion", "2")
		}},
		"a promisor pack": {code: fault.Unsupported, says: "a partial clone", spoil: func(g *gittest.Repo) {
			writeFile(t, g.Path(".git/objects/pack/pack-1.promisor"), "", 0o666)
		}},
		"a promisor remote": {code: fault.Unsupported, says: "a partial clone", spoil: func(g *gittest.Repo) {
			g.Git("config", "remote.origin.promisor", "true")
		}},
		"alternates": {code: fault.Unsupported, says: "alternates", spoil: func(g *gittest.Repo) {
			writeFile(t, g.Path(".git/objects/info/alternates"), "/nowhere\n", 0o666)
		}},
		"a quarantine": {code: fault.Unsupported, says: "GIT_OBJECT_DIRECTORY", env: []string{"GIT_OBJECT_DIRECTORY=/nowhere"}},
		"an included file": {code: fault.Unsupported, says: "includes other files", spoil: func(g *gittest.Repo) {
			g.Git("config", "include.path", "more")
		}},
		"a conditional included file": {code: fault.Unsupported, says: "includes other files", spoil: func(g *gittest.Repo) {
			g.Git("config", "--global", "includeIf.gitdir:/x/.path", "more")
		}},
		"broken configuration": {code: fault.ConfigInvalid, says: "broken", spoil: func(g *gittest.Repo) {
			writeFile(t, g.Path(".git/config"), "[core\n", 0o666)
		}},
		"a bare repository that is not named": {code: fault.RepositoryUnreadable, says: "safe.bareRepository", spoil: func(g *gittest.Repo) {
			g.Git("config", "--global", "safe.bareRepository", "explicit")
			noError(t, os.Rename(g.Path(".git"), g.Dir()+".git"))
			noError(t, os.RemoveAll(g.Dir()))
			noError(t, os.Rename(g.Dir()+".git", g.Dir()))
		}},
		"a .git file that leads nowhere": {code: fault.RepositoryUnreadable, says: "names no Git directory", spoil: func(g *gittest.Repo) {
			noError(t, os.RemoveAll(g.Path(".git")))
			writeFile(t, g.Path(".git"), "gitdir: nowhere\n", 0o666)
		}},
		"no repository": {code: fault.RepositoryUnreadable, says: "in no Git repository", spoil: func(g *gittest.Repo) {
			noError(t, os.RemoveAll(g.Path(".git")))
		}},
		"GIT_DIR elsewhere": {code: fault.RepositoryUnreadable, says: "in no Git repository", env: []string{"GIT_DIR=/nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t)
			g.Commit(map[string]string{"a": "1\n"}, "one")
			if c.spoil != nil {
				c.spoil(g)
			}
			env := append(g.Env(c.env...), "GIT_CEILING_DIRECTORIES="+filepath.Dir(g.Dir()))
			_, err := Open(gitrepo.Options{Dir: g.Dir(), Env: env})
			if f := wantCode(t, err, c.code); !strings.Contains(f.Message, c.says) || f.Hint == "" {
				t.Errorf("it says %q, hint %q", f.Message, f.Hint)
			}
		})
	}
}

// go-git serves bytes that do not match their id, as cat-file does.
func TestReadsAreHashedAndCapped(t *testing.T) {
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n", "big": strings.Repeat("x", 1000), "d/b": "2\n"}, "one")
	blob := g.Git("rev-parse", "HEAD:a")
	r := open(t, g)
	tree, err := r.Tree(t.Context(), gitrepo.ID(id))
	noError(t, err)
	read := func(name string, limit int64) ([]byte, error) {
		entries, err := tree.List(t.Context(), "")
		noError(t, err)
		for _, e := range entries {
			if e.Name == name {
				return tree.Read(t.Context(), "", e, limit)
			}
		}
		t.Fatalf("no %s", name)
		return nil, nil
	}
	data, err := read("a", 2)
	noError(t, err)
	equal(t, "a", string(data), "1\n")
	_, err = read("big", 999)
	if wantCode(t, err, fault.SurfaceUnreadable); !strings.Contains(err.Error(), "at most 999") {
		t.Error(err)
	}
	_, err = r.objects.Read(t.Context(), gitrepo.ID(blob), "tree", 10)
	wantCode(t, err, fault.SurfaceUnreadable)
	_, err = r.objects.Read(t.Context(), gitrepo.ID(strings.Repeat("1", 40)), "blob", 10)
	wantCode(t, err, fault.SurfaceUnreadable)
	_, err = r.objects.Read(t.Context(), "1", "blob", 10)
	wantCode(t, err, fault.SurfaceUnreadable)

	for name, loose := range map[string]string{
		"other bytes": "blob 2\x009\n", "a longer size": "blob 3\x001\n", "a shorter size": "blob 1\x001\n", "another kind": "tree 2\x001\n", "nonsense": "?",
	} {
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		_, err := w.Write([]byte(loose))
		noError(t, err)
		noError(t, w.Close())
		path := g.Path(".git/objects/" + blob[:2] + "/" + blob[2:])
		noError(t, os.Chmod(path, 0o666))
		writeFile(t, path, packed.String(), 0o444)
		fresh := open(t, g)
		tree, err = fresh.Tree(t.Context(), gitrepo.ID(id))
		noError(t, err)
		if data, err := read("a", 100); err == nil {
			t.Errorf("%s: read as %q", name, data)
		} else {
			wantCode(t, err, fault.SurfaceUnreadable)
		}
	}
}

// A loose object whose header promises little and whose bytes do not end is not
// inflated further than it promised.
func TestStopsAtWhatTheHeaderPromises(t *testing.T) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write([]byte("blob 2\x00"))
	noError(t, err)
	for range 64 {
		_, err := w.Write(make([]byte, 1<<20))
		noError(t, err)
	}
	noError(t, w.Close())
	whole := packed.Len()
	_, err = readLoose(&packed, gitrepo.ID(strings.Repeat("a", 40)), "blob", 100)
	wantCode(t, err, fault.SurfaceUnreadable)
	if packed.Len() < whole/2 {
		t.Errorf("%d of %d bytes were inflated", whole-packed.Len(), whole)
	}
}

func TestFollowsTagsAndSymbolicRefs(t *testing.T) {
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("tag", "-a", "-m", "tag", "one")
	g.Git("tag", "-a", "-m", "tag of a tag", "two", "one")
	g.Git("tag", "-a", "-m", "tag of a blob", "blob", "HEAD:a")
	g.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	g.Git("symbolic-ref", "refs/heads/loop", "refs/heads/pool")
	g.Git("symbolic-ref", "refs/heads/pool", "refs/heads/loop")
	writeFile(t, g.Path(".git/refs/heads/broken"), "nonsense\n", 0o666)
	check := func() {
		r := open(t, g)
		for _, rev := range []string{"HEAD", "refs/heads/main", "refs/tags/one", "refs/tags/two", "refs/heads/alias", id} {
			got, err := r.ResolveCommit(t.Context(), rev)
			noError(t, err)
			equal(t, rev, got, gitrepo.ID(id))
		}
		for _, rev := range []string{"refs/tags/blob", "refs/heads/loop", "refs/heads/broken", "refs/heads", "refs/heads/", "refs/worktree/x"} {
			if got, err := r.ResolveCommit(t.Context(), rev); err == nil {
				t.Errorf("%s is %s", rev, got)
			}
		}
	}
	check()
	noError(t, os.Remove(g.Path(".git/refs/heads/broken")))
	for _, loop := range []string{"loop", "pool"} {
		noError(t, os.Remove(g.Path(".git/refs/heads/"+loop)))
	}
	g.Git("pack-refs", "--all")
	check()
}

// Both readers refuse the same broken trees, since both parse with the same
// code; go-git's own parser is never asked.
func TestParsesTreesStrictly(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"a": "1\n"}, "one")
	blob := g.Git("rev-parse", "HEAD:a")
	raw := func(name string) string {
		var b strings.Builder
		b.WriteString("100644 " + name + "\x00")
		for i := 0; i < len(blob); i += 2 {
			b.WriteByte(hexByte(blob[i])<<4 | hexByte(blob[i+1]))
		}
		return b.String()
	}
	for name, tree := range map[string]string{"twice": raw("a") + raw("a"), "unsorted": raw("b") + raw("a"), ".git": raw(".GIT")} {
		commit := g.Git("commit-tree", "-m", "x", g.WriteRawObject("tree", []byte(tree)))
		for _, tree := range []func() (decl.Tree, error){
			func() (decl.Tree, error) { return withGit(t, g).Tree(t.Context(), gitrepo.ID(commit)) },
			func() (decl.Tree, error) { return open(t, g).Tree(t.Context(), gitrepo.ID(commit)) },
		} {
			tree, err := tree()
			noError(t, err)
			_, err = tree.List(t.Context(), "")
			if f := wantCode(t, err, fault.SurfaceUnreadable); !strings.Contains(f.Message, "broken tree") {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
}

func hexByte(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
}

// The settings that decide what a surface is are read from the same files.
func TestReadsTheSameSettings(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("config", "--global", "evolve.core", "global/*")
	g.Git("config", "--add", "evolve.core", "deep/*/agent")
	g.Git("config", "--add", "evolve.knownValue", `with "quotes" # and ; more`)
	g.Git("config", "extensions.worktreeConfig", "true")
	g.Git("config", "--worktree", "evolve.core", "worktree/*")
	want, err := withGit(t, g).Config(t.Context())
	noError(t, err)
	got, err := open(t, g).Config(t.Context())
	noError(t, err)
	for _, key := range []string{"evolve.core", "evolve.knownValue", "user.name"} {
		var a, b []string
		for _, s := range want.All(key) {
			a = append(a, s.Scope+" "+s.Value)
		}
		for _, s := range got.All(key) {
			b = append(b, s.Scope+" "+s.Value)
		}
		equal(t, key, strings.Join(b, "\n"), strings.Join(a, "\n"))
	}
}

// withGit opens the repository with a git program.
func withGit(t *testing.T, g *gittest.Repo) *gitrepo.Repo {
	t.Helper()
	r, err := gitrepo.Open(t.Context(), gitrepo.Options{Dir: g.Dir(), Env: g.Env()})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func wantCode(t *testing.T, err error, code fault.Code) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code {
		t.Fatalf("got error %v, want code %s", err, code)
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

func writeFile(t *testing.T, path, data string, mode os.FileMode) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	noError(t, os.WriteFile(path, []byte(data), mode))
	noError(t, os.Chmod(path, mode))
}
