package hooks

import (
	"context"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/review"
)

// record checks a record that comes with the push. Records are created, and
// nothing else happens to them.
func (p *push) record(ctx context.Context, u update, hex string) error {
	token, err := review.ParseToken(review.Prefix + hex)
	switch {
	case err != nil:
		return fault.New(fault.RefProtected, "a ref under %s must be named by a token's 64 digits", review.RecordRefs).
			WithHint("evolve reviews push REMOTE names them rightly")
	case u.new == "" || u.old != "":
		return fault.New(fault.RefProtected, "a record is written once: a push cannot change or delete it").
			WithHint("its reviewer takes it back: evolve reviews revoke %s", token)
	case len(p.beside) >= maxRecords:
		return fault.New(fault.Unsupported, "more than %d records come with one push", maxRecords).
			WithHint("push fewer at once: git push REMOTE %s<digits>", review.RecordRefs)
	}
	record, err := review.CheckPushed(ctx, p.repo, p.policy, token, u.new, p.in.Now())
	if err != nil {
		return err
	}
	p.beside[token] = record
	return nil
}

// revocation checks a revocation that comes with the push.
func (p *push) revocation(ctx context.Context, u update, hex string) error {
	token, err := review.ParseToken(review.Prefix + hex)
	switch {
	case err != nil:
		return fault.New(fault.RefProtected, "a ref under %s must be named by a token's 64 digits", review.RevocationRefs).
			WithHint("evolve reviews push REMOTE names them rightly")
	case u.new == "" || u.old != "":
		return fault.New(fault.RefProtected, "a revocation is written once: a push cannot change or delete it").
			WithHint("leave it out of the push")
	case len(p.revoking) >= maxRecords:
		return fault.New(fault.Unsupported, "more than %d revocations come with one push", maxRecords).WithHint("push fewer at once")
	}
	p.revoking[token] = true
	return review.CheckPushedRevocation(ctx, p.repo, token, u.new, p.beside[token])
}

// optionTokens are the tokens in push options: "mcp-review:<hex>" alone, or
// behind "token=". Anything else is not ours: it is not looked at, and never
// repeated.
func optionTokens(env []string) []review.Token {
	n, err := strconv.Atoi(getenv(env, "GIT_PUSH_OPTION_COUNT"))
	if err != nil || n <= 0 {
		return nil
	}
	var out []review.Token
	for i := range min(n, maxOptions) {
		option := strings.TrimPrefix(getenv(env, "GIT_PUSH_OPTION_"+strconv.Itoa(i)), "token=")
		if t, err := review.ParseToken(option); err == nil {
			out = append(out, t)
		}
	}
	return out
}
