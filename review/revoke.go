package review

import (
	"context"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// revocation is what a reviewer signs to take a review back.
type revocation struct {
	Type          string              `json:"_type"`
	Subject       []subject           `json:"subject"`
	PredicateType string              `json:"predicateType"`
	Predicate     revocationPredicate `json:"predicate"`
}

type revocationPredicate struct {
	Version   int    `json:"version"`
	Token     string `json:"token"`
	Reviewer  string `json:"reviewer"`
	RevokedAt string `json:"revoked_at"` // RFC 3339, UTC
}

// Revoke takes a review back. Only its own reviewer can; a review that is revoked
// already is no error. Codes: token_unknown, token_untrusted, signing_failed,
// io_failed.
func Revoke(ctx context.Context, repo *gitrepo.Repo, s Signer, t Token, now time.Time) error {
	r, err := load(ctx, repo, t, nil)
	if err != nil {
		return err
	}
	key, problem := checkSignature(r.data, r.signature, reviewNamespace)
	if problem != "" || !sameKey(key, s.public) {
		return fault.New(fault.TokenUntrusted, "%s was not signed with your key; only its reviewer can revoke it", t.short()).
			WithHint("to stop all tokens of a reviewer, take their key out of the signers file")
	}
	data, err := encode(revocation{
		Type:          statementType,
		Subject:       []subject{{Name: t.String(), Digest: map[string]string{"sha256": t.hex}}},
		PredicateType: revocationType,
		Predicate: revocationPredicate{
			Version: predicateVersion, Token: t.String(), Reviewer: r.Statement.Reviewer(), RevokedAt: stamp(now),
		},
	})
	if err != nil {
		return fault.New(fault.Internal, "the revocation cannot be encoded").WithCause(err)
	}
	signature, err := s.sign(ctx, revokeNamespace, data)
	if err != nil {
		return err
	}
	_, err = writeRecord(ctx, repo, RevocationRefs+t.hex, "evolve revocation", now, data, signature)
	if fault.CodeOf(err) == fault.RefMoved {
		return nil // revoked already
	}
	return err
}

// checkRevocation holds a revocation against the record's signer. problem is ""
// if it counts.
func checkRevocation(ctx context.Context, repo *gitrepo.Repo, t Token, commit gitrepo.ID, signer ssh.PublicKey) (problem string) {
	data, signature, problem := readFiles(ctx, repo, commit)
	if problem != "" {
		return "it " + problem
	}
	var rev revocation
	if decode(data, &rev) != nil || rev.Type != statementType || rev.PredicateType != revocationType || rev.Predicate.Token != t.String() {
		return "it is no revocation of this token"
	}
	key, problem := checkSignature(data, signature, revokeNamespace)
	if problem == "" && !sameKey(key, signer) {
		problem = "it was not signed by the record's reviewer"
	}
	return problem
}

// revoked refuses a revoked token. A revocation that cannot be verified counts
// too: a needless refusal costs another review, never an unreviewed move.
func (r *Record) revoked(ctx context.Context, repo *gitrepo.Repo) error {
	commit := r.revocation
	if !r.revocationRead {
		places := placesOf(repo, RevocationRefs+r.Token.hex)
		refs, err := repo.ReadRefs(ctx, places...)
		if err != nil {
			return err
		}
		commit = present(refs, places)
	}
	if commit == "" {
		return nil
	}
	said := "was revoked by its reviewer"
	problem := checkRevocation(ctx, repo, r.Token, commit, r.key)
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if problem != "" {
		said = "has a revocation that does not verify, and counts all the same: " + problem
	}
	return fault.New(fault.TokenRevoked, "%s %s", r.Token.short(), said).
		WithHint("review the change again: evolve review %s --ref %s", brief(r.Statement.Head()), ShellWord(r.Statement.Ref()))
}
