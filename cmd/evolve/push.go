package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

func (p *program) pushCommand() *cli.Command {
	return &cli.Command{
		Name: "push", Usage: "push a branch with the records of its tokens", UsageText: "evolve push REMOTE HEAD:REF [--token TOKEN]...",
		Description: `   Runs git push --atomic with each token's record beside the branch: both
   arrive, or neither. What the server says is printed as git prints it.`,
		Flags: []cli.Flag{tokenFlag()},
		Action: func(c *cli.Context) error {
			args, err := operands(c, 2, 2, "REMOTE HEAD:REF")
			if err != nil {
				return err
			}
			tokens, err := tokensOf(c)
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.push(args[0], args[1], tokens) })
		},
	}
}

func (s *session) push(remote, refspec string, tokens []review.Token) error {
	specs := []string{refspec}
	for _, t := range tokens {
		if _, err := review.Show(s.ctx, s.repo, s.policy, t, s.now()); err != nil {
			return err
		}
		specs = append(specs, review.RecordRefs+t.Hex())
	}
	return s.repo.Push(s.ctx, s.terminal(), remote, specs...)
}

// terminal is where git asks and shows its progress. Its results are none of
// ours, so they go to standard error.
func (s *session) terminal() gitrepo.Terminal {
	return gitrepo.Terminal{In: s.in, Out: s.err, Err: s.err}
}

// everyRecord are the refspecs of records and revocations. Without a plus: what is
// there is never changed.
var everyRecord = []string{
	review.RecordRefs + "*:" + review.RecordRefs + "*",
	review.RevocationRefs + "*:" + review.RevocationRefs + "*",
}

func (p *program) reviewsPush() *cli.Command {
	return p.reviewsRemote("push", "send every record and revocation to a remote", (*gitrepo.Repo).Push)
}

func (p *program) reviewsFetch() *cli.Command {
	return p.reviewsRemote("fetch", "bring every record and revocation from a remote", (*gitrepo.Repo).Fetch)
}

type remoteVerb func(*gitrepo.Repo, context.Context, gitrepo.Terminal, string, ...string) error

func (p *program) reviewsRemote(name, usage string, do remoteVerb) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, UsageText: "evolve reviews " + name + " REMOTE",
		Action: func(c *cli.Context) error {
			args, err := operands(c, 1, 1, "REMOTE")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error {
				if name == "push" {
					refs, err := s.repo.Refs(s.ctx, review.RecordRefs)
					if err != nil {
						return err
					}
					if len(refs) == 0 {
						return fault.New(fault.TokenUnknown, "there is no record to push").
							WithHint("evolve review HEAD --ref REF makes one")
					}
				}
				return do(s.repo, s.ctx, s.terminal(), args[0], everyRecord...)
			})
		},
	}
}
