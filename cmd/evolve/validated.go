package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/render"
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
	o.Validator = &validator{s: s, c: c, asked: onceAsked{inner: s.person()}}
	o.RollbackOnFailure = c.Bool("rollback-on-failure")
	return nil
}

// validator runs a commit's servers for the gate.
type validator struct {
	s     *session
	c     *cli.Context
	asked onceAsked
}

// Validate implements promote.Validator.
func (v *validator) Validate(ctx context.Context, commit gitrepo.ID) (any, error) {
	run, err := v.s.runRevision(ctx, v.c, commit, v.asked.at(commit))
	if err != nil {
		return nil, err
	}
	doc := catalogDocument(run, string(commit))
	if err := run.Close(); err != nil {
		return doc, err
	}
	return doc, notValid(doc)
}

// showFailedValidation prints what is known of a promotion whose servers do not
// work: the document, whose outcome says where the ref is, or the servers as text
// on standard error, where the refusal follows.
func (s *session) showFailedValidation(c *cli.Context, o promote.Order, j *promote.Judgement, cause error) {
	catalog, ran := j.Validation.(render.Catalog)
	if !ran || catalog.Valid {
		return
	}
	if s.format != "json" {
		if !s.quiet {
			options := s.textOptions(c)
			options.Width, options.Color = s.width(s.err), s.colour(s.err)
			_ = render.CatalogText(s.err, catalog, false, options)
		}
		return
	}
	doc := promotionDocument(j.Ref, j.Old, j.New, j.TokenStrings(), o.DryRun)
	doc.Validation = catalog
	switch {
	case j.Undone:
		doc.Outcome, doc.UndoneBy = render.OutcomeUndone, orAbsent(j.UndoneBy)
	case !promote.AfterMove(cause):
		doc.Outcome = render.OutcomeRefused
	}
	_ = s.document(doc) // the refusal is what must be heard
}
