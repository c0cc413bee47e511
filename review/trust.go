package review

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
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

// Names in <git common dir>/evolve.
const (
	folder        = "evolve"
	signersName   = "signers"
	keyName       = "signing-key"
	fingerprintID = "fingerprint-key"
)

// trust is who may review, as the host says now.
type trust struct {
	signers signers
	revoked []ssh.PublicKey
}

// loadTrust reads the signers file and the revoked keys for a namespace.
// Codes: config_invalid; token_untrusted if nobody was ever named.
func loadTrust(ctx context.Context, repo *gitrepo.Repo, p *Policy, namespace string) (*trust, error) {
	path := p.signersPath(repo)
	data, err := readHostFile(ctx, repo, path, "the signers file")
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.signersFile == "":
		return nil, fault.New(fault.TokenUntrusted, "nobody may review here: there is no signers file").
			WithHint("git config gpg.ssh.allowedSignersFile FILE names the reviewers' keys").WithCause(err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.ConfigInvalid, "the signers file %s does not exist", safetext.Terminal(path)).
			WithHint("git config --show-origin gpg.ssh.allowedSignersFile").WithCause(err)
	case err != nil:
		return nil, err
	}
	t := &trust{}
	if t.signers, err = parseSigners(data, namespace, time.Local); err != nil {
		return nil, err
	}
	if p.revocationFile == "" {
		return t, nil
	}
	data, err = readHostFile(ctx, repo, homePath(repo, p.revocationFile), "gpg.ssh.revocationFile")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.ConfigInvalid, "gpg.ssh.revocationFile names a file that does not exist").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	t.revoked, err = parseRevoked(data)
	return t, err
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
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(repo.Home(), rest)
	}
	return path
}

// readHostFile reads a file that the host's policy rests on: absolute, outside
// every worktree, a regular file, writable by its owner only, who is this user
// or the administrator. A file that does not exist is an error that wraps
// fs.ErrNotExist.
func readHostFile(ctx context.Context, repo *gitrepo.Repo, path, what string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, fault.New(fault.ConfigInvalid, "%s must be named by an absolute path", what)
	}
	shown := safetext.Terminal(path)
	trees, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	if insideWorktree(repo, trees, path) || insideWorktree(repo, trees, filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))) {
		return nil, fault.New(fault.ConfigInvalid, "%s, %s, lies inside a worktree, where the repository's content decides it", what, shown).
			WithHint("move it outside, such as to /etc, and name it there")
	}
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, fault.New(fault.ConfigInvalid, "%s, %s, cannot be read", what, shown).WithCause(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fault.New(fault.ConfigInvalid, "%s, %s, is no regular file", what, shown).WithCause(err)
	}
	if problem := unsafe(info); problem != "" {
		return nil, fault.New(fault.ConfigInvalid, "%s, %s, %s", what, shown, problem).WithHint("chown and chmod go-w it")
	}
	if dir, err := os.Stat(filepath.Dir(realPath(path))); err != nil || openDirectory(dir) {
		return nil, fault.New(fault.ConfigInvalid, "the directory of %s, %s, can be written by anyone", what, shown).WithHint("chmod o-w the directory")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSigners+1))
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "%s, %s, cannot be read", what, shown).WithCause(err)
	}
	return data, nil
}

// openDirectory reports whether anyone may replace files in a directory.
func openDirectory(info fs.FileInfo) bool {
	const othersWrite = 0o002
	return info.Mode().Perm()&othersWrite != 0 && info.Mode()&fs.ModeSticky == 0 && !windows
}

// verify checks an SSH signature in process and returns its key, if it may sign
// as principal at this moment.
func (t *trust) verify(data, armored []byte, namespace, principal string, now time.Time) (ssh.PublicKey, string) {
	key, problem := checkSignature(data, armored, namespace)
	if problem != "" {
		return nil, problem
	}
	if slices.ContainsFunc(t.revoked, func(k ssh.PublicKey) bool { return sameKey(k, key) }) {
		return nil, "its key is revoked"
	}
	principals, everKnown := t.signers.find(key, now)
	switch {
	case slices.Contains(principals, principal):
		return key, ""
	case len(principals) > 0:
		return nil, "its key belongs to another reviewer than it names"
	case everKnown:
		return nil, "its key may not sign at this time"
	}
	return nil, "its key is not among the signers"
}

// checkSignature verifies an armored signature and returns the key that made it.
func checkSignature(data, armored []byte, namespace string) (ssh.PublicKey, string) {
	sig, err := sshsig.Unarmor(armored)
	if err != nil {
		return nil, "its signature cannot be read"
	}
	if sig.PublicKey == nil || !keyTypes[sig.PublicKey.Type()] || sig.Signature.Format == ssh.KeyAlgoRSA {
		return nil, "its signature is of a kind that is not accepted"
	}
	if sig.Namespace != namespace {
		return nil, "it was signed for another purpose"
	}
	if err := sshsig.Verify(bytes.NewReader(data), sig, sig.PublicKey, sig.HashAlgorithm, namespace); err != nil {
		return nil, "its signature does not fit its statement"
	}
	return sig.PublicKey, ""
}

// principalForm is what may be a principal of ours: no comma, wildcard or quote
// that the signers file would read otherwise.
func principalForm(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`,*?!"#`, r)
	})
}
