package promote

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

// TestAnUnreadableRefHoldsUpNoOther: a claim stays whose ref cannot be read; moves of
// other refs go on, and those of this one do not.
func TestAnUnreadableRefHoldsUpNoOther(t *testing.T) {
	f := newFixture(t)
	noError(t, f.gate.claims().write(f.claim(func(c *Claim) { c.Ref = "refs/heads/broken" })))
	writeFile(t, f.g.Path(".git/refs/heads/broken"), "nonsense\n", 0o644)
	f.clock = f.clock.Add(claimLife)
	noError(t, f.promote(f.order(nil)))
	f.at(f.two)
	if _, err := f.gate.claims().read("refs/heads/broken", f.one, f.two); err != nil {
		t.Errorf("the claim is gone: %v", err)
	}
	wantCode(t, f.promote(f.order(func(o *Order) { o.Ref = "refs/heads/broken"; o.Tokens = []review.Token{{}} })), fault.GitFailed)
}

// What a killed promotion leaves, at each of its steps, and what the next
// command makes of it.
func TestReconcile(t *testing.T) {
	for name, c := range map[string]struct {
		leave    func(f *fixture)
		verdicts string
		kept     bool // the claim stays: the move may yet be made
	}{
		"killed before the move":                            {func(f *fixture) {}, "", true},
		"killed before the move, long ago":                  {func(f *fixture) { f.clock = f.clock.Add(claimLife) }, "", false},
		"killed before the move, and the clock jumped back": {func(f *fixture) { f.clock = f.clock.Add(-time.Hour) }, "", false},
		"killed after the move":                             {func(f *fixture) { f.g.Git("update-ref", live, string(f.two)) }, "recovered", false},
		"killed after the move, long ago": {func(f *fixture) {
			f.g.Git("update-ref", live, string(f.two))
			f.clock = f.clock.Add(24 * time.Hour)
		}, "recovered", false},
		"killed after the move, and the clock jumped back": {func(f *fixture) {
			f.g.Git("update-ref", live, string(f.two))
			f.clock = f.clock.Add(-24 * time.Hour)
		}, "recovered", false},
		"killed after the move, which moved on": {func(f *fixture) {
			f.g.Git("update-ref", "--create-reflog", live, string(f.two))
			f.g.Git("update-ref", live, string(f.three))
		}, "recovered", false},
		"never made, and the ref moved past it": {func(f *fixture) {
			f.g.Git("update-ref", live, string(f.three))
			f.clock = f.clock.Add(claimLife)
		}, "", false},
		"killed while writing the line": {func(f *fixture) {
			f.g.Git("update-ref", live, string(f.two))
			writeFile(f.t, f.path("audit.jsonl"), `{"at":"2026-03-01T12:00:00Z","who":"gra`, 0o644)
		}, "recovered", false},
		"killed before the claim was removed": {func(f *fixture) {
			f.g.Git("update-ref", live, string(f.two))
			noError(f.t, f.gate.audit().append(Entry{
				Ref: live, Old: f.one, New: f.two, Verdict: VerdictMoved, Claim: f.claim(nil).ID(),
			}))
		}, "moved", false},
		"the same move was made before": {func(f *fixture) {
			noError(f.t, f.gate.audit().append(Entry{
				Ref: live, Old: f.one, New: f.two, Verdict: VerdictMoved, Claim: strings.Repeat("0", 64),
			}))
			f.g.Git("update-ref", live, string(f.two))
		}, "moved, recovered", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			claim := f.claim(func(c *Claim) { c.Reason = "why not" })
			if name == "killed before the claim was removed" {
				claim = f.claim(nil)
			}
			noError(t, f.gate.claims().write(claim))
			c.leave(f)
			for range 2 { // once is enough, and twice does no more
				f.open()
				noError(t, f.gate.Reconcile(t.Context()))
				if got := strings.Join(verdictsOf(f), ", "); got != c.verdicts {
					t.Errorf("the audit log says %q, want %q", got, c.verdicts)
				}
			}
			_, err := f.gate.claims().read(live, f.one, f.two)
			if kept := err == nil; kept != c.kept {
				t.Errorf("the claim is kept: %v, want %v", kept, c.kept)
			}
			if !c.kept {
				f.settled()
			}
			if !strings.Contains(c.verdicts, "recovered") {
				return
			}
			last, _, err := f.gate.LastMoves()
			noError(t, err)
			if e := last[live]; !e.Recovered || e.Who != claim.Who || e.Reason != "why not" || e.New != f.two {
				t.Errorf("recovered as %+v", e)
			}
		})
	}
}

