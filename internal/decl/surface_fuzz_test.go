package decl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

// treeOf makes a tree of lines "path", "path content", or "path\x01" for a
// symbolic link. Lines that clash with others are left out.
func treeOf(lines string) *decltest.Tree {
	tree := decltest.Files(nil)
	taken := map[string]bool{}
	for i, line := range strings.Split(lines, "\n") {
		path, content, _ := strings.Cut(line, "\t")
		path, link := strings.CutSuffix(path, "\x01")
		parts := strings.Split(path, "/")
		bad := i >= 50 || len(parts) > 8 || slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." })
		for n := range parts {
			bad = bad || taken[strings.Join(parts[:n], "/")+"\x00file"]
		}
		if bad || taken[path] {
			continue
		}
		for n := range parts {
			taken[strings.Join(parts[:n+1], "/")] = true
		}
		taken[path+"\x00file"] = true
		mode := decl.ModeRegular
		if link {
			mode = decl.ModeSymlink
		}
		tree.Put(path, mode, content)
	}
	return tree
}

// FuzzSurface walks trees for arguments. A surface is the same each time, also
// without object ids, and whatever it binds is seen when it changes.
func FuzzSurface(f *testing.F) {
	for _, seed := range [][3]string{
		{"python", "tools/server.py", "tools/server.py\ntools/lib/x.py\nREADME\n"},
		{"./my tools/run", "", "my tools/run\n"},
		{"node", "-r./a/b=@acme/x.js", "a/b=@acme/x.js\na/b\x01"},
		{"python", "-mpkg.server", "pkg/server.py\njson.py\nsrc/pkg/server.py"},
		{"sh", "-c cd ..", "x\none/agent.yaml\n"},
		{"npx", "@acme/x@1", "package.json\t{\"name\":\"@acme/x\",\"workspaces\":[\"**\"]}\np/package.json\t{\"name\":\"@acme/x\"}\n"},
		{"x", "/home/a/b/../tools/x", "tools/x\nTOOLS/y\n"},
		{"bash", "a/s.sh", "a/s.sh\texec ../b/x.js ../../c\nb/x.js\trequire('../a/s')\n"},
		{"x", "..\\..\\$X/%CD%/a", "a\n.gitattributes\t* text\n"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, command, arg, lines string) {
		if len(command)+len(arg)+len(lines) > 4096 {
			return
		}
		tree := treeOf(lines)
		tree.Put("agent/mcp/fuzz.yaml", decl.ModeRegular, fmt.Sprintf("command: %s\nargs: [%s]\n", yamlText(command), yamlText(arg)))
		s := load(t, tree)
		if got := deltas(t, tree, tree); len(got) > 0 {
			t.Fatalf("a tree differs from itself: %v", got)
		}
		if slices.ContainsFunc(s.AllProblems(), func(p decl.Problem) bool { return p.Code == decl.SurfaceTooLarge }) {
			return
		}
		for _, c := range s.Cores {
			for _, path := range s.Paths(c.Dir) {
				if strings.HasSuffix(path, "agent.yaml") {
					continue // some of its bytes mean nothing
				}
				after := tree.Clone()
				after.Put(path, decl.ModeExecutable, "changed")
				if got := names(t, s, load(t, after)); len(got) == 0 {
					t.Errorf("%q is bound, and its change is not seen", path)
				}
			}
		}
	})
}

// yamlText is a double-quoted YAML scalar that reads back as the bytes of s that
// are text.
func yamlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		fmt.Fprintf(&b, `\U%08x`, r)
	}
	return b.String() + `"`
}
