package gitrepo

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// graph builds commits by name. Each holds agent/mcp/docs.yaml and other.txt,
// with the contents given.
type graph struct {
	t    *testing.T
	g    *gittest.Repo
	ids  map[string]string
	name map[ID]string
}

func newGraph(t *testing.T, g *gittest.Repo) *graph {
	return &graph{t: t, g: g, ids: map[string]string{}, name: map[ID]string{"": "-"}}
}

// add makes a commit, such as add("merge", "docs 2", "other 1", "left", "right").
func (h *graph) add(name, docs, other string, parents ...string) {
	h.t.Helper()
	var ids []string
	for _, p := range parents {
		ids = append(ids, h.ids[p])
	}
	id := h.g.CommitOn(ids, map[string]string{"agent/mcp/docs.yaml": docs, "other.txt": other}, name)
	h.ids[name], h.name[ID(id)] = id, name
}

func (h *graph) id(name string) ID { return ID(h.ids[name]) }

// steps names the changing steps of base..tip as "parent>commit" words.
func (h *graph) steps(r *Repo, base, tip string, paths ...string) string {
	h.t.Helper()
	steps, err := r.ChangingSteps(h.t.Context(), h.id(base), h.id(tip), paths)
	noError(h.t, err)
	var words []string
	for _, s := range steps {
		words = append(words, h.name[s.Parent]+">"+h.name[s.Commit])
	}
	return strings.Join(words, " ")
}

const docs = "agent/mcp/docs.yaml"

func TestIsAncestorAndMergeBase(t *testing.T) {
	g := gittest.New(t)
	h := newGraph(t, g)
	h.add("root", "1", "1")
	h.add("left", "2", "1", "root")
	h.add("right", "1", "2", "root")
	h.add("merge", "2", "2", "left", "right")
	h.add("cross", "2", "2", "right", "left")
	h.add("island", "1", "1")
	r := open(t, g)
	for pair, want := range map[string]bool{
		"root merge": true, "merge root": false, "left right": false, "right merge": true, "merge merge": true, "island merge": false,
	} {
		a, b, _ := strings.Cut(pair, " ")
		got, err := r.IsAncestor(t.Context(), h.id(a), h.id(b))
		noError(t, err)
		equal(t, pair, got, want)
	}
	_, err := r.IsAncestor(t.Context(), ID(strings.Repeat("ab", 20)), h.id("root"))
	wantCode(t, err, fault.GitFailed)

	for pair, want := range map[string]string{"left right": "root", "root merge": "root", "merge right": "right"} {
		a, b, _ := strings.Cut(pair, " ")
		got, err := r.MergeBase(t.Context(), h.id(a), h.id(b))
		noError(t, err)
		equal(t, pair, h.name[got], want)
	}
	for _, pair := range []string{"merge cross", "left island"} {
		a, b, _ := strings.Cut(pair, " ")
		_, err := r.MergeBase(t.Context(), h.id(a), h.id(b))
		if f := wantCode(t, err, fault.RevisionUnknown); !strings.Contains(f.Hint, "evolve diff") {
			t.Error(f.Hint)
		}
	}
}

func TestRange(t *testing.T) {
	g := gittest.New(t)
	h := newGraph(t, g)
	h.add("root", "1", "1")
	h.add("left", "2", "1", "root")
	h.add("right", "1", "2", "root")
	h.add("merge", "2", "2", "left", "right")
	r := open(t, g)
	for span, want := range map[string]string{
		"left merge": "merge right", "root root": "", "merge root": "", " merge": "merge right left root",
	} {
		base, tip, _ := strings.Cut(span, " ")
		ids, err := r.Range(t.Context(), h.id(base), h.id(tip), 4)
		noError(t, err)
		var names []string
		for _, id := range ids {
			names = append(names, h.name[id])
		}
		equal(t, span, strings.Join(names, " "), want)
	}
	_, err := r.Range(t.Context(), "", h.id("merge"), 3)
	wantCode(t, err, fault.Unsupported)
}

