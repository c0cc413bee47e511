package review

import (
	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// reviewers checks what concerns all tokens of a move together: how many people
// reviewed, and who moves the ref.
func (v *verifier) reviewers(records []*Record) error {
	if n := distinct(records); n < v.policy.RequiredReviews {
		return fault.New(fault.ReviewsInsufficient, "%d distinct reviewer(s) accepted the change; %d are needed (evolve.requiredReviews)",
			n, v.policy.RequiredReviews).
			WithHint("have somebody else review it, with another key: %s", v.again())
	}
	if !v.policy.ForbidSelfReview {
		return nil
	}
	ref := safetext.Terminal(v.move.Ref)
	pusher := v.opt.Pusher
	if !pusher.Authenticated {
		return fault.New(fault.SelfReview, "who moves %s is not proved, and nobody may move what they reviewed (evolve.forbidSelfReview)", ref).
			WithHint("sign the push (git push --signed), or name your key here: git config evolve.signingKey KEY")
	}
	for _, r := range records {
		if r.Statement.Reviewer() == pusher.Name || ssh.FingerprintSHA256(r.key) == pusher.KeyFingerprint {
			return fault.New(fault.SelfReview, "%s was reviewed by the one who moves %s (evolve.forbidSelfReview)", r.Token.short(), ref).
				WithHint("have somebody else move it, or review it: %s", v.again())
		}
	}
	return nil
}

// distinct counts reviewers that differ in key and in principal: the most records
// of which no two share either.
func distinct(records []*Record) int {
	keysOf := map[string][]string{}
	for _, r := range records {
		who := r.Statement.Reviewer()
		keysOf[who] = append(keysOf[who], string(r.key.Marshal()))
	}
	holder := map[string]string{} // key -> principal
	n := 0
	for who := range keysOf {
		if give(who, keysOf, holder, map[string]bool{}) {
			n++
		}
	}
	return n
}

// give finds a principal a key of its own, moving others aside where they have
// another (augmenting paths in a bipartite graph).
func give(who string, keysOf map[string][]string, holder map[string]string, tried map[string]bool) bool {
	for _, key := range keysOf[who] {
		if tried[key] {
			continue
		}
		tried[key] = true
		other, held := holder[key]
		if !held || give(other, keysOf, holder, tried) {
			holder[key] = who
			return true
		}
	}
	return false
}
