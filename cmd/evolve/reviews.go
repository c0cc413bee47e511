package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/review"
)

func (p *program) reviewsCommand() *cli.Command {
	return &cli.Command{
		Name:        "reviews",
		Usage:       "list, show, revoke, prune, push and fetch review records",
		UsageText:   "evolve reviews list | show TOKEN | revoke TOKEN | prune\n   evolve reviews push REMOTE | fetch REMOTE",
		Subcommands: []*cli.Command{p.reviewsList(), p.reviewsShow(), p.reviewsRevoke(), p.reviewsPrune(), p.reviewsPush(), p.reviewsFetch()},
		Action: func(c *cli.Context) error {
			_ = cli.ShowSubcommandHelp(c)
			return fault.New(fault.Usage, "reviews needs a command of its own").WithHint("evolve reviews list")
		},
	}
}

// reviewsVerb is one command under reviews.
func (p *program) reviewsVerb(name, usage, operand string, flags []cli.Flag, do func(*session, *cli.Context, []string) error) *cli.Command {
	least, text := 0, "evolve reviews "+name
	if operand != "" {
		least, text = 1, text+" "+operand
	}
	return &cli.Command{
		Name: name, Usage: usage, UsageText: text,
		Flags: append(flags, formatFlag(), quietFlag(), verboseFlag()),
		Action: func(c *cli.Context) error {
			args, err := operands(c, least, least, operand)
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return do(s, c, args) })
		},
	}
}

func (p *program) reviewsList() *cli.Command {
	return p.reviewsVerb("list", "list the records of this repository", "", nil,
		func(s *session, c *cli.Context, _ []string) error {
			list, err := review.List(s.ctx, s.repo, s.policy, s.now())
			if err != nil {
				return err
			}
			return s.showReviews(c, list)
		})
}

func (p *program) reviewsShow() *cli.Command {
	return p.reviewsVerb("show", "show one record", "TOKEN", nil,
		func(s *session, c *cli.Context, args []string) error {
			token, err := review.ParseToken(args[0])
			if err != nil {
				return err
			}
			entry, err := review.Show(s.ctx, s.repo, s.policy, token, s.now())
			if err != nil {
				return err
			}
			return s.showReviews(c, []review.Entry{entry})
		})
}

func (s *session) showReviews(c *cli.Context, list []review.Entry) error {
	doc := render.Reviews{Schema: render.SchemaReviews}
	for _, e := range list {
		doc.Reviews = append(doc.Reviews, reviewEntry(e))
	}
	if s.format == "json" {
		return s.document(doc)
	}
	return render.ReviewsText(s.out, doc, s.textOptions(c))
}

func reviewEntry(e review.Entry) render.ReviewEntry {
	out := render.ReviewEntry{Token: e.Token.String(), State: stateOf(e.Err)}
	if r := e.Record; r != nil {
		st := r.Statement
		out.Ref, out.Base, out.Head, out.Reviewer = st.Ref(), st.Base(), string(st.Head()), st.Reviewer()
		out.IssuedAt, out.ExpiresAt, out.Reason = st.IssuedAt(), st.ExpiresAt(), st.Reason()
	}
	return out
}

// stateOf says what a gate would say of a record now.
func stateOf(err error) render.ReviewState {
	switch fault.CodeOf(err) {
	case "":
		return render.ReviewValid
	case fault.TokenExpired:
		return render.ReviewExpired
	case fault.TokenRevoked:
		return render.ReviewRevoked
	}
	return render.ReviewUnverified
}

func (p *program) reviewsRevoke() *cli.Command {
	return p.reviewsVerb("revoke", "take a review back; signed by its own reviewer", "TOKEN", []cli.Flag{approveFlag()},
		func(s *session, c *cli.Context, args []string) error {
			token, err := review.ParseToken(args[0])
			if err != nil {
				return err
			}
			yes, err := s.approved(s.ctx, c.Bool("approve"), "Revoke "+token.String()[:23]+"...?")
			if err != nil {
				return err
			}
			if !yes {
				return fault.New(fault.ApprovalRequired, "nothing was revoked").WithHint("answer yes on a terminal, or pass --approve")
			}
			signer, err := review.LoadSigner(s.ctx, s.repo, s.policy)
			if err != nil {
				return err
			}
			if err := review.Revoke(s.ctx, s.repo, signer, token, s.now()); err != nil {
				return err
			}
			if s.format == "json" {
				return s.document(render.Revocation{Schema: render.SchemaRevocation, Token: token.String()})
			}
			return s.print(fmt.Sprintf("revoked %s\n", token))
		})
}

func (p *program) reviewsPrune() *cli.Command {
	flags := []cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "say what would go, and remove nothing"}}
	return p.reviewsVerb("prune", "remove records that expired long ago", "", flags,
		func(s *session, c *cli.Context, _ []string) error {
			gone, err := review.Prune(s.ctx, s.repo, s.policy, s.now(), c.Bool("dry-run"))
			if err != nil {
				return err
			}
			doc := render.Pruned{Schema: render.SchemaPruned, DryRun: c.Bool("dry-run")}
			for _, t := range gone {
				doc.Tokens = append(doc.Tokens, t.String())
			}
			if s.format == "json" {
				return s.document(doc)
			}
			verb := "removed"
			if doc.DryRun {
				verb = "would remove"
			}
			text := ""
			for _, t := range doc.Tokens {
				text += t + "\n"
			}
			return s.print(text + fmt.Sprintf("%s %d record(s)\n", verb, len(doc.Tokens)))
		})
}
