package review

import (
	"context"
	"crypto/rand"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// Pusher is who asks for a move.
type Pusher struct {
	// Name is a principal or an account's name; free text unless Authenticated.
	Name string
	// KeyFingerprint is that of the key that proved it, SHA256:..., as ssh-keygen
	// -l and GIT_PUSH_CERT_KEY give it; may be empty.
	KeyFingerprint string
	// Authenticated says that the identity was proved: by a signature, or by a
	// server variable that the host has mapped.
	Authenticated bool
}

// LocalPusher is who promotes here: the identity that would sign a review, if
// there is one; else Git's author, not proved. The key is made to prove itself
// only where the policy asks who moves a ref (evolve.forbidSelfReview), since
// that may ask for a pass phrase or a touch. Codes: interrupted.
func LocalPusher(ctx context.Context, repo *gitrepo.Repo, p *Policy) (Pusher, error) {
	email := emailOf(ctx, repo)
	if email == "" {
		email = "unknown"
	}
	pusher := Pusher{Name: email}
	key, proved, err := localKey(ctx, repo, p)
	if ctx.Err() != nil {
		return Pusher{}, interrupted(ctx)
	}
	if err != nil {
		return pusher, nil //nolint:nilerr // nobody has to be able to sign; who is not proved is refused later
	}
	t, err := loadTrust(repo, p)
	if err != nil {
		return pusher, nil //nolint:nilerr // without signers no token is valid either
	}
	principals := t.signers.ever(key)
	if len(principals) == 0 {
		return pusher, nil
	}
	return Pusher{Name: pick(principals, email), KeyFingerprint: ssh.FingerprintSHA256(key), Authenticated: proved}, nil
}

// localKey finds the key that signs here, and whether it was seen to sign.
func localKey(ctx context.Context, repo *gitrepo.Repo, p *Policy) (key ssh.PublicKey, proved bool, err error) {
	if p.signingKey == "" {
		own, err := readGenerated(generatedDir(repo))
		if err != nil {
			return nil, false, err
		}
		return own.PublicKey(), true, nil
	}
	if !p.ForbidSelfReview {
		if key = namedKey(repo, p); key == nil {
			err = fault.New(fault.ConfigInvalid, "the signing key is not known without asking it")
		}
		return key, false, err
	}
	challenge := make([]byte, saltBytes)
	_, _ = rand.Read(challenge) // never fails (crypto/rand)
	key, err = probe(ctx, repo, p, challenge)
	return key, err == nil, err
}
