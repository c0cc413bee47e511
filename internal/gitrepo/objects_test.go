package gitrepo

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// blob reads a blob of a repository by id.
func blob(t *testing.T, r *Repo, id string, limit int64) ([]byte, error) {
	t.Helper()
	return (&commitTree{store: r.store}).Read(t.Context(), "", decl.Entry{Name: "x", Mode: decl.ModeRegular, ID: id}, limit)
}

func TestReadObjects(t *testing.T) {
	for name, options := range map[string][]gittest.Option{"sha1": nil, "sha256": {gittest.SHA256}} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t, options...)
			r := open(t, g)
			for _, data := range []string{"", "\n", "one\ntwo", "nul \x00 and \xff\n\n", "missing\n", strings.Repeat("x", 1<<20)} {
				id := g.WriteRawObject("blob", []byte(data))
				got, err := blob(t, r, id, int64(len(data)))
				if err != nil || string(got) != data {
					t.Errorf("%.20q: got %.20q, %v", data, got, err)
				}
			}
		})
	}
}

func TestReadObjectsCapsBeforeReading(t *testing.T) {
	g := gittest.New(t)
	r := open(t, g)
	huge := g.WriteRawObject("blob", make([]byte, 32<<20))
	small := g.WriteRawObject("blob", []byte("12345"))
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	_, err := blob(t, r, huge, 1<<20)
	goruntime.ReadMemStats(&after)
	wantCode(t, err, fault.SurfaceUnreadable)
	if bytes := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, decl.ErrTooLarge) || bytes > 1<<20 {
		t.Errorf("got %v after %d bytes", err, bytes)
	}
	_, err = blob(t, r, small, 4)
	wantCode(t, err, fault.SurfaceUnreadable)
	got, err := blob(t, r, small, 5)
	noError(t, err)
	equal(t, "a blob after a refused one", string(got), "12345")
	// A refused object costs a child once; from then on sizes are asked for.
	child := r.objects.child
	for range 3 {
		_, err = blob(t, r, huge, 1<<20)
		wantCode(t, err, fault.SurfaceUnreadable)
	}
	if r.objects.child != child {
		t.Error("each object that is too large costs a child")
	}
}

func TestReadObjectsWantsTheKind(t *testing.T) {
	g := gittest.New(t)
	commit := g.Commit(map[string]string{"a": "1\n"}, "one")
	tree := g.Git("rev-parse", "HEAD^{tree}")
	g.Git("tag", "-a", "-m", "x", "v1")
	r := open(t, g)
	for _, id := range []string{commit, tree, g.Git("rev-parse", "v1")} {
		_, err := blob(t, r, id, 1000)
		wantCode(t, err, fault.SurfaceUnreadable)
	}
	_, err := r.ReadCommit(t.Context(), ID(tree))
	wantCode(t, err, fault.SurfaceUnreadable)
	for _, e := range []decl.Entry{{Name: "d", Mode: decl.ModeTree, ID: tree}, {Name: "s", Mode: decl.ModeSubmodule, ID: commit}} {
		_, err := (&commitTree{store: r.store}).Read(t.Context(), "", e, 1000)
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, want absence", e.Name, err)
		}
	}
}

// What is no id never reaches Git, where it could be another command.
func TestReadObjectsTakesIDsOnly(t *testing.T) {
	g := gittest.New(t)
	id := g.WriteRawObject("blob", []byte("1\n"))
	r := open(t, g)
	for _, bad := range []string{"", "HEAD", id[:39], id + "\ninfo " + id, strings.ToUpper(id), strings.Repeat("a", 64), id[:39] + " "} {
		_, err := blob(t, r, bad, 1000)
		wantCode(t, err, fault.SurfaceUnreadable)
	}
	_, err := blob(t, r, strings.Repeat("ab", 20), 1000)
	if f := wantCode(t, err, fault.SurfaceUnreadable); !strings.Contains(f.Message, "not in this repository") {
		t.Error(f)
	}
	_, err = blob(t, r, id, 1000)
	noError(t, err)
}

// forge makes the loose object id hold other bytes.
func forge(t *testing.T, g *gittest.Repo, id, kind, data string) {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := fmt.Fprintf(w, "%s %d\x00%s", kind, len(data), data)
	noError(t, err)
	noError(t, w.Close())
	path := g.Path(".git/objects/" + id[:2] + "/" + id[2:])
	noError(t, os.RemoveAll(path))
	writeFile(t, path, b.String(), 0o444)
}

func TestReadObjectsHashesWhatItReads(t *testing.T) {
	for name, options := range map[string][]gittest.Option{"sha1": nil, "sha256": {gittest.SHA256}} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t, options...)
			first := ID(g.Commit(map[string]string{"agent/mcp/docs.yaml": "command: good\n"}, "one"))
			second := ID(g.Commit(map[string]string{"agent/mcp/docs.yaml": "command: evil\n"}, "two"))
			object := func(rev string) string { return g.Git("rev-parse", rev) }
			raw := func(kind, rev string) string {
				out := g.Git("cat-file", kind, rev)
				if kind != "tree" {
					out += "\n"
				}
				return out
			}
			good, evil := object(string(first)+":agent/mcp/docs.yaml"), object(string(second)+":agent/mcp/docs.yaml")
			forge(t, g, good, "blob", "command: evil\n")
			r := open(t, g)
			_, err := readBlobAt(t.Context(), r, first, "agent/mcp/docs.yaml", 1000)
			if f := wantCode(t, err, fault.SurfaceUnreadable); !strings.Contains(f.Message, "do not match") {
				t.Error(f)
			}
			_, err = readBlobAt(t.Context(), r, second, "agent/mcp/docs.yaml", 1000)
			noError(t, err)
			_ = evil

			root := object(string(first) + "^{tree}")
			forge(t, g, root, "tree", raw("tree", string(second)+"^{tree}"))
			r = open(t, g)
			_, err = readBlobAt(t.Context(), r, first, "agent/mcp/docs.yaml", 1000)
			wantCode(t, err, fault.SurfaceUnreadable)

			forge(t, g, string(first), "commit", raw("commit", string(second)))
			r = open(t, g)
			_, err = r.ReadCommit(t.Context(), first)
			wantCode(t, err, fault.SurfaceUnreadable)
		})
	}
}

