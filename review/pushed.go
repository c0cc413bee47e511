package review

import (
	"context"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// CheckPushed judges a record that comes with a push: it must be whole, named by
// its digest, and signed by an allowed reviewer. Codes: token_unknown,
// token_untrusted, config_invalid.
func CheckPushed(ctx context.Context, repo *gitrepo.Repo, p *Policy, t Token, commit gitrepo.ID, now time.Time) error {
	_, err := Load(ctx, repo, p, []Token{t}, map[Token]gitrepo.ID{t: commit}, now)
	return err
}

// CheckPushedRevocation judges a revocation that comes with a push: it must be
// signed by the reviewer of a record that is here. Codes: token_unknown,
// token_untrusted.
func CheckPushedRevocation(ctx context.Context, repo *gitrepo.Repo, t Token, commit gitrepo.ID) error {
	r, err := load(ctx, repo, t, nil)
	if err != nil {
		return err
	}
	key, problem := checkSignature(r.data, r.signature, reviewNamespace)
	if problem == "" {
		problem = checkRevocation(ctx, repo, t, commit, key)
	}
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if problem != "" {
		return fault.New(fault.TokenUntrusted, "the pushed revocation of %s does not count: %s", t.short(), problem).
			WithHint("the reviewer revokes it: evolve reviews revoke %s", t)
	}
	return nil
}

// Load reads the records of tokens and verifies their signatures, for a check
// under the ref's lock by another process than judged the move. beside are records
// that come with a push and are no refs yet; it may be nil. Codes:
// token_malformed, token_unknown, token_untrusted, config_invalid.
func Load(ctx context.Context, repo *gitrepo.Repo, p *Policy, tokens []Token, beside map[Token]gitrepo.ID, now time.Time) ([]*Record, error) {
	var trust *trust
	var out []*Record
	for _, t := range tokens {
		r, err := load(ctx, repo, t, beside)
		if err != nil {
			return nil, err
		}
		if trust == nil {
			if trust, err = loadTrust(repo, p); err != nil {
				return nil, err
			}
		}
		if err := r.authenticate(trust, now); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
