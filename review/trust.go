package review

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// trust is who may review, as the host says now.
type trust struct {
	signers signers
	revoked []ssh.PublicKey
}

// signersHint says how to name reviewers.
const signersHint = "git config gpg.ssh.allowedSignersFile FILE names the reviewers' keys, in a file outside every worktree"

// loadTrust reads who may sign reviews, and which keys are revoked. Codes:
// config_invalid; token_untrusted if nobody was ever named.
func loadTrust(repo *gitrepo.Repo, p *Policy) (*trust, error) {
	nobody := fault.New(fault.TokenUntrusted, "nobody may review here: there is no signers file").WithHint(signersHint)
	if p.signersFile == "" && (repo.Bare() || p.shared()) {
		return nil, nobody // a generated file counts in a private repository only
	}
	path := p.signersPath(repo)
	data, err := p.place.readHostFile(path, "the signers file")
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.signersFile == "":
		return nil, nobody.WithCause(err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.ConfigInvalid, "the signers file %s does not exist", safetext.Terminal(path)).
			WithHint("git config --show-origin gpg.ssh.allowedSignersFile").WithCause(err)
	case err != nil:
		return nil, err
	}
	t := &trust{}
	// Times without a zone are in the host's, as ssh-keygen reads them.
	if t.signers, err = parseSigners(data, time.Local); err != nil {
		return nil, err
	}
	t.revoked, err = loadRevoked(repo, p)
	return t, err
}

func loadRevoked(repo *gitrepo.Repo, p *Policy) ([]ssh.PublicKey, error) {
	if p.revocationFile == "" {
		return nil, nil
	}
	data, err := p.place.readHostFile(homePath(repo, p.revocationFile), "gpg.ssh.revocationFile")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.ConfigInvalid, "gpg.ssh.revocationFile names a file that does not exist").
			WithHint("git config --show-origin gpg.ssh.revocationFile").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	return parseRevoked(data)
}

// signersPath is where the signers are named.
func (p *Policy) signersPath(repo *gitrepo.Repo) string {
	if p.signersFile == "" {
		return filepath.Join(repo.CommonDir(), folder, signersName)
	}
	return homePath(repo, p.signersFile)
}

// homePath expands "~/", as Git does for a path in its configuration.
func homePath(repo *gitrepo.Repo, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && repo.Home() != "" {
		return filepath.Join(repo.Home(), rest)
	}
	return path
}

// verify checks an SSH signature in process and returns its key, if that may sign
// as principal at this moment. problem says why not.
func (t *trust) verify(data, armored []byte, principal string, now time.Time) (key ssh.PublicKey, problem string) {
	key, problem = checkSignature(data, armored, reviewNamespace)
	if problem != "" {
		return nil, problem
	}
	if slices.ContainsFunc(t.revoked, func(k ssh.PublicKey) bool { return sameKey(k, key) }) {
		return nil, "its key is revoked"
	}
	principals, known := t.signers.at(key, now)
	switch {
	case slices.Contains(principals, principal):
		return key, ""
	case len(principals) > 0:
		return nil, "its key belongs to another reviewer than it names"
	case known:
		return nil, "its key may not sign at this time"
	}
	return nil, "its key is not among the signers"
}

// checkSignature verifies an armored signature and returns the key that made it,
// whoever that is.
func checkSignature(data, armored []byte, namespace string) (ssh.PublicKey, string) {
	sig, err := sshsig.Unarmor(armored)
	if err != nil {
		return nil, "its signature cannot be read"
	}
	if !acceptedKeyType(sig.PublicKey.Type()) {
		return nil, "its key is of a type that is not accepted"
	}
	if sig.Namespace != namespace {
		return nil, "it was signed for another purpose"
	}
	if err := sshsig.Verify(bytes.NewReader(data), sig, sig.PublicKey, sig.HashAlgorithm, namespace); err != nil {
		return nil, "its signature does not fit its statement"
	}
	return sig.PublicKey, ""
}
