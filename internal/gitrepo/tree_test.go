package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// listing writes a directory as "name mode" words.
func listing(entries []decl.Entry) string {
	var words []string
	for _, e := range entries {
		words = append(words, fmt.Sprintf("%s:%o", e.Name, e.Mode))
	}
	return strings.Join(words, " ")
}

// busyRepo has an entry of every kind, and an ignored and an untracked file.
func busyRepo(t *testing.T) *gittest.Repo {
	t.Helper()
	g := gittest.New(t)
	writeFile(t, g.Path("agent/mcp/run.sh"), "#!/bin/sh\n", 0o755)
	writeFile(t, g.Path("agent/mcp/group.sh"), "#!/bin/sh\n", 0o654)
	noError(t, os.Symlink("docs.yaml", g.Path("agent/mcp/link")))
	noError(t, os.Symlink("agent", g.Path("alias")))
	g.Write(map[string]string{"agent/mcp/docs.yaml": "command: docs\n", "agent.x": "", "agent0": "", ".gitignore": "ignored\n"})
	sub := gittest.New(t)
	sub.Commit(map[string]string{"a": "1\n"}, "sub")
	g.Git("-c", "protocol.file.allow=always", "submodule", "-q", "add", sub.Dir(), "sub")
	g.Commit(nil, "one")
	return g
}

func TestTreeAndWorkingTreeAgree(t *testing.T) {
	g := busyRepo(t)
	r := open(t, g)
	committed, err := r.Tree(t.Context(), ID(g.Git("rev-parse", "HEAD")))
	noError(t, err)
	onDisk, err := r.WorkingTree()
	noError(t, err)
	for dir, want := range map[string]string{
		"":          ".gitignore:100644 .gitmodules:100644 agent:40000 agent.x:100644 agent0:100644 alias:120000 sub:160000",
		"agent":     "mcp:40000",
		"agent/mcp": "docs.yaml:100644 group.sh:100644 link:120000 run.sh:100755",
	} {
		for kind, tree := range map[string]decl.Tree{"commit": committed, "working tree": onDisk} {
			entries, err := tree.List(t.Context(), dir)
			noError(t, err)
			equal(t, kind+" "+dir, listing(entries), want)
		}
	}
	for _, dir := range []string{"absent", "agent/absent", "alias", "alias/mcp", "agent0", "agent0/x", "sub", "sub/x", "/", "agent/", "/agent", "agent//mcp", ".", "..", "agent/..", ".git"} {
		for kind, tree := range map[string]decl.Tree{"commit": committed, "working tree": onDisk} {
			if dir == "sub" && kind == "working tree" {
				continue // a directory on disk
			}
			if entries, err := tree.List(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s %s: %s, %v", kind, dir, listing(entries), err)
			}
		}
	}
	for kind, tree := range map[string]decl.Tree{"commit": committed, "working tree": onDisk} {
		entries, err := tree.List(t.Context(), "agent/mcp")
		noError(t, err)
		for i, want := range []string{"command: docs\n", "#!/bin/sh\n", "docs.yaml", "#!/bin/sh\n"} {
			data, err := tree.Read(t.Context(), "agent/mcp", entries[i], 100)
			if err != nil || string(data) != want {
				t.Errorf("%s %s: %q, %v", kind, entries[i].Name, data, err)
			}
		}
		_, err = tree.Read(t.Context(), "agent/mcp", entries[0], 5)
		wantCode(t, err, fault.SurfaceUnreadable)
		if !errors.Is(err, decl.ErrTooLarge) {
			t.Errorf("%s: %v is no decl.ErrTooLarge", kind, err)
		}
	}
}

// A caller may change what it was given.
func TestTreeListIsACopy(t *testing.T) {
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n", "b": "2\n"}, "one")
	tree, err := open(t, g).Tree(t.Context(), ID(id))
	noError(t, err)
	first, err := tree.List(t.Context(), "")
	noError(t, err)
	first[0].Name = "changed"
	second, err := tree.List(t.Context(), "")
	noError(t, err)
	equal(t, "name", second[0].Name, "a")
}

func TestTheCacheIsBounded(t *testing.T) {
	var c cache[[]decl.Entry]
	for i := range 1000 {
		c.put(ID(fmt.Sprint(i)), nil, 1<<20)
	}
	if len(c.held) > 16 {
		t.Errorf("%d trees of 1 MiB are kept", len(c.held))
	}
	if _, ok := c.get("999"); !ok {
		t.Error("the last one is gone")
	}
}

func TestReadBlobAt(t *testing.T) {
	g := busyRepo(t)
	r := open(t, g)
	head := ID(g.Git("rev-parse", "HEAD"))
	data, err := readBlobAt(t.Context(), r, head, "agent/mcp/docs.yaml", 100)
	noError(t, err)
	equal(t, "docs", string(data), "command: docs\n")
	for _, path := range []string{"", "absent", "agent", "agent/mcp/link", "alias/mcp/docs.yaml", "sub", "agent/mcp/", "/agent0", "agent/mcp/Docs.yaml"} {
		if data, err := readBlobAt(t.Context(), r, head, path, 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %q, %v", path, data, err)
		}
	}
}

func TestWorkingTreeReadsBytesOnDisk(t *testing.T) {
	g := busyRepo(t)
	g.Write(map[string]string{"ignored": "", "untracked": "", "agent/mcp/docs.yaml": "command: edited\r\n"})
	writeFile(t, g.Path(".gitattributes"), "* text=auto eol=lf\n", 0o666)
	writeFile(t, g.Path("nested/.git/HEAD"), "x", 0o666)
	tree, err := open(t, g).WorkingTree()
	noError(t, err)
	entries, err := tree.List(t.Context(), "")
	noError(t, err)
	want := ".gitattributes:100644 .gitignore:100644 .gitmodules:100644 agent:40000 agent.x:100644 agent0:100644 " +
		"alias:120000 ignored:100644 nested:160000 sub:160000 untracked:100644"
	equal(t, "root", listing(entries), want)
	data, err := tree.Read(t.Context(), "agent/mcp", decl.Entry{Name: "docs.yaml", Mode: decl.ModeRegular}, 100)
	noError(t, err)
	equal(t, "an edited file", string(data), "command: edited\r\n")
	for _, e := range entries {
		equal(t, "an id on disk", e.ID, "")
	}
	for _, e := range []decl.Entry{{Name: "absent"}, {Name: "mcp"}, {Name: "../agent0"}} {
		if data, err := tree.Read(t.Context(), "agent", e, 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", e.Name, data, err)
		}
	}
}
