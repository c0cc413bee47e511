package hooks

import (
	"errors"
	"fmt"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

// reviewAgain are the refusals that a review of the present change answers.
var reviewAgain = map[fault.Code]bool{
	fault.TokenMissing: true, fault.TokenWrongRef: true, fault.TokenRevoked: true, fault.TokenUsed: true,
	fault.TokenExpired: true, fault.TokenStale: true, fault.TokenRulesMismatch: true, fault.ReviewsInsufficient: true,
}

// forPusher gives a refusal the next step as the pusher takes it, in a clone. The
// hints of promote are for whoever stands in the repository itself.
func forPusher(err error, p promote.Proposal) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	ref := review.ShellWord(p.Ref)
	push := fmt.Sprintf("evolve push REMOTE %s:%s --token TOKEN", p.New, ref)
	switch {
	case reviewAgain[f.Code]:
		base := ""
		if p.Old != "" {
			base = fmt.Sprintf(" --base %s", p.Old)
		}
		return f.WithHint("evolve review %s --ref %s%s\n%s", p.New, ref, base, push)
	case f.Code == fault.TokenUnknown:
		return f.WithHint("%s", push)
	case f.Code == fault.NotFastForward:
		return f.WithHint("git fetch REMOTE, git rebase %s, then review and push again", p.Old)
	case f.Code == fault.SelfReview:
		return f.WithHint("ask somebody else to review or to push; where pushes are signed: git push --signed")
	case f.Code == fault.DeclarationInvalid:
		return f.WithHint("evolve lint %s", p.New)
	}
	return f
}
