package main

import (
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// session is one open repository with its host's policy.
type session struct {
	*program
	repo   *gitrepo.Repo
	policy *review.Policy
	gate   *promote.Gate
	// asking is held while a question waits for its answer, and while a note is
	// written beside one.
	asking sync.Mutex
}

// onRepo opens the repository that -C names, runs one command on it, and closes it.
func (p *program) onRepo(c *cli.Context, do func(*session) error) (err error) {
	if err := p.common(c); err != nil {
		return err
	}
	repo, err := gitrepo.Open(p.ctx, gitrepo.Options{Dir: c.String("C"), Env: p.env, Early: true, EarlyObjects: true, EarlyRefs: askedFirst(c)})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := repo.Close(); err == nil {
			err = cerr
		}
	}()
	policy, err := review.LoadPolicy(p.ctx, repo)
	if err != nil {
		return err
	}
	s := &session{program: p, repo: repo, policy: policy}
	s.gate = &promote.Gate{Repo: repo, Policy: policy, Now: p.now}
	return do(s)
}

// commit resolves a revision that the person named.
func (s *session) commit(rev string) (gitrepo.ID, error) { return s.repo.ResolveCommit(s.ctx, rev) }

// report compares the surfaces that were judged, for a person. It is nil where
// they could not be read.
func (s *session) report(j *promote.Judgement) (*securitydiff.Report, error) {
	if j == nil || j.After == nil {
		return nil, nil
	}
	return securitydiff.Compare(s.ctx, j.Before, j.After, securitydiff.Options{
		BaseName: orAbsent(j.Old), HeadName: string(j.New),
		Fingerprinter: review.Fingerprinter(s.repo.CommonDir()), KnownValues: s.policy.KnownValues,
	})
}

// show prints a report as a result, in the format asked for.
func (p *program) show(c *cli.Context, r *securitydiff.Report) error {
	if p.format == "json" {
		return p.document(r)
	}
	return render.Text(p.out, r, p.textOptions(c))
}

func (p *program) textOptions(c *cli.Context) render.TextOptions {
	return render.TextOptions{Width: p.width(p.out), Color: p.colour(p.out), Verbose: c.Bool("verbose")}
}

// ref resolves --ref to a full name and its present value.
func (s *session) ref(c *cli.Context) (name string, value gitrepo.ID, err error) {
	given, err := required(c, "ref")
	if err != nil {
		return "", "", err
	}
	return s.repo.ResolveRefValue(s.ctx, given)
}

// askedFirst are the refs that a command looks up before all else: the one that
// it names, and the records of its tokens. What is wrong with them is said later.
func askedFirst(c *cli.Context) []string {
	var refs []string
	switch ref := c.String("ref"); {
	case ref == "" || ref == "HEAD" || ref == "@":
	case strings.HasPrefix(ref, "refs/"):
		refs = append(refs, ref)
	default:
		refs = append(refs, "refs/heads/"+strings.TrimPrefix(ref, "heads/"))
	}
	tokens, err := tokensOf(c)
	if err != nil {
		return nil
	}
	for _, t := range tokens {
		refs = append(refs, review.RecordRefs+t.Hex(), review.RevocationRefs+t.Hex())
	}
	return refs
}

// orAbsent is an id as documents have it: "absent" for a ref that does not exist.
func orAbsent(id gitrepo.ID) string {
	if id == "" {
		return "absent"
	}
	return string(id)
}
