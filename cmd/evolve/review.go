package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
	"github.com/evolve-mcp/evolve/securitydiff"
)

func (p *program) reviewCommand() *cli.Command {
	return &cli.Command{
		Name:      "review",
		Usage:     "review a change and mint its token",
		UsageText: "evolve review [HEAD] --ref REF",
		Description: `   Shows what moving REF to HEAD (default: the commit HEAD) would change, asks
   for approval, and writes a signed record. The record's token is the last
   line of standard output. With --merge, HEAD is merged into REF first, as an
   object that no ref names, and that merge is reviewed.`,
		Flags: []cli.Flag{
			refFlag(),
			&cli.StringFlag{Name: "base", Usage: "compare with `REV` instead of REF's present commit"},
			&cli.BoolFlag{Name: "merge", Usage: "review the result of merging HEAD into REF"},
			&cli.StringFlag{Name: "expires", Usage: "how long the token is good, as a `DURATION` such as 24h or 3d"},
			reasonFlag(), approveFlag(), formatFlag(), quietFlag(), verboseFlag(),
		},
		Action: func(c *cli.Context) error {
			args, err := operands(c, 0, 1, "HEAD")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.review(c, args) })
		},
	}
}

func (s *session) review(c *cli.Context, args []string) error {
	expiry, err := s.policy.ExpiryFor(c.String("expires"))
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
	if proposal.Old, err = s.reviewBase(c, proposal); err != nil {
		return err
	}
	if c.Bool("merge") {
		if proposal.New, err = s.merged(proposal); err != nil {
			return err
		}
	}
	j, err := s.gate.Examine(s.ctx, proposal)
	report, failed := s.report(j)
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return s.showRefused(c, report, err)
	}
	doc := render.Review{
		Schema: "evolve.review/v1",
		Ref:    proposal.Ref, Base: orAbsent(proposal.Old), Head: string(proposal.New), Report: report,
	}
	if len(j.Deltas) == 0 {
		return s.nothingToReview(c, doc)
	}
	if s.format == "text" {
		if err := s.show(c, report); err != nil {
			return err
		}
	}
	yes, err := s.approved(s.ctx, c.Bool("approve"), "Accept this change for "+safetext.Terminal(proposal.Ref)+"?")
	if err != nil {
		return err
	}
	if !yes {
		return fault.New(fault.ApprovalRequired, "the change was not accepted; no record was written").
			WithHint("answer yes on a terminal, or pass --approve")
	}
	record, err := s.mint(c, j, report.Digest(), expiry)
	if err != nil {
		return err
	}
	return s.showRecord(doc, record)
}

// proposal reads HEAD and --ref.
func (s *session) proposal(c *cli.Context, args []string) (promote.Proposal, error) {
	var p promote.Proposal
	var err error
	if p.Ref, p.Old, err = s.ref(c); err != nil {
		return p, err
	}
	rev := "HEAD"
	if len(args) > 0 {
		rev = args[0]
	}
	p.New, err = s.commit(rev)
	return p, err
}

// reviewBase is what the change is compared with: --base, or REF's present
// commit. Where REF itself is at HEAD (a branch reviewed in the clone that made
// it), that is its upstream.
func (s *session) reviewBase(c *cli.Context, p promote.Proposal) (gitrepo.ID, error) {
	if c.IsSet("base") {
		return s.commit(c.String("base"))
	}
	if p.Old != p.New {
		return p.Old, nil
	}
	upstream, err := s.repo.Upstream(s.ctx, p.Ref)
	if err != nil || upstream == "" {
		return p.Old, err
	}
	base, err := s.commit(upstream)
	if err == nil {
		s.note("%s is at HEAD: comparing with its upstream %s", safetext.Terminal(p.Ref), safetext.Terminal(upstream))
	}
	return base, err
}

// merged is the commit that merging HEAD into the base would make.
func (s *session) merged(p promote.Proposal) (gitrepo.ID, error) {
	if p.Old == "" {
		s.note("%s does not exist: there is nothing to merge into.", safetext.Terminal(p.Ref))
		return p.New, nil
	}
	id, err := s.gate.PrepareMerge(s.ctx, p.Old, p.New)
	switch {
	case err != nil:
		return "", err
	case id == p.New:
		s.note("%s already contains %s: no merge is needed.", brief(string(p.New)), brief(string(p.Old)))
	case id == p.Old:
		s.note("%s is merged already.", brief(string(p.New)))
	default:
		s.note("The merge of %s into %s is %s; no ref names it.", brief(string(p.New)), brief(string(p.Old)), id)
	}
	return id, nil
}

