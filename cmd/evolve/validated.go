package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/promote"
)

// validated reads the flags of a promotion that runs its servers.
func (s *session) validated(c *cli.Context, o *promote.Order) error {
	if !c.Bool("validate") {
		for _, flag := range []string{"rollback-on-failure", "core", "home", "workspace", "grant", "approve-connect"} {
			if c.IsSet(flag) {
				return fault.New(fault.Usage, "--%s does nothing without --validate", flag).WithHint("%s --help", c.Command.HelpName)
			}
		}
		return nil
	}
	o.Validator, o.RollbackOnFailure = &validator{s: s, c: c}, c.Bool("rollback-on-failure")
	return nil
}

// validator runs a commit's servers for the gate.
type validator struct {
	s *session
	c *cli.Context
}

// Validate implements promote.Validator.
func (v *validator) Validate(ctx context.Context, commit gitrepo.ID) (any, error) {
	run, err := v.s.runRevision(ctx, v.c, commit)
	if err != nil {
		return nil, err
	}
	doc := catalogDocument(run, string(commit), coreFlag(v.c))
	if err := run.Close(); err != nil {
		return doc, err
	}
	return doc, notValid(doc)
}
