package promote

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// scripted is a validator that answers in turn; what it is asked about is kept.
type scripted struct {
	answers []func(context.Context) error
	asked   []gitrepo.ID
}

func (s *scripted) Validate(ctx context.Context, commit gitrepo.ID) (any, error) {
	n := len(s.asked)
	s.asked = append(s.asked, commit)
	return n, s.answers[n](ctx)
}

func works(context.Context) error { return nil }

func fails(context.Context) error {
	return fault.New(fault.ValidationFailed, "server docs: failed").WithHint("mend it")
}

func validated(undo bool, answers ...func(context.Context) error) (*scripted, func(*Order)) {
	s := &scripted{answers: answers}
	return s, func(o *Order) { o.Validator, o.RollbackOnFailure = s, undo }
}

func TestACandidateThatDoesNotWorkMovesNothing(t *testing.T) {
	f := newFixture(t)
	v, with := validated(true, fails)
	o := f.order(with)
	asked := false
	o.Approve = func(context.Context, *Judgement) (bool, error) { asked = true; return true, nil }
	wantCode(t, f.promote(o), fault.ValidationFailed)
	f.at(f.one)
	f.wantVerdicts("refused validation_failed")
	if asked || len(v.asked) != 1 || v.asked[0] != f.two {
		t.Errorf("asked for approval: %t; validated %v", asked, v.asked)
	}
}

func TestTheRefIsValidatedWhereItStands(t *testing.T) {
	f := newFixture(t)
	v, with := validated(true, works, works)
	noError(t, f.promote(f.order(with)))
	f.at(f.two)
	f.wantVerdicts("moved")
	if len(v.asked) != 2 || v.asked[1] != f.two {
		t.Errorf("validated %v", v.asked)
	}
}

func TestAFailureAfterTheMoveIsUndone(t *testing.T) {
	f := newFixture(t)
	_, with := validated(true, works, fails)
	o := f.order(with)
	j, err := f.gate.Promote(t.Context(), o)
	wantCode(t, err, fault.ValidationFailed)
	if !AfterMove(err) || !j.Undone || j.Validation != 1 {
		t.Errorf("after the move: %t; %+v", AfterMove(err), j)
	}
	f.at(j.UndoneBy)
	if f.g.Git("rev-parse", live+"^{tree}") != f.g.Git("rev-parse", string(f.one)+"^{tree}") {
		t.Error("live has another tree than before")
	}
	f.wantVerdicts("moved, moved")
	last := f.entries()[1]
	if last.By != verbUndo || last.Reason != "validation failed: server docs: failed" || last.New != j.UndoneBy || len(last.Tokens) != 0 {
		t.Errorf("%+v", last)
	}
	f.settled()

	// The token cannot be used again, and the refusal explains why.
	again := f.order(func(o *Order) { o.Tokens = j.Tokens; o.Old = j.UndoneBy })
	refusal := wantCode(t, f.promote(again), fault.NotFastForward)
	if !strings.Contains(refusal.Message, "undone by") || !strings.Contains(refusal.Message, "server docs: failed") {
		t.Error(refusal.Message)
	}
	f.g.Git("switch", "-q", "--detach", string(j.UndoneBy))
	f.g.Git("checkout", "-q", string(f.two), "agent")
	f.g.Git("commit", "-q", "-m", "the same change again")
	again.New = gitrepo.ID(f.g.Git("rev-parse", "HEAD"))
	refusal = wantCode(t, f.promote(again), fault.TokenUsed)
	if !strings.Contains(refusal.Message, "made and undone (validation failed: server docs: failed)") {
		t.Error(refusal.Message)
	}
}

// An interrupt is no answer: with the order to undo it is one, without it the move
// stands; the ref and the log agree either way.
func TestAnInterruptAfterTheMove(t *testing.T) {
	for _, undo := range []bool{false, true} {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, with := validated(undo, works, func(ctx context.Context) error {
			cancel()
			return fault.New(fault.Interrupted, "interrupted").WithCause(ctx.Err())
		})
		j, err := f.gate.Promote(ctx, f.order(with))
		wantCode(t, err, fault.Interrupted)
		if !AfterMove(err) || j.Undone != undo {
			t.Errorf("undo %t: %+v, %v", undo, j, err)
		}
		entries := f.entries()
		f.at(entries[len(entries)-1].New)
		if want := 1; undo {
			want = 2
			if len(entries) != want || entries[1].Reason != "validation failed: the validation was interrupted" {
				t.Errorf("%+v", entries)
			}
		} else if len(entries) != want {
			t.Errorf("%+v", entries)
		}
		f.settled()
	}
}

