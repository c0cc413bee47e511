package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

func (p *program) promoteCommand() *cli.Command {
	return &cli.Command{
		Name:      "promote",
		Usage:     "move a ref, with a valid token where one is needed",
		UsageText: "evolve promote HEAD --ref REF [--token TOKEN]...",
		Description: `   Moves REF to HEAD if the change to its MCP declarations was reviewed and the
   move is approved. A change that touches no declaration needs no token. When
   it refuses, no ref has changed. With --validate the servers of HEAD must work
   before the move, and those of REF after it; exits 6 if they do not.`,
		Flags: append([]cli.Flag{
			refFlag(), tokenFlag(), approveFlag(), reasonFlag(),
			dryRunFlag(), updateWorktreeFlag(),
			&cli.BoolFlag{Name: "validate", Usage: "connect the servers of HEAD before the move, and of REF after it"},
			&cli.BoolFlag{Name: "rollback-on-failure", Usage: "undo the move if the servers do not work after it, or if that is interrupted"},
			formatFlag(), quietFlag(), verboseFlag(),
		}, runtimeFlags()...),
		Action: func(c *cli.Context) error {
			args, err := operands(c, 1, 1, "HEAD")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.promote(c, args) })
		},
	}
}

func (s *session) promote(c *cli.Context, args []string) error {
	order, err := s.order(c)
	if err != nil {
		return err
	}
	proposal, err := s.proposal(c, args)
	if err != nil {
		return err
	}
	order.Ref, order.Old, order.New = proposal.Ref, proposal.Old, proposal.New
	if err := s.validated(c, &order); err != nil {
		return err
	}
	return s.carryOut(c, order)
}

// order reads the flags that every move has; the caller adds the ref and its
// commits.
func (s *session) order(c *cli.Context) (promote.Order, error) {
	o := promote.Order{
		Reason: c.String("reason"), DryRun: c.Bool("dry-run"), UpdateWorktree: c.Bool("update-worktree"),
		Approve: func(ctx context.Context, j *promote.Judgement) (bool, error) { return s.approveMove(ctx, c, j) },
	}
	var err error
	if o.Tokens, err = tokensOf(c); err != nil {
		return o, err
	}
	if err := review.CheckReason(o.Reason); err != nil {
		return o, err
	}
	o.Pusher, err = s.pusher()
	return o, err
}

// carryOut makes a move, or says why not, and prints what was done.
func (s *session) carryOut(c *cli.Context, o promote.Order) error {
	j, err := s.gate.Promote(s.ctx, o)
	if err != nil {
		if j != nil {
			s.showFailedValidation(c, o, j, err)
		}
		return err
	}
	doc := promotionDocument(j.Ref, j.Old, j.New, j.TokenStrings(), o.DryRun)
	doc.Validation = j.Validation
	if s.format == "json" {
		err = s.document(doc)
	} else {
		err = s.print(promotionLine(doc))
	}
	if err != nil && !o.DryRun && j.Old != j.New {
		return fault.New(fault.IOFailed, "%s moved to %s, but the output could not be written", safetext.Terminal(j.Ref), brief(string(j.New))).
			WithHint("the move is done and in the audit log; do not repeat it").WithCause(err)
	}
	return err
}

func promotionDocument(ref string, from, to gitrepo.ID, tokens []string, dry bool) render.Promotion {
	doc := render.Promotion{
		Schema: render.SchemaPromotion, Ref: ref, Old: orAbsent(from), New: string(to), Tokens: tokens, DryRun: dry,
		Outcome: render.OutcomeMoved,
	}
	switch {
	case dry:
		doc.Outcome = render.OutcomeWouldMove
	case from == to:
		doc.Outcome = render.OutcomeUnchanged
	}
	return doc
}

// approveMove shows what is about to happen and asks.
func (s *session) approveMove(ctx context.Context, c *cli.Context, j *promote.Judgement) (bool, error) {
	if !c.Bool("approve") && len(j.Deltas) > 0 {
		report, err := s.report(j)
		if err != nil {
			return false, err
		}
		if err := render.Text(s.err, report, s.textOptions(c)); err != nil {
			return false, err
		}
	}
	question := fmt.Sprintf("Move %s from %s to %s?", safetext.Terminal(j.Ref), brief(orAbsent(j.Old)), brief(string(j.New)))
	return s.approved(ctx, c.Bool("approve"), question)
}

func promotionLine(d render.Promotion) string {
	verb := "moved"
	switch {
	case d.DryRun:
		verb = "would move"
	case d.Old == d.New:
		verb = "is already at its place:"
	}
	return fmt.Sprintf("%s %s %s -> %s\n", safetext.Terminal(d.Ref), verb, brief(d.Old), brief(d.New))
}

// brief abbreviates an id for a sentence.
func brief(id string) string {
	const digits = 12
	if len(id) > digits {
		return id[:digits]
	}
	return id
}

// pusher is who promotes: the identity that signs here.
func (s *session) pusher() (review.Pusher, error) { return review.LocalPusher(s.ctx, s.repo, s.policy) }