// verdictsOf is verdicts where a line may be damaged.
func verdictsOf(f *fixture) []string {
	var out []string
	_, err := f.gate.audit().each(func(e Entry) {
		if e.Recovered {
			out = append(out, "recovered")
		} else {
			out = append(out, e.Verdict)
		}
	})
	noError(f.t, err)
	return out
}

// A claim whose process lives is its own affair.
func TestReconcileLeavesALivingMoveAlone(t *testing.T) {
	f := newFixture(t)
	noError(t, f.gate.claims().write(f.claim(nil)))
	h, err := f.gate.claims().hold(t.Context(), live, f.one, f.two)
	noError(t, err)
	f.g.Git("update-ref", live, string(f.two))
	noError(t, f.gate.Reconcile(t.Context()))
	f.wantVerdicts("")
	h.release()
	noError(t, f.gate.Reconcile(t.Context()))
	f.wantVerdicts("recovered")
	f.settled()
}

// A killed command's git may make the move after all, after the next command
// replaced the claim: the move is written down all the same.
func TestAReplacedClaimIsPutBack(t *testing.T) {
	f := newFixture(t)
	o := f.order(nil)
	earlier := f.claim(func(c *Claim) { c.Who = "killed@example.com" })
	noError(t, f.gate.claims().write(earlier))
	// The hook stands for the late git: it moves the ref while ours asks to.
	writeFile(t, f.g.Path(".git/hooks/reference-transaction"),
		"#!/bin/sh\nrm \"$0\"\nrm .git/"+live+".lock\ngit update-ref "+live+" "+string(f.two)+"\nexit 1\n", 0o755)
	if f.promote(o) == nil {
		t.Fatal("both moves were made")
	}
	f.at(f.two)
	noError(t, f.gate.Reconcile(t.Context()))
	last, _, err := f.gate.LastMoves()
	noError(t, err)
	if e := last[live]; !e.Recovered || e.Who != "killed@example.com" {
		t.Errorf("recovered as %+v", e)
	}
	f.settled()
}

