package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
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
			return p.onReading(c, func(r *reading) error { return r.diff(c, args) })
		},
	}
}

func (r *reading) diff(c *cli.Context, args []string) error {
	report, err := r.diffReport(args)
	if err != nil {
		return err
	}
	if err := r.show(c, report); err != nil {
		return err
	}
	if c.Bool("exit-code") && len(report.Changes) > 0 {
		return errAnswerNo
	}
	return nil
}

func (r *reading) diffReport(args []string) (*securitydiff.Report, error) {
	baseRev, headRev, mergeBase, err := splitRange(args)
	if err != nil {
		return nil, err
	}
	base, err := r.repo.ResolveCommit(r.ctx, baseRev)
	if err != nil {
		return nil, err
	}
	head := gitrepo.ID("") // the working tree
	if headRev != "" {
		if head, err = r.repo.ResolveCommit(r.ctx, headRev); err != nil {
			return nil, err
		}
	}
	if mergeBase {
		if base, err = r.repo.MergeBase(r.ctx, base, head); err != nil {
			return nil, err
		}
	}
	before, err := r.surface(base)
	if err != nil {
		return nil, err
	}
	after, err := r.surface(head)
	if err != nil {
		return nil, err
	}
	options := r.options(head)
	options.BaseName = string(base)
	return securitydiff.Compare(r.ctx, before, after, options)
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
			return p.onReading(c, func(r *reading) error { return r.lint(c, args) })
		},
	}
}

func (r *reading) lint(c *cli.Context, args []string) error {
	head := gitrepo.ID("") // the working tree
	if len(args) > 0 {
		var err error
		if head, err = r.repo.ResolveCommit(r.ctx, args[0]); err != nil {
			return err
		}
	}
	surface, err := r.surface(head)
	if err != nil {
		return err
	}
	report, err := securitydiff.Lint(r.ctx, surface, r.options(head))
	if err != nil {
		return err
	}
	if r.format == "json" {
		err = r.document(report)
	} else {
		err = render.LintText(r.out, report, r.textOptions(c))
	}
	if err == nil && len(report.Problems) > 0 {
		return errAnswerNo
	}
	return err
}
