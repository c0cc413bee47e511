package promote

import (
	"context"
	"errors"
	"slices"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// verbUndo is what claims, the audit log and the reflog call a promotion that
// undoes itself.
const verbUndo = "undo"

// undo is the one move without a token of its own. A ref that existed before goes
// to a new commit with its old tree, so that history itself says that the change
// was made, and its token is used up; one that did not is deleted, and the audit
// log says so. It returns the commit that the ref is at then, "" for none. An
// undo that was refused is written down too.
func (g *Gate) undo(ctx context.Context, o Order, why string) (gitrepo.ID, error) {
	back := Order{
		Proposal: Proposal{Ref: o.Ref, Old: o.New, Pusher: o.Pusher},
		Verb:     verbUndo, Reason: "validation failed: " + why, UpdateWorktree: o.UpdateWorktree,
	}
	err := g.undoTo(ctx, o, &back)
	if err != nil && !AfterMove(err) {
		g.auditRefusal(back, err)
	}
	return back.New, err
}

func (g *Gate) undoTo(ctx context.Context, o Order, back *Order) error {
	if o.Old == "" {
		return g.undoCreation(ctx, *back)
	}
	plan, err := g.PrepareRollback(ctx, o.Ref, o.New, o.Old)
	if err != nil {
		return err
	}
	back.New = plan.Commit
	return g.carryOut(ctx, *back, &Judgement{Proposal: back.Proposal})
}

// undoCreation deletes a ref that the promotion made, under a claim like every
// move: a crash between the two leaves what the next command writes down.
func (g *Gate) undoCreation(ctx context.Context, back Order) error {
	h, err := g.claims().hold(ctx, back.Ref, back.Old, back.New)
	if err != nil {
		return err
	}
	defer h.release()
	claim := g.newClaim(back, &Judgement{})
	if err := g.claims().write(claim); err != nil {
		return err
	}
	if err := g.Repo.DeleteRef(ctx, back.Ref, back.Old); err != nil {
		if !errors.Is(err, gitrepo.ErrCommitted) { // else the next command writes it down
			g.withdraw(claim, Claim{})
		}
		return err
	}
	return g.settle(claim, false)
}

// ClaimsUndo reports whether a promotion that created ref is undoing itself now:
// the one deletion of a guarded ref that is let through.
func (g *Gate) ClaimsUndo(ref string, present gitrepo.ID) bool {
	c, err := g.claims().read(ref, present, "")
	now := g.Now()
	return err == nil && c.Ref == ref && c.Old == present && c.New == "" && c.By == verbUndo && c.Verdict == verdictAllowed &&
		now.Before(c.Expires) && !now.Add(claimLife).Before(c.At)
}

// undoneMove is a move that a promotion made and undid, as the audit log has it.
type undoneMove struct {
	made, undone Entry
}

// undoneMoves lists what was undone on a ref, oldest first. A log that cannot be
// read explains nothing, and hides no refusal.
func (g *Gate) undoneMoves(ref string) []undoneMove {
	var out []undoneMove
	var last Entry
	_, err := g.audit().each(func(e Entry) {
		if e.Verdict != VerdictMoved || e.Ref != ref {
			return
		}
		if e.By == verbUndo && last.New == e.Old {
			out = append(out, undoneMove{made: last, undone: e})
		}
		last = e
	})
	if err != nil {
		return nil
	}
	return out
}

// explainUsed says what became of a used token's move, "" if nothing is known.
func (g *Gate) explainUsed(ref string, t review.Token) string {
	for _, u := range slices.Backward(g.undoneMoves(ref)) {
		if slices.Contains(u.made.Tokens, t.String()) {
			return "the promotion to " + short(u.made.New) + " with it was made and undone (" + cutReason(u.undone.Reason) + ")"
		}
	}
	return ""
}

// explainBackwards is the refusal of a move to a commit that the ref was at, and
// was taken away from by an undo; nil if it was not.
func (g *Gate) explainBackwards(ctx context.Context, p Proposal) error {
	for _, u := range slices.Backward(g.undoneMoves(p.Ref)) {
		if u.made.New != p.New || u.undone.New == "" {
			continue
		}
		if since, err := g.Repo.IsAncestor(ctx, u.undone.New, p.Old); err != nil || !since {
			continue
		}
		at := short(u.undone.New)
		return fault.New(fault.NotFastForward, "%s was at %s, and the promotion was undone by %s (%s); its token is used up",
			safetext.Terminal(p.Ref), short(p.New), at, cutReason(u.undone.Reason)).
			WithHint("on top of %s, git revert %s brings the change back: mend it there and review it", refShort(p.Ref), at)
	}
	return nil
}

// cutReason keeps a reason from the log, which is free text, to what fits a
// sentence.
func cutReason(reason string) string {
	const longest = 300
	runes := []rune(reason)
	if len(runes) > longest {
		runes = append(runes[:longest], '.', '.', '.')
	}
	return safetext.Terminal(string(runes))
}