// Whoever moves the ref while its servers are run is not undone.
func TestAnotherMoveDuringTheValidationStands(t *testing.T) {
	f := newFixture(t)
	_, with := validated(true, works, func(ctx context.Context) error {
		f.g.Git("update-ref", live, string(f.three))
		return fails(ctx)
	})
	err := f.promote(f.order(with))
	if refusal := wantCode(t, err, fault.ValidationFailed); !strings.Contains(refusal.Message, "could not be undone") {
		t.Error(refusal.Message)
	}
	f.at(f.three)
	f.wantVerdicts("moved, refused ref_moved")
	f.settled()
}

func TestACreationThatIsUndone(t *testing.T) {
	f := newFixture(t)
	const fresh = "refs/heads/fresh"
	_, with := validated(true, works, fails)
	o := f.order(func(o *Order) {
		with(o)
		o.Ref, o.Old = fresh, ""
		o.Tokens = nil
		o.Tokens = append(o.Tokens, f.record(fresh, "", f.two).Token)
	})
	j, err := f.gate.Promote(t.Context(), o)
	wantCode(t, err, fault.ValidationFailed)
	if !j.Undone || j.UndoneBy != "" {
		t.Errorf("%+v", j)
	}
	if value, err := f.repo.ReadRef(t.Context(), fresh); err != nil || value != "" {
		t.Errorf("%s is at %s (%v)", fresh, value, err)
	}
	entries := f.entries()
	if last := entries[len(entries)-1]; last.Ref != fresh || last.Old != f.two || last.New != "" || last.By != verbUndo {
		t.Errorf("%+v", last)
	}
	f.settled()
	o.Validator = nil
	refusal := wantCode(t, f.promote(o), fault.TokenUsed)
	if !strings.Contains(refusal.Message, "made and undone") {
		t.Error(refusal.Message)
	}
}

// A crash in the middle of an undo leaves a claim, from which the next command
// writes the line, if the ref was deleted, and nothing else.
func TestACrashWhileACreationIsUndone(t *testing.T) {
	const fresh = "refs/heads/fresh"
	for _, deleted := range []bool{true, false} {
		f := newFixture(t)
		f.g.Git("update-ref", fresh, string(f.two))
		back := Order{Proposal: Proposal{Ref: fresh, Old: f.two}, Verb: verbUndo, Reason: "validation failed"}
		noError(t, f.gate.claims().write(f.gate.newClaim(back, &Judgement{})))
		if !f.gate.ClaimsUndo(fresh, f.two) || f.gate.ClaimsUndo(fresh, f.one) || f.gate.ClaimsUndo(live, f.two) {
			t.Error("the claim lets other deletions through, or not its own")
		}
		if deleted {
			f.g.Git("update-ref", "-d", fresh)
		}
		noError(t, f.gate.Reconcile(t.Context()))
		if deleted {
			f.wantVerdicts("recovered")
			f.settled()
			continue
		}
		f.wantVerdicts("")
		f.clock = f.clock.Add(2 * claimLife)
		if f.gate.ClaimsUndo(fresh, f.two) {
			t.Error("an expired claim lets a deletion through")
		}
		noError(t, f.gate.Reconcile(t.Context()))
		f.settled()
	}
}

// A hook that refuses the undo leaves the move, and both are written down.
func TestAnUndoThatAHookRefuses(t *testing.T) {
	f := newFixture(t)
	hook := "#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\nread -r old new ref\n[ \"$old\" != " + string(f.two) + " ]\n"
	_, with := validated(true, works, func(ctx context.Context) error {
		writeFile(t, f.g.Path(".git/hooks/reference-transaction"), hook, 0o755)
		return fails(ctx)
	})
	refusal := wantCode(t, f.promote(f.order(with)), fault.ValidationFailed)
	if !strings.Contains(refusal.Message, "so it stands") {
		t.Error(refusal.Message)
	}
	noError(t, os.Remove(f.g.Path(".git/hooks/reference-transaction")))
	f.at(f.two)
	f.wantVerdicts("moved, refused git_failed")
	f.settled()
}
