package promote

import (
	"context"
	"errors"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Validator runs the declarations of a commit. An error means that they do not
// work; its report is kept either way.
type Validator interface {
	Validate(ctx context.Context, commit gitrepo.ID) (report any, err error)
}

// verbUndo is what the audit log and the reflog call a promotion that undoes
// itself.
const verbUndo = "undo"

// validateCandidate refuses a move to a commit whose servers do not work.
func (g *Gate) validateCandidate(ctx context.Context, o Order, j *Judgement) error {
	if o.Validator == nil || o.DryRun {
		return nil
	}
	var err error
	j.Validation, err = o.Validator.Validate(ctx, o.New)
	return err
}

// validateLive runs what the ref holds after the move. If that fails, and the
// order says so, the move is undone by a new commit with the old tree, so that
// history itself says that the change was made, and its token is used up.
func (g *Gate) validateLive(ctx context.Context, o Order, j *Judgement) error {
	if o.Validator == nil || o.Old == o.New {
		return nil
	}
	ref := safetext.Terminal(o.Ref)
	live, err := g.Repo.ReadRef(ctx, o.Ref)
	if err == nil {
		j.Validation, err = o.Validator.Validate(ctx, live)
	}
	if err == nil {
		return nil
	}
	cause := errors.Join(errAfterMove, err)
	if ctx.Err() != nil {
		return fault.New(fault.Interrupted, "interrupted after %s moved to %s; the move stands, and was not validated", ref, short(o.New)).
			WithHint("evolve validate %s", short(o.New)).WithCause(cause)
	}
	if !o.RollbackOnFailure {
		return fault.New(fault.ValidationFailed, "%s moved to %s, and its servers do not work: %s", ref, short(o.New), messageOf(err)).
			WithHint("evolve rollback --ref %s", ref).WithCause(cause)
	}
	undone, uerr := g.undo(ctx, o, messageOf(err))
	if uerr != nil {
		return fault.New(fault.ValidationFailed, "%s moved to %s, its servers do not work, and the move could not be undone: %s",
			ref, short(o.New), messageOf(uerr)).WithHint("evolve rollback --ref %s", ref).WithCause(errors.Join(cause, uerr))
	}
	j.Undone = undone
	return fault.New(fault.ValidationFailed, "%s moved to %s, its servers do not work, and the move was undone by %s: %s",
		ref, short(o.New), name(undone), messageOf(err)).
		WithHint("mend the servers and review again: the token is used up").WithCause(cause)
}

// undo is the one move without a token of its own. It returns the commit that
// the ref is at then, "" if the ref did not exist before.
func (g *Gate) undo(ctx context.Context, o Order, why string) (gitrepo.ID, error) {
	if o.Old == "" {
		return "", g.undoCreation(ctx, o, why)
	}
	plan, err := g.PrepareRollback(ctx, o.Ref, o.New, o.Old)
	if err != nil {
		return "", err
	}
	back := Order{
		Proposal: Proposal{Ref: o.Ref, Old: o.New, New: plan.Commit, Pusher: o.Pusher},
		Verb:     verbUndo, Reason: "validation failed: " + why, UpdateWorktree: o.UpdateWorktree,
	}
	return plan.Commit, g.carryOut(ctx, back, &Judgement{Proposal: back.Proposal})
}

// undoCreation removes a ref that the promotion made. The audit log says that its
// token was used.
func (g *Gate) undoCreation(ctx context.Context, o Order, why string) error {
	if err := g.Repo.DeleteRef(ctx, o.Ref, o.New); err != nil {
		return err
	}
	return g.audit().append(Entry{
		At: g.Now().UTC(), Who: o.Pusher.Name, By: verbUndo, Ref: o.Ref, Old: o.New, New: "",
		Verdict: VerdictMoved, Reason: "validation failed: " + why,
	})
}

// messageOf is an error's message in our words.
func messageOf(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Message
	}
	return "it failed"
}
