package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/securitydiff"
)

func (p *program) diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show what a change to MCP declarations means",
		UsageText: "evolve diff BASE [HEAD] | BASE..HEAD | BASE...HEAD",
		Description: `   Compares the MCP declarations of two revisions, without showing a secret.
   HEAD defaults to the working tree: the bytes on disk, untracked files
   included. BASE...HEAD compares from their merge base.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "exit-code", Usage: "exit 1 if there are changes"},
			formatFlag(), quietFlag(), verboseFlag(),
		},
		Action: func(c *cli.Context) error {
			args, err := operands(c, 1, 2, "BASE")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.diff(c, args) })
		},
	}
}

func (s *session) diff(c *cli.Context, args []string) error {
	report, err := s.diffReport(args)
	if err != nil {
		return err
	}
	if err := s.show(c, report); err != nil {
		return err
	}
	if c.Bool("exit-code") && len(report.Changes) > 0 {
		return errAnswerNo
	}
	return nil
}

func (s *session) diffReport(args []string) (*securitydiff.Report, error) {
	baseRev, headRev, mergeBase, err := splitRange(args)
	if err != nil {
		return nil, err
	}
	base, err := s.commit(baseRev)
	if err != nil {
		return nil, err
	}
	if headRev == "" {
		before, err := s.gate.Surface(s.ctx, base)
		if err != nil {
			return nil, err
		}
		after, err := s.worktreeSurface(s.ctx)
		if err != nil {
			return nil, err
		}
		return s.report(before, after, string(base), "worktree")
	}
	head, err := s.commit(headRev)
	if err != nil {
		return nil, err
	}
	if mergeBase {
		if base, err = s.repo.MergeBase(s.ctx, base, head); err != nil {
			return nil, err
		}
	}
	before, err := s.gate.Surface(s.ctx, base)
	if err != nil {
		return nil, err
	}
	after, err := s.gate.Surface(s.ctx, head)
	if err != nil {
		return nil, err
	}
	return s.report(before, after, string(base), string(head))
}

// splitRange reads "A", "A B", "A..B" and "A...B"; an empty side of a range is
// HEAD, as in Git.
func splitRange(args []string) (base, head string, mergeBase bool, err error) {
	if len(args) == 2 {
		if strings.Contains(args[0], "..") || strings.Contains(args[1], "..") {
			return "", "", false, fault.New(fault.Usage, "a range and a second revision do not go together").
				WithHint("evolve diff BASE HEAD, or evolve diff BASE..HEAD")
		}
		return args[0], args[1], false, nil
	}
	sep := ".."
	if strings.Contains(args[0], "...") {
		sep = "..."
	}
	base, head, isRange := strings.Cut(args[0], sep)
	if !isRange {
		return args[0], "", false, nil
	}
	if base == "" {
		base = "HEAD"
	}
	if head == "" {
		head = "HEAD"
	}
	return base, head, sep == "...", nil
}

func (p *program) lintCommand() *cli.Command {
	return &cli.Command{
		Name:      "lint",
		Usage:     "check the declarations of one revision",
		UsageText: "evolve lint [REV]",
		Description: `   Reads every declaration of a revision (default: the working tree) and lists
   its errors and findings. Exits 1 if there is an error.`,
		Flags: []cli.Flag{formatFlag(), quietFlag(), verboseFlag()},
		Action: func(c *cli.Context) error {
			args, err := operands(c, 0, 1, "REV")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.lint(c, args) })
		},
	}
}

func (s *session) lint(c *cli.Context, args []string) error {
	surface, name, err := s.lintSurface(args)
	if err != nil {
		return err
	}
	report, err := securitydiff.Lint(s.ctx, surface, securitydiff.Options{
		HeadName: name, Fingerprinter: s.gate.Fingerprint, KnownValues: s.policy.KnownValues,
	})
	if err != nil {
		return err
	}
	if s.format == "json" {
		err = s.document(report)
	} else {
		err = render.LintText(s.out, report, s.textOptions(c))
	}
	if err == nil && len(report.Problems) > 0 {
		return errAnswerNo
	}
	return err
}

func (s *session) lintSurface(args []string) (*decl.Surface, string, error) {
	if len(args) == 0 {
		surface, err := s.worktreeSurface(s.ctx)
		return surface, "worktree", err
	}
	id, err := s.commit(args[0])
	if err != nil {
		return nil, "", err
	}
	surface, err := s.gate.Surface(s.ctx, id)
	return surface, string(id), err
}