func TestChangingSteps(t *testing.T) {
	g := gittest.New(t)
	h := newGraph(t, g)
	h.add("root", "1", "1")
	h.add("docs", "2", "1", "root")
	h.add("other", "2", "2", "docs")
	h.add("back", "1", "2", "other")
	r := open(t, g)
	equal(t, "docs", h.steps(r, "root", "back", docs), "root>docs other>back")
	equal(t, "other", h.steps(r, "root", "back", "other.txt"), "docs>other")
	equal(t, "a directory", h.steps(r, "root", "back", "agent"), "root>docs other>back")
	equal(t, "a neighbour in the directory", h.steps(r, "root", "back", "agent/mcp/web.yaml"), "")
	equal(t, "all", h.steps(r, "root", "back", ""), "root>docs docs>other other>back")
	equal(t, "several", h.steps(r, "root", "back", "other.txt", docs), "root>docs docs>other other>back")
	equal(t, "none", h.steps(r, "root", "back"), "")
	equal(t, "no commits", h.steps(r, "back", "back", docs), "")
	equal(t, "the whole history", h.steps(r, "", "docs", docs), "->root root>docs")
}

// Pathspecs mean what they say, from wherever evolve is started.
func TestChangingStepsTakesPathsLiterally(t *testing.T) {
	g := gittest.New(t)
	var ids []string
	var parents []string
	files := map[string]string{"sub/agent/a": "1"}
	for _, change := range []string{"agent/a", "*", ":(top)x", "sp ace/ä\n\"", "agent/b"} {
		id := g.CommitOn(parents, files, "step")
		ids, parents = append(ids, id), []string{id}
		files[change] = "changed"
	}
	last := g.CommitOn(parents, files, "last")
	g.Git("reset", "-q", "--hard", last)
	ids = append(ids, last)
	r := openWith(t, Options{Dir: g.Path("sub"), Env: g.Env()})
	for n, path := range map[int]string{1: "agent/a", 2: "*", 3: ":(top)x", 4: "sp ace/ä\n\"", 5: "agent/b"} {
		steps, err := r.ChangingSteps(t.Context(), ID(ids[0]), ID(last), []string{path})
		noError(t, err)
		if len(steps) != 1 || steps[0].Commit != ID(ids[n]) {
			t.Errorf("%q: %v", path, steps)
		}
	}
	// More paths than fit on a command line.
	var many []string
	for i := range 40000 {
		many = append(many, fmt.Sprintf("agent/mcp/a-name-of-some-length-for-the-command-line/%d.yaml", i))
	}
	steps, err := r.ChangingSteps(t.Context(), ID(ids[0]), ID(last), append(many, "agent/b"))
	noError(t, err)
	if len(steps) != 1 || steps[0].Commit != ID(last) {
		t.Errorf("many: %v", steps)
	}
}

// A file named like a commit is no commit that changed.
func TestChangingStepsIsNotFooledByNames(t *testing.T) {
	g := gittest.New(t)
	one := g.CommitOn(nil, map[string]string{"a": "1"}, "one")
	two := g.CommitOn([]string{one}, map[string]string{"a": "1"}, "two")
	three := g.CommitOn([]string{two}, map[string]string{"a": "1", two: "x"}, "three")
	steps, err := open(t, g).ChangingSteps(t.Context(), ID(one), ID(three), []string{two})
	noError(t, err)
	if len(steps) != 1 || steps[0].Commit != ID(three) {
		t.Errorf("steps: %v", steps)
	}
}

func TestChangingStepsThroughMerges(t *testing.T) {
	g := gittest.New(t)
	h := newGraph(t, g)
	h.add("old", "1", "1")
	h.add("base", "2", "1", "old")

	// A merge whose first parent is older than base: against it nothing changed,
	// yet the change that base had is undone.
	h.add("side", "1", "2", "old")
	h.add("undo", "1", "2", "side", "base")

	// An evil merge holds what neither parent had.
	h.add("left", "2", "2", "base")
	h.add("right", "2", "3", "base")
	h.add("evil", "9", "3", "left", "right")

	// A merge that brings in a change, and one of three heads.
	h.add("change", "3", "1", "base")
	h.add("bring", "3", "2", "left", "change")
	h.add("three", "3", "3", "left", "right", "change")
	h.add("twice", "3", "2", "bring", "bring")
	r := open(t, g)

	equal(t, "first parent older than base", h.steps(r, "base", "undo", docs), "base>undo")
	equal(t, "evil merge", h.steps(r, "base", "evil", docs), "left>evil right>evil")
	equal(t, "merge of a change", h.steps(r, "base", "bring", docs), "base>change left>bring")
	equal(t, "three heads", h.steps(r, "base", "three", docs), "base>change left>three right>three")
	equal(t, "one parent twice", h.steps(r, "base", "twice", docs), "base>change left>bring")
}

