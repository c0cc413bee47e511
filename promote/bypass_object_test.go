package promote

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// objects writes objects that Git itself would not.
type objects struct {
	t *testing.T
	g *gittest.Repo
}

// entry is one entry of a tree object as its bytes are.
func (o objects) entry(mode, name, id string) string {
	raw, err := hex.DecodeString(id)
	noError(o.t, err)
	return mode + " " + name + "\x00" + string(raw)
}

func (o objects) blob(data string) string { return o.g.WriteRawObject("blob", []byte(data)) }

func (o objects) tree(entries ...string) string {
	return o.g.WriteRawObject("tree", []byte(strings.Join(entries, "")))
}

// loose stores bytes under an id, whatever they hash to.
func (o objects) loose(id, header string, data []byte) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(header + "\x00"))
	_, _ = w.Write(data)
	noError(o.t, w.Close())
	path := o.g.Path(".git/objects/" + id[:2] + "/" + id[2:])
	_ = os.Remove(path)
	writeFile(o.t, path, b.String(), 0o444)
	return id
}

// core is a root tree whose agent/mcp is the given tree, with a README and what
// else is wanted.
func (o objects) core(mcp string, more ...string) string {
	agent := o.tree(o.entry("40000", "mcp", mcp))
	return o.tree(append([]string{o.entry("100644", "README", o.blob("x")), o.entry("40000", "agent", agent)}, more...)...)
}

const somewhere = "00112233445566778899aabbccddeeff00112233"

// objectBypasses are heads whose objects are not what they should be. Each is a
// tree that two readers would take for two different sets of files.
var objectBypasses = []struct {
	name string
	make func(o objects) string // the head's root tree
	want fault.Code
}{
	{"as Git writes it", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n"))))
	}, fault.TokenMissing},
	{"two entries of one name", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n")), o.entry("100644", "a.yaml", o.blob("command: y\n"))))
	}, fault.SurfaceUnreadable},
	{"two identical entries", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n")), o.entry("100644", "a.yaml", o.blob("command: x\n"))))
	}, fault.SurfaceUnreadable},
	{"entries out of order", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "b.yaml", o.blob("command: x\n")), o.entry("100644", "a.yaml", o.blob("command: y\n"))))
	}, fault.SurfaceUnreadable},
	{"a file and a directory of one name", func(o objects) string {
		dir := o.tree(o.entry("100644", "x", o.blob("1")))
		return o.core(o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n")), o.entry("40000", "a.yaml", dir)))
	}, fault.SurfaceUnreadable},
	{"two agents", func(o objects) string {
		one := o.tree(o.entry("40000", "mcp", o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n")))))
		two := o.tree(o.entry("40000", "mcp", o.tree(o.entry("100644", "a.yaml", o.blob("command: y\n")))))
		return o.tree(o.entry("40000", "agent", one), o.entry("40000", "agent", two))
	}, fault.SurfaceUnreadable},
	{"a mode with a zero in front", func(o objects) string {
		mcp := o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n")))
		return o.tree(o.entry("40000", "agent", o.tree(o.entry("040000", "mcp", mcp))))
	}, fault.SurfaceUnreadable},
	{"a mode that Git does not write", func(o objects) string {
		return o.core(o.tree(o.entry("100664", "a.yaml", o.blob("command: x\n"))))
	}, fault.SurfaceUnreadable},
	{"a name with a slash", func(o objects) string {
		return o.tree(o.entry("100644", "agent/mcp/a.yaml", o.blob("command: x\n")))
	}, fault.SurfaceUnreadable},
	{"a name that is two dots", func(o objects) string {
		return o.core(o.tree(o.entry("40000", "..", o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n"))))))
	}, fault.SurfaceUnreadable},
	{"an empty name", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "", o.blob("command: x\n"))))
	}, fault.SurfaceUnreadable},
	{"a directory named .git", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n"))), o.entry("40000", "z", o.tree(o.entry("40000", ".GIT", o.tree()))))
	}, fault.SurfaceUnreadable},
	{"an entry that is cut short", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n"))[:20]))
	}, fault.SurfaceUnreadable},
	{"a blob where a tree must be", func(o objects) string { return o.core(o.blob("command: x\n")) }, fault.SurfaceUnreadable},
	{"a tree where a blob must be", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.tree())))
	}, fault.SurfaceUnreadable},
	{"a blob that is not there", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", somewhere)))
	}, fault.SurfaceUnreadable},
	{"a declaration under another's id", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.loose(somewhere, "blob 11", []byte("command: y\n")))))
	}, fault.SurfaceUnreadable},
	{"a tree under another's id", func(o objects) string {
		entry := o.entry("100644", "a.yaml", o.blob("command: y\n"))
		return o.core(o.loose(somewhere, fmt.Sprintf("tree %d", len(entry)), []byte(entry)))
	}, fault.SurfaceUnreadable},
	{"a launched file under another's id", func(o objects) string {
		mcp := o.tree(o.entry("100644", "a.yaml", o.blob("command: run/a\n")))
		return o.core(mcp, o.entry("40000", "run", o.tree(o.entry("100755", "a", o.loose(somewhere, "blob 1", []byte("y"))))))
	}, fault.SurfaceUnreadable},
	{"a launched file of more bytes than a surface may have", func(o objects) string {
		mcp := o.tree(o.entry("100644", "a.yaml", o.blob("command: run/a\n")))
		return o.core(mcp, o.entry("40000", "run", o.tree(o.entry("100755", "a", o.loose(somewhere, "blob 300000000", nil)))))
	}, fault.SurfaceUnreadable},
	{"a tree of more bytes than are read", func(o objects) string {
		return o.core(o.loose(somewhere, "tree 300000000", nil))
	}, fault.SurfaceUnreadable},
	{"a declaration that says it is large", func(o objects) string {
		return o.core(o.tree(o.entry("100644", "a.yaml", o.loose(somewhere, "blob 300000000", nil))))
	}, fault.DeclarationInvalid},
	{"a broken tree that nothing binds", func(o objects) string {
		mcp := o.tree(o.entry("100644", "a.yaml", o.blob("command: x\n")))
		one := o.entry("100644", "x", o.blob("1"))
		return o.core(mcp, o.entry("40000", "doc", o.tree(one, one)))
	}, fault.SurfaceUnreadable},
}

func TestBypassByObjects(t *testing.T) {
	for _, row := range objectBypasses {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := &fixture{t: t, g: gittest.New(t), clock: start}
			base := f.g.Commit(map[string]string{"README": "x"}, "base")
			tree := row.make(objects{t, f.g})
			head := f.g.WriteRawObject("commit", fmt.Appendf(nil,
				"tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nhead\n", tree, base))
			f.open()
			_, err := f.gate.Judge(t.Context(), Proposal{Ref: live, Old: gitrepo.ID(base), New: gitrepo.ID(head)})
			wantCode(t, err, row.want)
		})
	}
}
