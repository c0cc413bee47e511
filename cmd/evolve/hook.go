package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/review"
)

func (p *program) hookCommand() *cli.Command {
	commands := []*cli.Command{p.hookInstall(), p.hookUninstall(), p.hookStatus()}
	for _, name := range hooks.Names {
		commands = append(commands, p.hookRun(name))
	}
	return &cli.Command{
		Name:        "hook",
		Usage:       "the gate at a server: install it, take it out, look at it",
		UsageText:   "evolve hook install | uninstall | status",
		Subcommands: commands,
		Action: func(c *cli.Context) error {
			_ = cli.ShowSubcommandHelp(c)
			return fault.New(fault.Usage, "hook needs a command of its own").WithHint("evolve hook status")
		},
	}
}

func hooksDirFlag() cli.Flag {
	return &cli.StringFlag{Name: "hooks-dir", Usage: "the `DIR` of the hooks, where it is not Git's own choice here; it may serve many repositories"}
}

func (p *program) hookInstall() *cli.Command {
	return &cli.Command{
		Name: "install", Usage: "write the hooks, and what they guard", UsageText: "evolve hook install [--hooks-dir DIR] [--dry-run]",
		Description: `   Writes pre-receive, reference-transaction and post-receive where Git looks
   for hooks here. A hook that is there already is chained: it runs first, with
   the same input, and its refusal counts. What is guarded is written to
   evolve.guard: the branch HEAD is on, and live. Needs evolve.repository. Can
   be run again.`,
		Flags: []cli.Flag{
			hooksDirFlag(),
			&cli.BoolFlag{Name: "pre-receive-only", Usage: "leave reference-transaction out, for servers that do not run it"},
			hookDryRunFlag("say what would be written, and write nothing"), formatFlag(), quietFlag(), verboseFlag(),
		},
		Action: p.hookSetup(hooks.Install),
	}
}

func (p *program) hookUninstall() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "take the hooks away, and put back what was there", UsageText: "evolve hook uninstall [--hooks-dir DIR] [--dry-run]",
		Flags: []cli.Flag{
			hooksDirFlag(), hookDryRunFlag("say what would be removed, and remove nothing"), formatFlag(), quietFlag(), verboseFlag(),
		},
		Action: p.hookSetup(hooks.Uninstall),
	}
}

func (p *program) hookStatus() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "which hooks hold here, and what to mend", UsageText: "evolve hook status [--hooks-dir DIR]",
		Description: "   Exits 1 if something needs mending.",
		Flags:       []cli.Flag{hooksDirFlag(), formatFlag(), quietFlag(), verboseFlag()},
		Action:      p.hookSetup(hooks.Status),
	}
}

func hookDryRunFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "dry-run", Usage: usage} }

// hookSetup runs what install, uninstall and status share.
func (p *program) hookSetup(do func(context.Context, hooks.Setup) ([]review.Check, error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		if _, err := operands(c, 0, 0, ""); err != nil {
			return err
		}
		return p.onRepo(c, func(s *session) error {
			setup, err := s.hooks(c)
			if err != nil {
				return err
			}
			checks, err := do(s.ctx, setup)
			if err != nil {
				return err
			}
			return s.checks(c, checks)
		})
	}
}

// hooks is what hook commands and doctor work on.
func (s *session) hooks(c *cli.Context) (hooks.Setup, error) {
	setup := hooks.Setup{
		Repo: s.repo, Policy: s.policy, Dir: c.String("hooks-dir"), Now: s.now,
		PreReceiveOnly: c.Bool("pre-receive-only"), DryRun: c.Bool("dry-run"),
	}
	self, err := os.Executable()
	if err != nil {
		return setup, fault.New(fault.Unsupported, "this system does not say where this program is").WithCause(err)
	}
	setup.Program = []string{self, "hook"}
	own := filepath.Join(filepath.Dir(self), "evolve-hook")
	if info, err := os.Stat(own); err == nil && info.Mode().IsRegular() {
		setup.Program = []string{own}
	}
	return setup, nil
}

// hookRun is one of the hooks, for servers where evolve-hook is not at hand.
func (p *program) hookRun(name string) *cli.Command {
	return &cli.Command{
		Name: name, Usage: "what Git's " + name + " hook runs", UsageText: "evolve hook " + name,
		Action: func(c *cli.Context) error {
			err := hooks.Run(p.ctx, name, hooks.Input{
				Dir: c.String("C"), Env: p.env, Args: c.Args().Slice(), Stdin: p.in, Stderr: p.err, Now: p.now,
			})
			var f *fault.Fault
			if errors.As(err, &f) {
				hooks.Refusal(p.err, f)
				return errAnswerNo
			}
			return err
		},
	}
}