func TestReadObjectsSurvivesDamage(t *testing.T) {
	g := gittest.New(t)
	good := g.WriteRawObject("blob", []byte("good\n"))
	for name, damage := range map[string]func(path string){
		"not compressed": func(path string) { writeFile(t, path, "garbage", 0o444) },
		"cut short": func(path string) {
			noError(t, os.Chmod(path, 0o644))
			noError(t, os.Truncate(path, 12))
		},
		"empty": func(path string) { writeFile(t, path, "", 0o444) },
		"unreadable": func(path string) {
			noError(t, os.Remove(path))
			noError(t, os.Mkdir(path, 0o777))
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := g.WriteRawObject("blob", []byte(name+strings.Repeat(" padding", 100)))
			path := g.Path(".git/objects/" + id[:2] + "/" + id[2:])
			noError(t, os.Chmod(path, 0o644))
			damage(path)
			r := open(t, g)
			_, err := blob(t, r, id, 10000)
			wantCode(t, err, fault.SurfaceUnreadable)
			got, err := blob(t, r, good, 1000)
			noError(t, err)
			equal(t, "another object", string(got), "good\n")
		})
	}
}

func TestReadObjectsFromPacksAndAlternates(t *testing.T) {
	g := gittest.New(t)
	for i := range 30 {
		g.Commit(map[string]string{"agent/mcp/docs.yaml": strings.Repeat("# line\n", 100) + fmt.Sprint(i)}, "step")
		if i%10 == 5 {
			g.Git("repack", "-q", "-d")
		}
	}
	g.Git("repack", "-q", "-d")
	shared := filepath.Join(filepath.Dir(g.Dir()), "shared")
	g.Git("clone", "-q", "--shared", "--no-checkout", g.Dir(), shared)
	for _, repo := range []*gittest.Repo{g, g.At(shared)} {
		r := open(t, repo)
		for id := range strings.FieldsSeq(repo.Git("rev-list", "HEAD")) {
			got, err := readBlobAt(t.Context(), r, ID(id), "agent/mcp/docs.yaml", 10000)
			noError(t, err)
			equal(t, id, string(got), repo.Git("cat-file", "blob", id+":agent/mcp/docs.yaml"))
		}
	}
}

func TestReadObjectsNeverFetches(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"agent/mcp/docs.yaml": "command: docs\n"}, "one")
	g.Git("config", "uploadpack.allowFilter", "true")
	g.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			partial := filepath.Join(t.TempDir(), "partial")
			g.Git("clone", "-q", "--no-checkout", "--filter="+filter, "file://"+g.Dir(), partial)
			p := g.At(partial)
			own := p.WriteRawObject("blob", []byte("own\n"))
			missing := func() string { return p.Git("rev-list", "--objects", "--missing=print", "--all") }
			before := missing()
			if !strings.Contains(before, "?") {
				t.Fatal("the clone is not partial")
			}
			r := open(t, p)
			head, err := r.ResolveCommit(t.Context(), "HEAD")
			noError(t, err)
			for range 2 {
				_, err = readBlobAt(t.Context(), r, head, "agent/mcp/docs.yaml", 1000)
				if f := wantCode(t, err, fault.SurfaceUnreadable); !strings.Contains(f.Hint, "git fetch") {
					t.Error(f.Hint)
				}
				got, err := blob(t, r, own, 100)
				noError(t, err)
				equal(t, "an object that is here", string(got), "own\n")
			}
			equal(t, "what is missing", missing(), before)
		})
	}
}

func TestReadObjectsEndsWithItsContext(t *testing.T) {
	g := gittest.New(t)
	id := g.WriteRawObject("blob", []byte("1\n"))
	r := open(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&commitTree{store: r.store}).Read(ctx, "", decl.Entry{Name: "x", Mode: decl.ModeRegular, ID: id}, 10)
	wantCode(t, err, fault.Interrupted)
	_, err = blob(t, r, id, 10) // the next request is another's
	noError(t, err)
	noError(t, r.Close())
	_, err = blob(t, r, id, 10)
	wantCode(t, err, fault.Internal)
	noError(t, r.Close())
}

func TestReadObjectsConcurrently(t *testing.T) {
	g := gittest.New(t)
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = g.WriteRawObject("blob", fmt.Append(nil, i))
	}
	r := open(t, g)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, id := range ids {
				if got, err := blob(t, r, id, 10); err != nil || string(got) != fmt.Sprint(i) {
					t.Errorf("%d: got %q, %v", i, got, err)
				}
			}
		})
	}
	wg.Wait()
}
