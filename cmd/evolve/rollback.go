package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/promote"
)

func (p *program) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:      "rollback",
		Usage:     "move a ref to a new commit with the tree of an earlier one",
		UsageText: "evolve rollback --ref REF [--to REV] [--token TOKEN]...",
		Description: `   Moves REF forward, to a new commit whose tree is that of an earlier commit of
   REF: the one before its last audited move, or REV. The same gate decides: a
   rollback that changes MCP declarations needs a token. --prepare makes the
   commit, prints its id and moves nothing, so that it can be reviewed; the same
   rollback always makes the same commit. A second rollback undoes the first.`,
		Flags: []cli.Flag{
			refFlag(),
			&cli.StringFlag{Name: "to", Usage: "take the tree of `REV`, an earlier commit of REF"},
			&cli.BoolFlag{Name: "prepare", Usage: "make the commit without a ref, print its id, and move nothing"},
			tokenFlag(), approveFlag(), reasonFlag(), dryRunFlag(), updateWorktreeFlag(),
			formatFlag(), quietFlag(), verboseFlag(),
		},
		Action: func(c *cli.Context) error {
			if _, err := operands(c, 0, 0, ""); err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.rollback(c) })
		},
	}
}

func (s *session) rollback(c *cli.Context) error {
	if err := prepareAlone(c); err != nil {
		return err
	}
	order, err := s.order(c)
	if err != nil {
		return err
	}
	plan, err := s.rollbackPlan(c)
	if err != nil {
		return err
	}
	if c.Bool("prepare") {
		return s.showPlan(plan)
	}
	order.Ref, order.Old, order.New, order.Verb = plan.Ref, plan.From, plan.Commit, "rollback"
	return s.carryOut(c, order)
}

// prepareAlone refuses flags that --prepare, which moves nothing, would ignore.
func prepareAlone(c *cli.Context) error {
	if !c.Bool("prepare") {
		return nil
	}
	for _, flag := range []string{"token", "approve", "reason", "dry-run", "update-worktree"} {
		if c.IsSet(flag) {
			return fault.New(fault.Usage, "--prepare moves nothing and takes no --%s", flag).WithHint("%s --help", c.Command.HelpName)
		}
	}
	return nil
}

func (s *session) rollbackPlan(c *cli.Context) (promote.Rollback, error) {
	ref, value, err := s.ref(c)
	if err != nil {
		return promote.Rollback{}, err
	}
	var target gitrepo.ID
	if c.IsSet("to") {
		if target, err = s.commit(c.String("to")); err != nil {
			return promote.Rollback{}, err
		}
	}
	return s.gate.PrepareRollback(s.ctx, ref, value, target)
}

// showPlan prints the commit alone on standard output, and what to do with it.
func (s *session) showPlan(r promote.Rollback) error {
	ref := safetext.Terminal(r.Ref)
	if r.Commit == r.From {
		s.note("%s already has the tree of %s: there is nothing to roll back.", ref, brief(string(r.Target)))
	} else {
		s.note("%s would go from %s to this commit, with the tree of %s. To review it, and then to make the move:",
			ref, brief(string(r.From)), brief(string(r.Target)))
		s.note("  evolve review %s --ref %s", r.Commit, ref)
		s.note("  evolve rollback --ref %s --to %s --token TOKEN", ref, r.Target)
	}
	if s.format == "json" {
		return s.document(promotionDocument(r.Ref, r.From, r.Commit, nil, true))
	}
	return s.print(fmt.Sprintln(r.Commit))
}
