package promote

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

// world is the base of every row below: each kind of item is in it.
var world = files{
	"agent.yaml":            "approval: {default: prompt}\ncapabilities: {defaults: {a: {scope: core}}}\n",
	"agent/mcp/node.yaml":   "command: node\nargs: [srv/index.js]\n",
	"agent/mcp/module.yaml": "command: python\nargs: [-m, fetch]\ncwd: py\n",
	"agent/mcp/other.yaml":  "command: other\n",
	"srv/index.js":          "require('../lib/a')\n",
	"srv/deep/x":            "1",
	"lib/a.js":              "1",
	"py/httpx.py":           "1",
	"package.json":          "{}\n",
	"node_modules/x/y.js":   "1",
	".gitattributes":        "*.js text\n",
	"doc/notes":             "1",
}

// TestATokenIsOfEveryByte reviews a change of each kind of item, then changes
// one byte of what was reviewed: at each place of the file, its length, its
// mode, its name. No such head may move with the token. What leaves the change
// as it was keeps the token good.
func TestATokenIsOfEveryByte(t *testing.T) {
	for _, row := range []struct {
		kind   string
		path   string // of the file that the reviewed change alters
		to     string
		kinder string // a bound file of another item, which the review did not cover
	}{
		{"the settings of an agent", "agent.yaml", "approval: {default: deny}\ncapabilities: {defaults: {b: {scope: core}}}\n", "srv/deep/x"},
		{"a declaration", "agent/mcp/node.yaml", "command: node\nargs: [srv/index.js, --x]\n", "package.json"},
		{"a new declaration", "agent/mcp/new.yaml", "command: new\n", "agent/mcp/node.yaml"},
		{"a launched file", "srv/index.js", "require('../lib/a') // x\n", ".gitattributes"},
		{"a file beside it", "srv/deep/x", "23", "lib/a.js"},
		{"a new file beside it", "srv/deep/y", "23", "lib/a.js"},
		{"a file that a launched one names", "lib/a.js", "23", "srv/index.js"},
		{"a module in the working directory", "py/httpx.py", "23", "agent.yaml"},
		{"a runner's file", "package.json", "{ }\n", "node_modules/x/y.js"},
		{"a runner's directory", "node_modules/x/y.js", "23", "package.json"},
		{"attributes", ".gitattributes", "*.js -text\n", "srv/deep/x"},
		{"new attributes", "srv/.gitattributes", "*.js text\n", "srv/deep/x"},
	} {
		t.Run(row.kind, func(t *testing.T) {
			t.Parallel()
			h := newHeads(t)
			h.add("base", "", world)
			h.add("reviewed", "base", files{row.path: row.to})
			h.staleOf(row.path, row.to)
			h.add("stale: another item too", "reviewed", files{row.kinder: world[row.kinder] + "#\n"})
			h.add("stale: another declaration too", "reviewed", files{"agent/mcp/more.yaml": "command: more\n"})
			h.add("stale: less", "base", files{"doc/notes": "2"})
			h.add("good: squashed", "base", files{row.path: row.to, "doc/notes": "2"})
			h.add("good: an unrelated commit behind it", "reviewed", files{"doc/notes": "2"})
			h.add("good: by a detour", "stale: less", files{row.path: row.to})
			h.run()
		})
	}
}

// heads collects branches for one run of git fast-import.
type heads struct {
	f      *fixture
	stream strings.Builder
	names  []string
	number map[string]int
}

func newHeads(t *testing.T) *heads {
	return &heads{f: newFixture(t), number: map[string]int{}}
}

func (h *heads) add(name, from string, changes files) {
	h.number[name] = len(h.names)
	h.names = append(h.names, name)
	if from != "" {
		from = "from refs/heads/" + h.branch(from) + "\n"
	}
	h.stream.WriteString(commitStream(h.branch(name), from, changes))
}

func (h *heads) branch(name string) string { return fmt.Sprintf("h%d", h.number[name]) }

// staleOf adds what differs from the reviewed file by one byte, by its mode, by
// its name, or is not there.
func (h *heads) staleOf(path, data string) {
	for i := range len(data) {
		for _, c := range []byte{data[i] ^ 1, data[i] ^ 0x20} {
			changed := []byte(data)
			changed[i] = c
			h.add(fmt.Sprintf("stale: byte %d is %q", i, c), "reviewed", files{path: string(changed)})
		}
		h.add(fmt.Sprintf("stale: without byte %d", i), "reviewed", files{path: data[:i] + data[i+1:]})
	}
	h.add("stale: a byte more", "reviewed", files{path: data + " "})
	h.add("stale: executable", "reviewed", files{"*" + path: data})
	h.add("stale: a symbolic link", "reviewed", files{"@" + path: data})
	h.add("stale: not there", "reviewed", files{"-" + path: ""})
}

