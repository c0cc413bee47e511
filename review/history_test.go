package review

import (
	"context"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// edits are what happens to a repository in TestHistoryIsSearchedWhole. An empty
// text removes the file.
var edits = []map[string]string{
	{"README": "2\n"}, {"README": "3\n"},
	{"agent/mcp/docs.yaml": docs("1")}, {"agent/mcp/docs.yaml": docs("2")}, {"agent/mcp/docs.yaml": ""},
	{"agent/mcp/run.yaml": "command: node\nargs: [server/main.js]\n"}, {"agent/mcp/run.yaml": "command: node\n"},
	{"server/main.js": "1\n"}, {"server/main.js": "2\n"},
	{"agent.yaml": "slots: {mcp: other}\n"}, {"agent.yaml": "capabilities: {defaults: {mcp.connect:docs: {scope: core}}}\n"}, {"agent.yaml": ""},
	{"other/docs.yaml": docs("7")}, {"other/docs.yaml": ""},
	{"x/agent/mcp/a.yaml": docs("1")}, {"x/agent/mcp/a.yaml": ""}, {"x/agent.yaml": "{}\n"}, {"x/agent.yaml": ""},
	{"package.json": "{}\n"}, {"package.json": ""}, {".gitattributes": "*.md text\n"}, {".gitattributes": ""},
	{"deep/core/README": "1\n"}, {"deep/core/README": ""}, {"deep/core/agent/mcp/a.yaml": docs("1")}, {"deep/core/agent/mcp/a.yaml": ""},
}

// TestHistoryIsSearchedWhole holds the search by paths against looking at every
// commit, on histories with merges in which cores, roots and launched files come
// and go.
func TestHistoryIsSearchedWhole(t *testing.T) {
	h := build(t)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed sequence is wanted
	surface := func(ctx context.Context, commit gitrepo.ID) (*decl.Surface, error) {
		tree, err := h.repo.Tree(ctx, commit)
		if err != nil {
			return nil, err
		}
		return decl.LoadSurface(ctx, tree, decl.Options{CorePatterns: []string{"deep/*"}})
	}
	compare := func(a, b gitrepo.ID) []decl.Delta {
		before, err := surface(h.ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		after, err := surface(h.ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		deltas, err := decl.Compare(h.ctx, before, after)
		if err != nil {
			t.Fatal(err)
		}
		return deltas
	}
	usedUp := map[bool]int{}
	for range 10 {
		ids := h.wander(random)
		base, old := ids[0], ids[len(ids)-1]
		for _, head := range ids[1:] {
			deltas := compare(base, head)
			if len(deltas) == 0 {
				continue
			}
			body := sample()
			body.Predicate.Base, body.Predicate.Change = string(base), itemLines(body.Predicate.Salt, deltas)
			r := &Record{Token: Token{digits}, Statement: &Statement{body: body}}
			v := &verifier{repo: h.repo, policy: &Policy{}, move: Move{Ref: ref, Old: old, New: head}, walk: surfaces{read: surface}}
			named := map[decl.ItemKey]bool{}
			for _, d := range deltas {
				named[d.Key] = true
			}
			steps, err := h.repo.ChangingSteps(h.ctx, base, old, []string{""})
			if err != nil {
				t.Fatal(err)
			}
			wantUsed := false
			for _, s := range steps {
				changed, err := v.changes(h.ctx, s, named)
				if err != nil {
					t.Fatal(err)
				}
				wantUsed = wantUsed || changed
			}
			usedUp[wantUsed]++
			err = v.unused(h.ctx, r)
			if err != nil && fault.CodeOf(err) != fault.TokenUsed {
				t.Fatal(err)
			}
			if (err != nil) != wantUsed {
				t.Errorf("%s..%s names %v: used is %v, want %v", brief(base), brief(old), r.Statement.Keys(), err, wantUsed)
			}
		}
	}
	if usedUp[true] < 10 {
		t.Errorf("the histories are too tame: %v", usedUp)
	}
}

// wander makes a history of random edits and merges from one commit on.
func (h *house) wander(random *rand.Rand) []gitrepo.ID {
	h.t.Helper()
	files := merged("1", "1", "README", "1\n", "server/main.js", "0\n")
	states := []map[string]string{files}
	ids := []string{h.CommitOn(nil, files, "base")}
	for range 6 {
		at := max(0, len(ids)-1-random.IntN(3))
		next := maps.Clone(states[at])
		parents := []string{ids[at]}
		if other := random.IntN(len(ids)); other != at && random.IntN(3) == 0 {
			parents = append(parents, ids[other])
			maps.Copy(next, states[other])
		}
		for range 1 + random.IntN(2) {
			maps.Copy(next, edits[random.IntN(len(edits))])
		}
		maps.DeleteFunc(next, func(_, text string) bool { return text == "" })
		states = append(states, next)
		ids = append(ids, h.CommitOn(parents, next, "edit"))
	}
	out := make([]gitrepo.ID, 0, len(ids))
	for _, id := range ids {
		out = append(out, gitrepo.ID(id))
	}
	return out
}
