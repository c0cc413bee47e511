package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

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
	return s.pushTo(remote, specs...)
}

// terminal is where git asks and shows its progress. Its results are none of
// ours, so they go to standard error.
func (s *session) terminal() gitrepo.Terminal {
	return gitrepo.Terminal{In: s.in, Out: s.err, Err: s.err}
}

// pushTo pushes. Where the server's gate or Git says in the words of one of our
// codes why it refused, the exit status says so too.
func (s *session) pushTo(remote string, refspecs ...string) error {
	heard, t := &refusal{to: s.err}, s.terminal()
	t.Err, t.Progress = heard, term.IsTerminal(int(s.err.Fd()))
	err := s.repo.Push(s.ctx, t, remote, refspecs...)
	if fault.CodeOf(err) != fault.GitFailed || heard.code == "" {
		return err
	}
	return fault.New(heard.code, "the remote refused the push; what it said is above").
		WithHint("do what the remote's message says").WithCause(err)
}

// refusal passes on what git says, and listens for the first reason to refuse.
type refusal struct {
	to   io.Writer
	line []byte // the present one, as far as it matters
	code fault.Code
}

func (r *refusal) Write(p []byte) (int, error) {
	const longest = 200
	for _, c := range p {
		if c != '\n' && c != '\r' {
			if len(r.line) < longest {
				r.line = append(r.line, c)
			}
			continue
		}
		if r.code == "" {
			r.code = codeIn(string(r.line))
		}
		r.line = r.line[:0]
	}
	return r.to.Write(p)
}

// codeIn is the code that a line of git's names: one of the server's hooks, in
// their words (hooks.Refusal), or that of a ref that did not move forward.
func codeIn(line string) fault.Code {
	if said, ok := strings.CutPrefix(line, "remote: evolve: "); ok {
		word, _, _ := strings.Cut(said, ":")
		if _, known := exitStatus[fault.Code(word)]; known {
			return fault.Code(word)
		}
	}
	if rest := strings.TrimSpace(line); strings.HasPrefix(rest, "! [rejected]") &&
		(strings.HasSuffix(rest, "(non-fast-forward)") || strings.HasSuffix(rest, "(fetch first)")) {
		return fault.NotFastForward
	}
	return ""
}

// everyRecord are the refspecs of records and revocations. Without a plus: what is
// there is never changed.
var everyRecord = []string{
	review.RecordRefs + "*:" + review.RecordRefs + "*",
	review.RevocationRefs + "*:" + review.RevocationRefs + "*",
}

func (p *program) reviewsPush() *cli.Command {
	return p.reviewsRemote("push", "send every record and revocation to a remote", (*session).pushTo)
}

func (p *program) reviewsFetch() *cli.Command {
	return p.reviewsRemote("fetch", "bring every record and revocation from a remote", func(s *session, remote string, refspecs ...string) error {
		return s.repo.Fetch(s.ctx, s.terminal(), remote, refspecs...)
	})
}

type remoteVerb func(s *session, remote string, refspecs ...string) error

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
				return do(s, args[0], everyRecord...)
			})
		},
	}
}
