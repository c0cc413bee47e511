package promote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/review"
)

const live = "refs/heads/live"

// start is the time of the tests' host clock when a fixture is made.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a repository whose branch live is at one, and whose main is two
// commits ahead: two changes a declaration and three another one.
type fixture struct {
	t               *testing.T
	g               *gittest.Repo
	repo            *gitrepo.Repo
	gate            *Gate
	clock           time.Time
	one, two, three gitrepo.ID
}

func declaration(version string) string {
	return "command: npx\nargs: [\"-y\", \"docs-server@" + version + "\"]\n"
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	g := gittest.New(t)
	f := &fixture{t: t, g: g, clock: start}
	f.one = gitrepo.ID(g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration("1.0.0"), "README": "1\n"}, "one"))
	g.Git("update-ref", live, string(f.one))
	f.two = gitrepo.ID(g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration("1.1.0")}, "two"))
	f.three = gitrepo.ID(g.Commit(map[string]string{"agent/mcp/web.yaml": declaration("2.0.0")}, "three"))
	f.open()
	return f
}

// open opens the repository anew, as another process would.
func (f *fixture) open() { f.openWith() }

// openWith is open with more in the environment.
func (f *fixture) openWith(env ...string) {
	f.t.Helper()
	repo, err := gitrepo.Open(f.t.Context(), gitrepo.Options{Dir: f.g.Dir(), Env: f.g.Env(env...)})
	noError(f.t, err)
	f.t.Cleanup(func() { noError(f.t, repo.Close()) })
	policy, err := review.LoadPolicy(f.t.Context(), repo)
	noError(f.t, err)
	f.repo = repo
	f.gate = &Gate{Repo: repo, Policy: policy, Now: func() time.Time { return f.clock }}
}

// token reviews the move of live from old to new.
func (f *fixture) token(old, new gitrepo.ID) review.Token {
	f.t.Helper()
	return f.record(live, old, new).Token
}

func (f *fixture) record(ref string, old, new gitrepo.ID) *review.Record {
	f.t.Helper()
	j, err := f.gate.Examine(f.t.Context(), Proposal{Ref: ref, Old: old, New: new})
	noError(f.t, err)
	signer, err := review.LoadSigner(f.t.Context(), f.repo, f.gate.Policy)
	noError(f.t, err)
	r, err := review.Mint(f.t.Context(), f.repo, f.gate.Policy, signer, review.MintRequest{
		Ref: ref, Base: old, Head: new, Deltas: j.Deltas, Now: f.clock, Expiry: time.Hour,
	})
	noError(f.t, err)
	return r
}

// order is the approved move of live from one to two, with its token.
func (f *fixture) order(change func(*Order)) Order {
	f.t.Helper()
	o := Order{
		Proposal: Proposal{Ref: live, Old: f.one, New: f.two, Pusher: review.Pusher{Name: "grace@example.com"}},
		Approve:  func(context.Context, *Judgement) (bool, error) { return true, nil },
	}
	if change != nil {
		change(&o)
	}
	if o.Tokens == nil {
		o.Tokens = []review.Token{f.token(o.Old, o.New)}
	}
	return o
}

// claim is the claim of the move from one to two, as a promotion writes it.
func (f *fixture) claim(change func(*Claim)) Claim {
	c := Claim{
		Ref: live, Old: f.one, New: f.two, Tokens: []string{"mcp-review:" + strings.Repeat("ab", 32)}, Records: []string{},
		Who: "grace@example.com", Verdict: "allowed", By: "promote", At: f.clock, Expires: f.clock.Add(claimLife),
	}
	if change != nil {
		change(&c)
	}
	return c
}

func (f *fixture) promote(o Order) error {
	f.t.Helper()
	_, err := f.gate.Promote(f.t.Context(), o)
	return err
}

func (f *fixture) at(want gitrepo.ID) {
	f.t.Helper()
	if got := f.g.Git("rev-parse", live); got != string(want) {
		f.t.Errorf("live is at %s, want %s", got, want)
	}
}

// path is a file in the folder of the gate.
func (f *fixture) path(name string) string { return f.g.Path(".git/evolve/" + name) }

// entries reads the audit log; a line that is damaged ends the test.
func (f *fixture) entries() []Entry {
	f.t.Helper()
	var out []Entry
	damaged, err := f.gate.audit().each(func(e Entry) { out = append(out, e) })
	noError(f.t, err)
	if damaged > 0 {
		f.t.Errorf("%d lines of the audit log are damaged", damaged)
	}
	return out
}

// settled checks that no claim, hold or temporary file is left.
func (f *fixture) settled() {
	f.t.Helper()
	names, err := os.ReadDir(f.path("claims"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Fatal(err)
	}
	for _, n := range names {
		f.t.Errorf("claims/%s is left", n.Name())
	}
}

// verdicts is the audit log in short: "moved", "refused CODE", "recovered".
func (f *fixture) verdicts() string {
	f.t.Helper()
	var out []string
	for _, e := range f.entries() {
		word := e.Verdict
		if e.Code != "" {
			word += " " + e.Code
		}
		if e.Recovered {
			word = "recovered"
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

func (f *fixture) wantVerdicts(want string) {
	f.t.Helper()
	if got := f.verdicts(); got != want {
		f.t.Errorf("the audit log says %q, want %q", got, want)
	}
}

func (f *fixture) state() [32]byte {
	f.t.Helper()
	s, err := gittest.State(f.g.Dir())
	noError(f.t, err)
	return s
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, want fault.Code) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	if f.Hint == "" && f.Code != fault.Interrupted {
		t.Errorf("%v has no hint", err)
	}
	return f
}

func writeFile(t *testing.T, path, data string, mode os.FileMode) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	noError(t, os.WriteFile(path, []byte(data), mode))
	noError(t, os.Chmod(path, mode))
}

// lines reads a file of JSON lines without the log's own reader.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	file, err := os.Open(path)
	noError(t, err)
	defer func() { _ = file.Close() }()
	var out []map[string]any
	for s := bufio.NewScanner(file); s.Scan(); {
		var line map[string]any
		if json.Unmarshal(s.Bytes(), &line) == nil {
			out = append(out, line)
		}
	}
	return out
}
