package review

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/pattern"
)

// gitNamespace is that of Git's own SSH signatures (gpg-interface.c, sign_buffer_ssh).
const gitNamespace = "git"

// MaxPushCert bounds a push certificate, in bytes: a line for every ref.
const MaxPushCert = 4 << 20

// PushCert is what a signed push came with, as receive-pack hands it to its hooks.
type PushCert struct {
	Data []byte // GIT_PUSH_CERT, the blob's bytes
	// Nonce is what this server issued, GIT_PUSH_CERT_NONCE, and NonceStatus what
	// it said of the certificate's, GIT_PUSH_CERT_NONCE_STATUS.
	Nonce, NonceStatus string
	// Updates are the lines "old new ref" that the hook was given. A certificate
	// proves who pushes these and no others.
	Updates []string
}

// CertifiedPusher is who signed a push: the signature is verified here, against the
// signers whose line names the namespace "git", and never taken from what the
// environment says of it. ok is false for a certificate that proves nobody.
func CertifiedPusher(repo *gitrepo.Repo, p *Policy, c PushCert, now time.Time) (pusher Pusher, ok bool) {
	const marker = "-----BEGIN SSH SIGNATURE-----"
	cut := bytes.LastIndex(c.Data, []byte("\n"+marker))
	if cut < 0 || c.Nonce == "" || c.NonceStatus != "OK" && c.NonceStatus != "SLOP" {
		return Pusher{}, false
	}
	signed, armored := c.Data[:cut+1], c.Data[cut+1:]
	header, body, found := strings.Cut(string(signed), "\n\n")
	if !found || !slices.Contains(strings.Split(header, "\n"), "nonce "+c.Nonce) {
		return Pusher{}, false
	}
	listed := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for _, u := range c.Updates {
		if !slices.Contains(listed, u) {
			return Pusher{}, false
		}
	}
	key, problem := checkSignature(signed, armored, gitNamespace)
	if problem != "" {
		return Pusher{}, false
	}
	principals := pushers(repo, p, key, now)
	if len(principals) == 0 {
		return Pusher{}, false
	}
	return Pusher{Name: principals[0], KeyFingerprint: ssh.FingerprintSHA256(key), Authenticated: true}, true
}

// pushers are the principals that a key may sign pushes as, now.
func pushers(repo *gitrepo.Repo, p *Policy, key ssh.PublicKey, now time.Time) []string {
	data, err := p.place.readHostFile(p.signersPath(repo), "the signers file")
	if err != nil {
		return nil
	}
	known, err := parseSignersFor(data, gitNamespace, time.Local)
	if err != nil {
		return nil
	}
	revoked, err := loadRevoked(repo, p)
	if err != nil || slices.ContainsFunc(revoked, func(k ssh.PublicKey) bool { return sameKey(k, key) }) {
		return nil
	}
	principals, _ := known.at(key, now)
	return principals
}

// IsPrincipal reports whether a text may stand as a pusher's name in the audit
// log and beside a reviewer's: what may be a principal of the signers file.
func IsPrincipal(s string) bool { return isPrincipal(s) }

var variableForm = pattern.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// strangeVariable refuses what names no variable, and those that a pusher sets:
// push options and Git's own.
func strangeVariable(name string) bool {
	return name != "" && (!variableForm.MatchString(name) || strings.HasPrefix(strings.ToUpper(name), "GIT_"))
}

// InWorktree reports whether a path lies where a checkout of this repository
// decides what is there.
func (p *Policy) InWorktree(path string) bool { return p.place.inside(path) }
