package main

import (
	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/review"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check the health of this repository's gate",
		UsageText: "evolve doctor",
		Description: `   Looks at what the gate rests on: the signers file, keys and their modes, the
   audit log, claims, and whether a guarded ref stands where it was last moved
   to. Prints each effective setting and where it comes from. Exits 1 if
   something needs mending.`,
		Flags: []cli.Flag{formatFlag(), quietFlag(), verboseFlag()},
		Action: func(c *cli.Context) error {
			if _, err := operands(c, 0, 0, ""); err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.doctor(c) })
		},
	}
}

var checkStatus = map[review.CheckStatus]render.CheckStatus{
	review.StatusOK: render.StatusOK, review.StatusWarning: render.StatusWarn, review.StatusProblem: render.StatusFail,
}

func (s *session) doctor(c *cli.Context) error {
	checks, err := s.gate.Examination(s.ctx)
	if err != nil {
		return err
	}
	checks = append(review.Examination(s.repo, s.policy), checks...)
	setup, err := s.hooks(c)
	if err != nil {
		return err
	}
	installed, err := hooks.Status(s.ctx, setup)
	if err != nil {
		return err
	}
	checks = append(checks, installed...)
	var settings []render.Setting
	for _, set := range s.policy.Settings() {
		settings = append(settings, render.Setting{Name: set.Name, Value: set.Value, Origin: set.Origin})
	}
	return s.checks(c, checks, settings...)
}

// checks prints a list of checks, and the settings that they rest on; a problem
// among them is a no.
func (s *session) checks(c *cli.Context, checks []review.Check, settings ...render.Setting) error {
	doc := render.Doctor{Schema: render.SchemaDoctor, Settings: settings}
	healthy := true
	for _, check := range checks {
		doc.Checks = append(doc.Checks, render.Check{
			ID: check.ID, Status: checkStatus[check.Status], Message: check.Message, Mend: check.Hint,
		})
		healthy = healthy && check.Status != review.StatusProblem
	}
	var err error
	if s.format == "json" {
		err = s.document(doc)
	} else {
		err = render.DoctorText(s.out, doc, s.textOptions(c))
	}
	if err == nil && !healthy {
		return errAnswerNo
	}
	return err
}
