package gitrepo

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// rawTree writes the bytes of a tree from "MODE NAME" lines.
func rawTree(id []byte, lines ...string) []byte {
	var b bytes.Buffer
	for _, line := range lines {
		b.WriteString(line + "\x00")
		b.Write(id)
	}
	return b.Bytes()
}

func TestParseTree(t *testing.T) {
	id := bytes.Repeat([]byte{0xab}, 20)
	for name, c := range map[string]struct {
		lines []string
		want  string // names in the order of decl.Tree, or the problem behind a "!"
	}{
		"empty":                      {nil, ""},
		"every mode":                 {[]string{"100644 a", "100755 b", "120000 c", "40000 d", "160000 e"}, "a b c d e"},
		"Git's order of directories": {[]string{"100644 a.b", "40000 a", "100644 a0"}, "a a.b a0"},
		"odd names":                  {[]string{"100644 \x01", "100644 a b", "100644 \xff"}, "\x01 a b \xff"},
		"not Git's":                  {[]string{"100644 .gitattributes", "100644 git", "100644 ..."}, "!order"},

		"unsorted":             {[]string{"100644 b", "100644 a"}, "!order"},
		"sorted as a file":     {[]string{"40000 a", "100644 a.b"}, "!order"},
		"twice":                {[]string{"100644 a", "100644 a"}, "!twice"},
		"file and directory":   {[]string{"100644 a", "100644 a.b", "40000 a"}, "!twice"},
		"file and directory 2": {[]string{"100644 a", "40000 a"}, "!twice"},
		"padded mode":          {[]string{"040000 a"}, "!mode"},
		"group mode":           {[]string{"100664 a"}, "!mode"},
		"no mode":              {[]string{" a"}, "!mode"},
		"letters":              {[]string{"10064x a"}, "!mode"},
		"decimal sign":         {[]string{"+100644 a"}, "!mode"},
		"dot":                  {[]string{"40000 ."}, "!. or .."},
		"dot dot":              {[]string{"40000 .."}, "!. or .."},
		"dot git":              {[]string{"40000 .git"}, "!.git"},
		"dot GIT":              {[]string{"100644 .GIT"}, "!.git"},
		"slash":                {[]string{"100644 a/b"}, "!slash"},
		"no name":              {[]string{"100644 "}, "!no name"},
	} {
		entries, problem := parseTree(rawTree(id, c.lines...), 20)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name)
		}
		if want, bad := strings.CutPrefix(c.want, "!"); bad {
			if entries != nil || !strings.Contains(problem, want) {
				t.Errorf("%s: problem %q, entries %q", name, problem, names)
			}
		} else if problem != "" || strings.Join(names, " ") != want {
			t.Errorf("%s: problem %q, entries %q", name, problem, names)
		}
	}
	whole := rawTree(id, "100644 a")
	for n := 1; n < len(whole); n++ {
		if _, problem := parseTree(whole[:n], 20); problem == "" {
			t.Errorf("cut at %d bytes, it parses", n)
		}
	}
	if _, problem := parseTree(whole, 32); problem == "" {
		t.Error("an id of the other format parses")
	}
}

// A tree that two programs read differently is refused, wherever it stands on
// the way to the file.
func TestTreeRefusesBrokenTrees(t *testing.T) {
	g := gittest.New(t)
	evil := g.WriteRawObject("blob", []byte("command: evil\n"))
	id, err := hex.DecodeString(evil)
	noError(t, err)
	mcp := g.WriteRawObject("tree", rawTree(id, "100644 docs.yaml", "100644 docs.yaml"))
	mcpID, err := hex.DecodeString(mcp)
	noError(t, err)
	agent := g.WriteRawObject("tree", rawTree(mcpID, "40000 mcp"))
	agentID, err := hex.DecodeString(agent)
	noError(t, err)
	root := g.WriteRawObject("tree", rawTree(agentID, "40000 agent"))
	commit := g.Git("commit-tree", "-m", "broken", root)
	r := open(t, g)
	_, err = readBlobAt(t.Context(), r, ID(commit), "agent/mcp/docs.yaml", 1000)
	f := wantCode(t, err, fault.SurfaceUnreadable)
	if !strings.Contains(f.Message, "agent/mcp") || strings.Contains(f.Message, "docs") {
		t.Errorf("the message should name the directory, and no entry: %s", f.Message)
	}
}

// FuzzParseTree holds the parser to what it promises: no panic, and of what it
// accepts one reading only, which writes back to the same bytes.
func FuzzParseTree(f *testing.F) {
	id := bytes.Repeat([]byte{0xab}, 20)
	f.Add(rawTree(id, "100644 a", "100755 b", "120000 c", "40000 d", "160000 e"))
	f.Add(rawTree(id, "100644 a.b", "40000 a", "100644 a0"))
	f.Add(rawTree(id, "100644 a", "100644 a.b", "40000 a"))
	f.Add(rawTree(id, "100644 a", "100644 a"))
	f.Add([]byte("100644 a\x00short"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, size := range []int{20, 32} {
			entries, problem := parseTree(data, size)
			if problem != "" {
				if entries != nil {
					t.Error("entries in spite of a problem")
				}
				continue
			}
			names := map[string]bool{}
			for i, e := range entries {
				if names[e.Name] || strings.ContainsAny(e.Name, "/\x00") || i > 0 && entries[i-1].Name >= e.Name {
					t.Fatalf("entry %q", e.Name)
				}
				names[e.Name] = true
			}
			if got := writeTree(t, entries); !bytes.Equal(got, data) {
				t.Fatalf("%q is read as %q", data, got)
			}
		}
	})
}

// writeTree writes a tree as Git does.
func writeTree(t *testing.T, entries []decl.Entry) []byte {
	key := func(e decl.Entry) string {
		if e.Mode == decl.ModeTree {
			return e.Name + "/"
		}
		return e.Name
	}
	entries = slices.SortedFunc(slices.Values(entries), func(a, b decl.Entry) int { return cmp.Compare(key(a), key(b)) })
	modes := map[decl.Mode]string{}
	for spelled, mode := range treeModes {
		modes[mode] = spelled
	}
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.ID)
		noError(t, err)
		b.WriteString(modes[e.Mode] + " " + e.Name + "\x00")
		b.Write(id)
	}
	return b.Bytes()
}