// Every way from base to tip that changes a file contains a listed step.
func TestChangingStepsCoversEveryWay(t *testing.T) {
	g := gittest.New(t)
	h := newGraph(t, g)
	h.add("n0", "0", "0")
	parents := map[string][]string{}
	content := map[string]string{"n0": "0"}
	// A fixed web of merges: commit i has parents i-1 or i-2 and i/2, and its
	// content follows one of them or is new.
	for i := 1; i < 24; i++ {
		name := fmt.Sprintf("n%d", i)
		ps := []string{fmt.Sprintf("n%d", max(0, i-1-i%2))}
		if second := fmt.Sprintf("n%d", i/2); i%3 == 0 && second != ps[0] {
			ps = append([]string{second}, ps...)
		}
		content[name] = content[ps[0]]
		if i%5 == 0 {
			content[name] = name
		}
		parents[name] = ps
		h.add(name, content[name], "0", ps...)
	}
	r := open(t, g)
	listed := map[string]bool{}
	for word := range strings.FieldsSeq(h.steps(r, "n4", "n23", docs)) {
		listed[word] = true
	}
	var walk func(at string, changed, covered bool)
	ways := 0
	walk = func(at string, changed, covered bool) {
		if at == "n4" {
			ways++
			if changed && !covered {
				t.Errorf("a way that changes the file is not listed; listed are %v", listed)
			}
			return
		}
		for _, p := range parents[at] {
			walk(p, changed || content[p] != content[at], covered || listed[p+">"+at])
		}
	}
	walk("n23", false, false)
	if ways == 0 {
		t.Error("no way was tried")
	}
}

func TestChangingStepsInAShallowClone(t *testing.T) {
	g := gittest.New(t)
	var ids []string
	for i := range 4 {
		ids = append(ids, g.Commit(map[string]string{docs: fmt.Sprint(i)}, "step"))
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	g.Git("clone", "-q", "--depth=2", "file://"+g.Dir(), shallow)
	r := open(t, g.At(shallow))
	steps, err := r.ChangingSteps(t.Context(), ID(ids[2]), ID(ids[3]), []string{docs})
	if err != nil || len(steps) != 1 {
		t.Errorf("what is there can be read: %v, %v", steps, err)
	}
	_, err = r.ChangingSteps(t.Context(), "", ID(ids[3]), []string{docs})
	if f := wantCode(t, err, fault.RepositoryUnreadable); !strings.Contains(f.Hint, "unshallow") {
		t.Error(f.Hint)
	}
	_, err = r.ChangingSteps(t.Context(), ID(ids[0]), ID(ids[3]), []string{docs})
	if err == nil {
		t.Error("a base that is not here passes")
	}
}

func TestHistoryIgnoresGraftsAndReplacements(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{docs: "1"}, "one")
	two := g.Commit(map[string]string{docs: "2"}, "two")
	g.Git("replace", "--graft", two) // now two has no parent
	writeFile(t, g.Path(".git/info/grafts"), two+"\n", 0o666)
	if out, err := g.Try("", "merge-base", "--is-ancestor", one, two); err == nil {
		t.Fatalf("Git sees the ancestor: %s", out)
	}
	r := open(t, g)
	is, err := r.IsAncestor(t.Context(), ID(one), ID(two))
	noError(t, err)
	equal(t, "one is an ancestor of two", is, true)
	steps, err := r.ChangingSteps(t.Context(), ID(one), ID(two), []string{docs})
	noError(t, err)
	equal(t, "number of steps", len(steps), 1)
}