// Leftovers of killed commands do not pile up, and strange files are left alone.
func TestReconcileSweeps(t *testing.T) {
	f := newFixture(t)
	dir := f.path("claims")
	orphan := filepath.Join(dir, strings.Repeat("1", 64)+holdSuffix)
	old, young := filepath.Join(dir, tempPrefix+"old"), filepath.Join(dir, tempPrefix+"young")
	strange := []string{filepath.Join(dir, "notes.txt"), filepath.Join(dir, "broken"+claimSuffix)}
	for _, path := range append(strange, orphan, old, young) {
		writeFile(t, path, "x", 0o600)
	}
	noError(t, os.Mkdir(filepath.Join(dir, "dir"+claimSuffix), 0o700))
	noError(t, os.Chtimes(old, f.clock, f.clock.Add(-time.Hour)))
	noError(t, os.Chtimes(young, f.clock, f.clock))
	noError(t, f.gate.Reconcile(t.Context()))
	for path, want := range map[string]bool{orphan: false, old: false, young: true, strange[0]: true, strange[1]: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
	noError(t, f.promote(f.order(nil)))
}

// An audit line that a crash cut short spoils no line beside it.
func TestACutLineSpoilsNoOther(t *testing.T) {
	f := newFixture(t)
	noError(t, f.promote(f.order(nil)))
	log, err := os.OpenFile(f.path("audit.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	noError(t, err)
	_, err = log.WriteString(`{"at":"2026-03-01T12:00:00Z","who":"grace@example.com","ref":"refs/heads/li`)
	noError(t, err)
	noError(t, log.Close())
	noError(t, f.promote(f.order(func(o *Order) { o.Old, o.New = f.two, f.three })))
	n := 0
	damaged, err := f.gate.audit().each(func(Entry) { n++ })
	noError(t, err)
	if damaged != 1 || n != 2 {
		t.Errorf("%d whole lines and %d damaged, want 2 and 1", n, damaged)
	}
	checks, err := f.gate.Examination(t.Context())
	noError(t, err)
	for _, c := range checks {
		if c.Status == review.StatusProblem || c.ID == "audit-log" && c.Status != review.StatusWarning {
			t.Errorf("doctor says %+v", c)
		}
	}
}

// A line that is longer than any of ours costs its cap, not the file's length.
func TestAnEndlessAuditLineIsSkipped(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("x", 3*maxAuditLine)
	writeFile(t, f.path("audit.jsonl"), long+"\n{\"ref\":\"r\",\"verdict\":\"moved\"}\n\n"+long, 0o644)
	n := 0
	damaged, err := f.gate.audit().each(func(Entry) { n++ })
	noError(t, err)
	if n != 1 || damaged != 2 {
		t.Errorf("%d whole lines and %d damaged, want 1 and 2", n, damaged)
	}
}

// Two processes may write the lines of two moves in the other order; the last
// move is the one that the ref stands at.
func TestLastMovesInEitherOrder(t *testing.T) {
	f := newFixture(t)
	first := Entry{Ref: live, Old: f.one, New: f.two, Verdict: VerdictMoved}
	second := Entry{Ref: live, Old: f.two, New: f.three, Verdict: VerdictMoved}
	back := Entry{Ref: live, Old: f.three, New: f.two, Verdict: VerdictMoved}
	for _, c := range []struct {
		log  []Entry
		want gitrepo.ID
	}{
		{[]Entry{first, second}, f.three},
		{[]Entry{second, first}, f.three},
		{[]Entry{first, second, back}, f.two},
		{[]Entry{first, {Ref: live, Old: f.two, New: f.three, Verdict: VerdictRefused}}, f.two},
	} {
		noError(t, errors.Join(os.RemoveAll(f.path("audit.jsonl"))))
		for _, e := range c.log {
			noError(t, f.gate.audit().append(e))
		}
		last, _, err := f.gate.LastMoves()
		noError(t, err)
		if last[live].New != c.want {
			t.Errorf("the last move leads to %s, want %s", last[live].New, c.want)
		}
	}
}

func TestDoctorSeesAMovePastTheGate(t *testing.T) {
	f := newFixture(t)
	noError(t, f.promote(f.order(nil)))
	f.g.Git("update-ref", live, string(f.three))
	checks, err := f.gate.Examination(t.Context())
	noError(t, err)
	found := false
	for _, c := range checks {
		found = found || c.Status == review.StatusProblem && strings.HasPrefix(c.Message, string(fault.RefMoved))
	}
	if !found {
		t.Errorf("no problem in %+v", checks)
	}
}

// TestAKilledGitLosesNoMove: a git that is killed while it reads the reflog does not
// say that the move was never made.
func TestAKilledGitLosesNoMove(t *testing.T) {
	f := newFixture(t)
	noError(t, f.gate.claims().write(f.claim(nil)))
	f.g.Git("update-ref", "--create-reflog", live, string(f.two))
	f.g.Git("update-ref", live, string(f.three))
	f.clock = f.clock.Add(claimLife)
	git, err := exec.LookPath("git")
	noError(t, err)
	bin := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(bin, "git"),
		fmt.Appendf(nil, "#!/bin/sh\ncase $* in *' --walk-reflogs '*) kill -KILL $$ ;; esac\nexec '%s' \"$@\"\n", git), 0o755))
	f.openWith("PATH=" + bin + ":" + os.Getenv("PATH"))
	wantCode(t, f.gate.Reconcile(t.Context()), fault.GitFailed)
	f.open()
	noError(t, f.gate.Reconcile(t.Context()))
	f.wantVerdicts("recovered")
	f.settled()
}
