package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

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
   it refuses, no ref has changed.`,
		Flags: []cli.Flag{
			refFlag(), tokenFlag(), approveFlag(), reasonFlag(),
			&cli.BoolFlag{Name: "dry-run", Usage: "judge the move and write nothing"},
			formatFlag(), quietFlag(), verboseFlag(),
		},
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
	tokens, err := tokensOf(c)
	if err != nil {
		return err
	}
	if err := review.CheckReason(c.String("reason")); err != nil {
		return err
	}
	proposal, err := s.proposal(c, args)
	if err != nil {
		return err
	}
	proposal.Tokens = tokens
	if proposal.Pusher, err = s.pusher(); err != nil {
		return err
	}
	order := promote.Order{
		Proposal: proposal, Reason: c.String("reason"), DryRun: c.Bool("dry-run"),
		Approve: func(ctx context.Context, j *promote.Judgement) (bool, error) { return s.approveMove(ctx, c, j) },
	}
	j, err := s.gate.Promote(s.ctx, order)
	if err != nil {
		return err
	}
	doc := render.Promotion{
		Schema: "evolve.promotion/v1", Ref: j.Ref, Old: orAbsent(j.Old), New: string(j.New),
		Tokens: j.TokenStrings(), DryRun: order.DryRun,
	}
	if s.format == "json" {
		return s.document(doc)
	}
	return s.print(promotionLine(doc))
}

// approveMove shows what is about to happen and asks.
func (s *session) approveMove(ctx context.Context, c *cli.Context, j *promote.Judgement) (bool, error) {
	if !c.Bool("approve") && len(j.Deltas) > 0 {
		if err := render.Text(s.err, j.Report, s.textOptions(c)); err != nil {
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