// run reviews base to reviewed, and holds the token against every other head.
func (h *heads) run() {
	f := h.f
	f.t.Helper()
	f.g.GitInput(h.stream.String()+"done\n", "fast-import", "--quiet", "--done")
	ids := strings.Fields(f.g.Git(append([]string{"rev-parse"}, h.branches()...)...))
	id := func(name string) gitrepo.ID { return gitrepo.ID(ids[h.number[name]]) }
	r := f.record(live, id("base"), id("reviewed"))
	judge := func(name string) error {
		_, err := f.gate.Judge(f.t.Context(), Proposal{Ref: live, Old: id("base"), New: id(name), Tokens: []review.Token{r.Token}})
		return err
	}
	noError(f.t, judge("reviewed"))
	for _, name := range h.names {
		err := judge(name)
		switch code := fault.CodeOf(err); {
		case strings.HasPrefix(name, "good") && err != nil:
			f.t.Errorf("%s: %v", name, err)
		case !strings.HasPrefix(name, "stale"):
		case code == fault.TokenStale, code == fault.DeclarationInvalid:
		case h.same(id("base"), id("reviewed"), id(name)):
			if err != nil {
				f.t.Errorf("%s: the surface is the same, and yet %v", name, err)
			}
		default:
			f.t.Errorf("%s: %v, want token_stale", name, err)
		}
	}
}

func (h *heads) branches() []string {
	var out []string
	for _, n := range h.names {
		out = append(out, h.branch(n))
	}
	return out
}

// same: a head that needs no token at all, since its surface is that of the base
// or that of the reviewed head. Only agent.yaml has bytes that mean nothing.
func (h *heads) same(base, reviewed, head gitrepo.ID) bool {
	for _, other := range []gitrepo.ID{base, reviewed} {
		j, err := h.f.gate.Examine(h.f.t.Context(), Proposal{Ref: live, Old: "", New: head})
		k, err2 := h.f.gate.Examine(h.f.t.Context(), Proposal{Ref: live, Old: "", New: other})
		if err == nil && err2 == nil && maps.Equal(digests(j), digests(k)) {
			return true
		}
	}
	return false
}

func digests(j *Judgement) map[string]string {
	out := map[string]string{}
	for _, d := range j.Deltas {
		out[fmt.Sprint(d.Key)] = fmt.Sprint(d.After)
	}
	return out
}

// TestAReviewedChangeRebased keeps a token through what other people do to the
// ref: unrelated commits, and another reviewed change; not through a change of
// the same item.
func TestAReviewedChangeRebased(t *testing.T) {
	h := newHeads(t)
	mine, other := files{"srv/deep/x": "2"}, files{"agent/mcp/other.yaml": "command: another\n"}
	h.add("base", "", world)
	h.add("mine", "base", mine)
	h.add("unrelated", "base", files{"doc/notes": "2"})
	h.add("mine on unrelated", "unrelated", mine)
	h.add("other", "base", other)
	h.add("mine on other", "other", mine)
	h.add("clash", "base", files{"srv/deep/x": "3"})
	h.add("mine on clash", "clash", mine)
	h.add("back", "clash", files{"srv/deep/x": "1"})
	h.add("mine on back", "back", mine)
	f := h.f
	f.g.GitInput(h.stream.String()+"done\n", "fast-import", "--quiet", "--done")
	id := func(name string) gitrepo.ID { return gitrepo.ID(f.g.Git("rev-parse", h.branch(name))) }
	r := f.record(live, id("base"), id("mine"))
	for _, row := range []struct {
		old, head string
		want      fault.Code
	}{
		{"base", "mine", ""},
		{"unrelated", "mine on unrelated", ""},
		{"other", "mine on other", ""},
		{"base", "mine on other", fault.TokenStale}, // two changes, one reviewed
		{"clash", "mine on clash", fault.TokenUsed},
		{"back", "mine on back", fault.TokenUsed}, // the same content again is another move
	} {
		_, err := f.gate.Judge(t.Context(), Proposal{Ref: live, Old: id(row.old), New: id(row.head), Tokens: []review.Token{r.Token}})
		if got := fault.CodeOf(err); err != nil && got != row.want || err == nil && row.want != "" {
			t.Errorf("%s to %s: %v, want %q", row.old, row.head, err, row.want)
		}
	}
}
