package promote

import (
	"context"
	"errors"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Validator runs the declarations of a commit. An error of code validation_failed
// means that they do not work, any other that nobody can say; its report is kept
// either way.
type Validator interface {
	Validate(ctx context.Context, commit gitrepo.ID) (report any, err error)
}

// validateCandidate refuses a move to a commit whose servers do not work.
func (g *Gate) validateCandidate(ctx context.Context, o Order, j *Judgement) error {
	if o.Validator == nil {
		return nil
	}
	var err error
	j.Validation, err = o.Validator.Validate(ctx, o.New)
	return err
}

// validateLive runs what the ref holds after the move. If that fails, or is cut
// off, and the order says so, the move is undone.
func (g *Gate) validateLive(ctx context.Context, o Order, j *Judgement) error {
	if o.Validator == nil || o.Old == o.New {
		return nil
	}
	live, err := g.Repo.ReadRef(ctx, o.Ref)
	if err == nil {
		var report any
		if report, err = o.Validator.Validate(ctx, live); report != nil {
			j.Validation = report
		}
	}
	if err == nil {
		return nil
	}
	a := aftermath{o: o, cause: err, cut: ctx.Err() != nil}
	if !o.RollbackOnFailure {
		return a.fault("and the move stands", "evolve validate "+short(o.New)+", and evolve rollback --ref "+refShort(o.Ref)+" to go back")
	}
	// What was begun is ended: the caller's context may be over, and the ref must
	// not be left at what nobody could show to work.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	undone, uerr := g.undo(ctx, o, a.why())
	if uerr != nil && !AfterMove(uerr) {
		a.cause = errors.Join(a.cause, uerr)
		return a.fault("and the move could not be undone ("+messageOf(uerr)+"), so it stands", "evolve rollback --ref "+refShort(o.Ref))
	}
	j.Undone, j.UndoneBy = true, undone
	outcome := "and the move was undone by " + short(undone)
	if undone == "" {
		outcome = "and the move was undone, the ref deleted again"
	}
	if uerr != nil {
		outcome += " (but " + messageOf(uerr) + ")"
	}
	return a.fault(outcome, "mend the servers and review again: the token is used up")
}

// undoLimit bounds how long an undo may take, hooks of Git included.
const undoLimit = time.Minute

// aftermath is a move whose validation failed, and says so.
type aftermath struct {
	o     Order
	cause error
	cut   bool // by an interrupt
}

// why is the cause in our words, for the message and the record.
func (a aftermath) why() string {
	switch {
	case a.cut:
		return "the validation was interrupted"
	case fault.CodeOf(a.cause) == fault.ValidationFailed:
		return messageOf(a.cause)
	}
	return "the servers could not be run: " + messageOf(a.cause)
}

// fault is what the caller hears: what failed, and where the ref is now.
func (a aftermath) fault(outcome, hint string) error {
	code := fault.ValidationFailed
	if a.cut {
		code = fault.Interrupted
	}
	why := messageOf(a.cause)
	if code == fault.Interrupted || fault.CodeOf(a.cause) != code {
		why = a.why()
	}
	return fault.New(code, "%s moved to %s, its validation failed, %s: %s",
		safetext.Terminal(a.o.Ref), short(a.o.New), outcome, why).
		WithHint("%s", hint).WithCause(errors.Join(errAfterMove, a.cause))
}

// AfterMove reports whether an error of Promote came after the ref had moved, so
// that its message says where the ref is.
func AfterMove(err error) bool { return errors.Is(err, errAfterMove) }

// messageOf is an error's message in our words.
func messageOf(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Message
	}
	return "it failed"
}