// showRefused prints the report, where there is one, in front of a refusal, so
// that the reviewer sees what was refused.
func (s *session) showRefused(c *cli.Context, report *securitydiff.Report, err error) error {
	if report == nil || s.format != "text" {
		return err
	}
	if serr := s.show(c, report); serr != nil {
		return serr
	}
	return err
}

func (s *session) nothingToReview(c *cli.Context, doc render.Review) error {
	if s.format == "json" {
		return s.document(doc)
	}
	if err := s.show(c, doc.Report); err != nil {
		return err
	}
	s.note("Nothing that a token covers changes: the move needs none.")
	return nil
}

func (s *session) mint(c *cli.Context, j *promote.Judgement, reportDigest string, expiry time.Duration) (*review.Record, error) {
	signer, err := review.LoadSigner(s.ctx, s.repo, s.policy)
	if err != nil {
		return nil, err
	}
	if notice := signer.Notice(); notice != "" {
		s.note("%s", notice)
	}
	return review.Mint(s.ctx, s.repo, s.policy, signer, review.MintRequest{
		Ref: j.Ref, Base: j.Old, Head: j.New, Deltas: j.Deltas,
		Now: s.now(), Expiry: expiry, Reason: c.String("reason"),
		ReportDigest: reportDigest,
	})
}

func (s *session) showRecord(doc render.Review, r *review.Record) error {
	token, expires := r.Token.String(), r.Statement.ExpiresAt()
	doc.Token, doc.Reviewer, doc.ExpiresAt = &token, r.Statement.Reviewer(), expires
	if s.format == "json" {
		return s.document(doc)
	}
	s.note("Reviewed by %s, good until %s. To use it:", safetext.Terminal(doc.Reviewer), expires.Format(time.RFC3339))
	s.note("  evolve promote %s --ref %s --token TOKEN", doc.Head[:12], safetext.Terminal(doc.Ref))
	return s.print(fmt.Sprintln(token))
}

func (p *program) verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check whether tokens are enough for a move",
		UsageText: "evolve verify [HEAD] --ref REF [--token TOKEN]...",
		Description: `   Answers whether REF may move to HEAD (default: the commit HEAD) with the
   named tokens, or with those in MCP-Review trailers of the commits that would
   move. Writes nothing.`,
		Flags: []cli.Flag{
			refFlag(), tokenFlag(),
			&cli.StringFlag{Name: "base", Usage: "judge the move from `REV` instead of REF's present commit"},
			formatFlag(), quietFlag(), verboseFlag(),
		},
		Action: func(c *cli.Context) error {
			args, err := operands(c, 0, 1, "HEAD")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.verify(c, args) })
		},
	}
}

func (s *session) verify(c *cli.Context, args []string) error {
	tokens, err := tokensOf(c)
	if err != nil {
		return err
	}
	proposal, err := s.proposal(c, args)
	if err != nil {
		return err
	}
	if c.IsSet("base") {
		if proposal.Old, err = s.commit(c.String("base")); err != nil {
			return err
		}
	}
	proposal.Tokens = tokens
	if s.policy.ForbidSelfReview { // else nobody asks who it is
		if proposal.Pusher, err = s.pusher(); err != nil {
			return err
		}
	}
	j, judged := s.gate.Judge(s.ctx, proposal)
	doc := render.Verification{
		Schema: "evolve.verification/v1", Valid: judged == nil, Code: string(fault.CodeOf(judged)),
		Ref: proposal.Ref, Base: orAbsent(proposal.Old), Head: string(proposal.New),
		Tokens: j.TokenStrings(), RequiresReview: len(j.Deltas) > 0,
	}
	if s.format == "json" {
		err = s.document(doc)
	} else {
		err = render.VerificationText(s.out, doc, s.textOptions(c))
	}
	if err != nil {
		return err
	}
	return judged
}
