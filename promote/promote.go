package promote

import (
	"context"
	"errors"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// Order is a promotion to be carried out.
type Order struct {
	Proposal
	// Approve is the ordinary approval, asked once, after the gate has said
	// yes and before anything is written. An error or false moves nothing.
	Approve func(context.Context, *Judgement) (bool, error)
	// Verb is what the audit log and the reflog call the move: "promote", also
	// for "", or "rollback".
	Verb string
	// Reason is written to the audit log and the reflog; it is free text.
	Reason string
	// UpdateWorktree lets the ref be checked out in one worktree, which must be
	// clean and whose files follow the move.
	UpdateWorktree bool
	// DryRun stops before the approval and writes nothing, not even an audit
	// line. The Validator still runs the candidate.
	DryRun bool
	// Validator, if set, runs the candidate before the move, which it can
	// refuse, and what the ref holds after it.
	Validator Validator
	// RollbackOnFailure undoes the move if the second validation fails or is
	// interrupted.
	RollbackOnFailure bool
}

func (o Order) verb() string {
	if o.Verb == "" {
		return "promote"
	}
	return o.Verb
}

// Promote judges, asks, and moves the ref. When it returns an error the ref has
// not changed, unless AfterMove says so of it: its message tells where the ref is.
// A refusal is written to the audit log.
func (g *Gate) Promote(ctx context.Context, o Order) (*Judgement, error) {
	if !o.DryRun {
		if err := g.Reconcile(ctx, o.Ref); err != nil {
			return nil, err
		}
	}
	j, err := g.decide(ctx, o)
	if o.DryRun {
		return j, err
	}
	if err == nil {
		err = g.carryOut(ctx, o, j)
	}
	if err == nil {
		err = g.validateLive(ctx, o, j)
	}
	if err != nil && !errors.Is(err, errAfterMove) {
		g.auditRefusal(o, err)
	}
	return j, err
}

// decide is the gate, and what a worktree has to say.
func (g *Gate) decide(ctx context.Context, o Order) (*Judgement, error) {
	if _, err := g.checkWorktrees(ctx, o); err != nil {
		return &Judgement{Proposal: o.Proposal}, err
	}
	j, err := g.Judge(ctx, o.Proposal)
	if err != nil {
		return j, err
	}
	if err := g.validateCandidate(ctx, o, j); err != nil || o.DryRun {
		return j, err
	}
	yes, err := o.Approve(ctx, j)
	if err == nil && !yes {
		err = fault.New(fault.ApprovalRequired, "the move of %s was not approved", safetext.Terminal(o.Ref)).
			WithHint("answer yes on a terminal, or pass --approve")
	}
	return j, err
}

// errAfterMove marks what failed after the ref had moved.
var errAfterMove = errors.New("after the move")

// carryOut writes the claim, moves the ref, and writes the audit line. Whoever
// else wants this very move waits meanwhile.
func (g *Gate) carryOut(ctx context.Context, o Order, j *Judgement) error {
	if o.Old == o.New {
		return nil // nothing moves
	}
	if err := g.audit().check(); err != nil {
		return err
	}
	h, err := g.claims().hold(ctx, o.Ref, o.Old, o.New)
	if err != nil {
		return err
	}
	defer h.release()
	if err := g.stillAt(ctx, o); err != nil {
		return err
	}
	// What is there already is of a push on its way, or of a command that was
	// killed and whose git may yet make the move.
	earlier, _ := g.claims().read(o.Ref, o.Old, o.New)
	claim := g.newClaim(o, j)
	if err := g.claims().write(claim); err != nil {
		return err
	}
	var tree *gitrepo.Occupant
	err = g.Repo.MoveRef(ctx, gitrepo.Move{
		Ref: o.Ref, Old: o.Old, New: o.New,
		Message:   reflogMessage(o.verb(), o.Reason),
		UnderLock: func(ctx context.Context) error { return g.recheck(ctx, o, j, &tree) },
	})
	var f *fault.Fault
	if errors.Is(err, gitrepo.ErrCommitted) && errors.As(err, &f) {
		// The claim stays: from it the next command writes the line.
		return f.WithCause(errors.Join(errAfterMove, err))
	}
	if err != nil {
		g.withdraw(claim, earlier)
		return err
	}
	settled := g.settle(claim, false)
	if err := follow(ctx, tree, o); err != nil {
		return err
	}
	return settled
}

// newClaim is the claim of an order that was judged.
func (g *Gate) newClaim(o Order, j *Judgement) Claim {
	c := g.NewClaim(j, o.verb(), o.Ref, o.Old, o.New)
	c.Who, c.Reason = o.Pusher.Name, o.Reason
	return c
}

// stillAt refuses early what Git would refuse under the lock, so that no claim
// of a move that cannot be made is ever left by a crash.
func (g *Gate) stillAt(ctx context.Context, o Order) error {
	value, err := g.Repo.ReadRef(ctx, o.Ref)
	if err != nil || value == o.Old {
		return err
	}
	return fault.New(fault.RefMoved, "%s moved while the change was judged", safetext.Terminal(o.Ref)).
		WithHint("run the command again: it judges the change against the ref's new value")
}

// recheck is what can change between the judging and the lock. It finds the
// worktree that must follow the move, if there is one.
func (g *Gate) recheck(ctx context.Context, o Order, j *Judgement, tree **gitrepo.Occupant) error {
	err := g.stillAt(ctx, o)
	if err != nil {
		return err
	}
	if *tree, err = g.checkWorktrees(ctx, o); err != nil {
		return err
	}
	return review.CheckUnderLock(ctx, g.Repo, g.Policy, j.Records, g.Now())
}

// withdraw takes back the claim of a move that was not made, and puts back the
// one that it replaced. What cannot be withdrawn expires.
func (g *Gate) withdraw(claim, earlier Claim) {
	now, err := g.claims().read(claim.Ref, claim.Old, claim.New)
	if err != nil || now.ID() != claim.ID() {
		return // a push claimed the same move meanwhile
	}
	if earlier.Ref != "" && g.claims().write(earlier) == nil {
		return
	}
	_ = g.claims().remove(claim.Ref, claim.Old, claim.New)
}

func (g *Gate) auditRefusal(o Order, cause error) {
	// The refusal itself is what the caller must hear; a log that cannot be
	// written must not hide it.
	_ = g.audit().append(Entry{
		At: g.Now().UTC(), Who: o.Pusher.Name, By: o.verb(), Ref: o.Ref, Old: o.Old, New: o.New,
		Tokens: tokenStrings(o.Tokens), Verdict: VerdictRefused, Code: string(fault.CodeOf(cause)), Reason: o.Reason,
	})
}

// perms are the modes of shared files: private where the setting is none that
// Git knows, with which Git itself makes no file.
func (g *Gate) perms() permissions {
	p, err := sharedPermissions(g.Policy.SharedRepository)
	if err != nil {
		return permissions{file: 0o600, dir: 0o700}
	}
	return p
}

func recordIDs(records []*review.Record) []string {
	out := make([]string, 0, len(records))
	for _, r := range records {
		out = append(out, string(r.Commit))
	}
	return out
}

func tokenStrings(tokens []review.Token) []string {
	out := make([]string, 0, len(tokens))
	for _, t := range tokens {
		out = append(out, t.String())
	}
	return out
}

// reflogMessage is one line; a reason is free text and is cut and escaped.
func reflogMessage(verb, reason string) string {
	const longest = 200
	reason = strings.ToValidUTF8(reason, "?")
	if len(reason) > longest {
		reason = strings.ToValidUTF8(reason[:longest], "")
	}
	if reason == "" {
		return "evolve " + verb
	}
	return "evolve " + verb + ": " + safetext.Terminal(reason)
}
