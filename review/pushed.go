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
func CheckPushed(ctx context.Context, repo *gitrepo.Repo, p *Policy, t Token, commit gitrepo.ID, now time.Time) (*Record, error) {
	r, err := load(ctx, repo, t, map[Token]gitrepo.ID{t: commit})
	if err != nil {
		return nil, err
	}
	trust, err := loadTrust(repo, p)
	if err != nil {
		return nil, err
	}
	if err := r.authenticate(trust, now); err != nil {
		return nil, err
	}
	return r, nil
}

// CheckPushedRevocation judges a revocation that comes with a push: it must be
// signed by the reviewer of a record that is here, or that comes with the same push
// (beside, nil for none). Codes: token_unknown, token_untrusted.
func CheckPushedRevocation(ctx context.Context, repo *gitrepo.Repo, t Token, commit gitrepo.ID, beside *Record) error {
	r := beside
	if r == nil {
		var err error
		if r, err = load(ctx, repo, t, nil); err != nil {
			return err
		}
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
