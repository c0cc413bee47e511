package gitrepo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestReadCommit(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	two := g.Commit(map[string]string{"a": "2\n"}, "two")
	tree := g.Git("rev-parse", "HEAD^{tree}")
	merge := g.Git("commit-tree", "-p", two, "-p", one, "-m", "subject\n\nbody\n\nMCP-Review: x", tree)
	c, err := open(t, g).ReadCommit(t.Context(), ID(merge))
	noError(t, err)
	equal(t, "id", c.ID, ID(merge))
	equal(t, "tree", c.Tree, ID(tree))
	equal(t, "parents", fmt.Sprint(c.Parents), fmt.Sprintf("[%s %s]", two, one))
	equal(t, "message", c.Message, "subject\n\nbody\n\nMCP-Review: x\n")
	who := Person{Name: "Grace Example", Email: "grace@example.com", When: time.Date(2026, 1, 1, 9, 1, 0, 0, time.UTC)}
	equal(t, "author", c.Author, who)
	equal(t, "committer", c.Committer, who)
}

func TestReadCommitOfOddShape(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"a": "1\n"}, "one")
	tree := g.Git("rev-parse", "HEAD^{tree}")
	const people = "author A U Thor <a@example.com> 100 +0200\ncommitter C <c> 200 -0000\n"
	r := open(t, g)
	for name, c := range map[string]struct{ data, message, author string }{
		"no message":        {"tree " + tree + "\n" + people, "", "A U Thor"},
		"empty message":     {"tree " + tree + "\n" + people + "\n", "", "A U Thor"},
		"signed":            {"tree " + tree + "\n" + people + "gpgsig -----BEGIN\n \n abc\n -----END\n\nsigned\n", "signed\n", "A U Thor"},
		"forged header":     {"tree " + tree + "\n" + people + "\nmessage\n\nparent " + tree + "\n", "message\n\nparent " + tree + "\n", "A U Thor"},
		"not UTF-8":         {"tree " + tree + "\n" + people + "encoding latin1\n\n\xe4\n", "\xe4\n", "A U Thor"},
		"author of no form": {"tree " + tree + "\nauthor ?\ncommitter >< 12x\n\nm", "m", "?"},
		"huge date":         {"tree " + tree + "\nauthor A <a> 99999999999999999999 +0000\ncommitter B <b> 1 +0000\n\nm", "m", "A"},
	} {
		id := g.WriteRawObject("commit", []byte(c.data))
		got, err := r.ReadCommit(t.Context(), ID(id))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equal(t, name+": message", got.Message, c.message)
		equal(t, name+": author", got.Author.Name, c.author)
		equal(t, name+": parents", len(got.Parents), 0)
	}
	for name, data := range map[string]string{
		"empty":             "",
		"no tree":           people + "\nm",
		"short tree":        "tree " + tree[:39] + "\n" + people + "\nm",
		"upper case":        "tree " + strings.ToUpper(tree) + "\n" + people + "\nm",
		"tree of zeros":     "tree " + strings.Repeat("0", 40) + "\n" + people + "\nm",
		"parent of no form": "tree " + tree + "\nparent x\n" + people + "\nm",
		"parent too late":   "tree " + tree + "\nauthor A <a> 1 +0000\nparent " + tree + "\ncommitter B <b> 1 +0000\n\nm",
		"two trees":         "tree " + tree + "\ntree " + tree + "\n" + people + "\nm",
		"no author":         "tree " + tree + "\ncommitter B <b> 1 +0000\n\nm",
		"no committer":      "tree " + tree + "\nauthor A <a> 1 +0000\n\nm",
		"hidden author":     "tree " + tree + "\n\nauthor A <a> 1 +0000\ncommitter B <b> 1 +0000\n\nm",
	} {
		if _, err := r.ReadCommit(t.Context(), ID(g.WriteRawObject("commit", []byte(data)))); err == nil {
			t.Errorf("%s: it reads", name)
		} else {
			wantCode(t, err, fault.SurfaceUnreadable)
		}
	}
	long := g.WriteRawObject("commit", []byte("tree "+tree+"\n"+people+"\n"+strings.Repeat("x", MaxCommitBytes)))
	_, err := r.ReadCommit(t.Context(), ID(long))
	wantCode(t, err, fault.SurfaceUnreadable)
}

func TestIdentity(t *testing.T) {
	g := gittest.New(t)
	p, err := open(t, g).Identity(t.Context())
	noError(t, err)
	equal(t, "identity", p.Name+" <"+p.Email+">", "Grace Example <grace@example.com>")

	g.Git("config", "user.useConfigOnly", "true")
	env := []string{"PATH=" + pathOf(g), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	_, err = openWith(t, Options{Dir: g.Dir(), Env: env}).Identity(t.Context())
	if f := wantCode(t, err, fault.ConfigInvalid); !strings.Contains(f.Hint, "user.name") {
		t.Error(f.Hint)
	}
}

func pathOf(g *gittest.Repo) string {
	path, _ := Lookup(g.Env(), "PATH")
	return path
}

// FuzzParseCommit holds the parser to no panic, and to ids in every field that
// claims to be one.
func FuzzParseCommit(f *testing.F) {
	tree := strings.Repeat("ab", 20)
	f.Add([]byte("tree " + tree + "\nparent " + tree + "\nauthor A <a> 1 +0000\ncommitter B <b> 2 +0000\n\nm"))
	f.Add([]byte("tree " + tree + "\nauthor\ncommitter <\n\n"))
	r := &Repo{format: "sha1"}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := parseCommit("", data, r.digits())
		if c == nil {
			return
		}
		for _, id := range append(c.Parents, c.Tree) {
			if !r.isID(string(id)) || !strings.Contains(string(data), string(id)) {
				t.Fatalf("%q is no id of the commit", id)
			}
		}
		if !strings.HasSuffix(string(data), c.Message) {
			t.Fatalf("message %q", c.Message)
		}
	})
}
