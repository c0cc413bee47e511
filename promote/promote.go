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
	// DryRun stops before the approval and writes nothing, not even an audit
	// line.
	DryRun bool
}

func (o Order) verb() string {
	if o.Verb == "" {
		return "promote"
	}
	return o.Verb
}

// Promote judges, asks, and moves the ref. When it returns an error the ref has
// not changed, but for io_failed after the move, whose message says so. A refusal
// is written to the audit log.
func (g *Gate) Promote(ctx context.Context, o Order) (*Judgement, error) {
	if !o.DryRun {
		if err := g.Reconcile(ctx); err != nil {
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
	if err != nil && !errors.Is(err, errMovedUnaudited) {
		g.auditRefusal(o, err)
	}
	return j, err
}

// decide is the gate, and what a worktree has to say.
func (g *Gate) decide(ctx context.Context, o Order) (*Judgement, error) {
	if err := g.checkWorktrees(ctx, o.Ref); err != nil {
		return &Judgement{Proposal: o.Proposal}, err
	}
	j, err := g.Judge(ctx, o.Proposal)
	if err != nil || o.DryRun {
		return j, err
	}
	yes, err := o.Approve(ctx, j)
	if err == nil && !yes {
		err = fault.New(fault.ApprovalRequired, "the move of %s was not approved", safetext.Terminal(o.Ref)).
			WithHint("answer yes on a terminal, or pass --approve")
	}
	return j, err
}

// checkWorktrees refuses to move a branch under a worktree's feet: its files
// would look like a change that undoes the promotion.
func (g *Gate) checkWorktrees(ctx context.Context, ref string) error {
	busy, err := g.Repo.CheckedOut(ctx, ref)
	if err != nil || len(busy) == 0 {
		return err
	}
	return fault.New(fault.WorktreeBusy, "%s is checked out in %s", safetext.Terminal(ref), safetext.Terminal(busy[0])).
		WithHint("promote to a branch that no worktree has checked out, or run git switch --detach there first")
}

// errMovedUnaudited marks a move that happened and could not be written down.
var errMovedUnaudited = errors.New("moved, not audited")

// carryOut writes the claim, moves the ref, and writes the audit line. Whoever
// else wants this very move waits meanwhile.
func (g *Gate) carryOut(ctx context.Context, o Order, j *Judgement) error {
	if o.Old == o.New {
		return nil // nothing moves
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
	now := g.Now().UTC()
	claim := Claim{
		Ref: o.Ref, Old: o.Old, New: o.New,
		Tokens: j.TokenStrings(), Records: recordIDs(j.Records), Who: o.Pusher.Name,
		Verdict: "allowed", By: o.verb(), Reason: o.Reason, At: now, Expires: now.Add(claimLife),
	}
	if err := g.claims().write(claim); err != nil {
		return err
	}
	err = g.Repo.MoveRef(ctx, gitrepo.Move{
		Ref: o.Ref, Old: o.Old, New: o.New,
		Message:   reflogMessage(o.verb(), o.Reason),
		UnderLock: func(ctx context.Context) error { return g.recheck(ctx, o, j) },
	})
	if err != nil {
		g.withdraw(claim, earlier)
		return err
	}
	return g.settle(claim, false)
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

// recheck is what can change between the judging and the lock.
func (g *Gate) recheck(ctx context.Context, o Order, j *Judgement) error {
	if err := g.stillAt(ctx, o); err != nil {
		return err
	}
	if err := g.checkWorktrees(ctx, o.Ref); err != nil {
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

// perms are the modes of shared files. A bad setting was refused when the gate
// was made.
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
