package review

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// CheckStatus is the outcome of one of doctor's checks.
type CheckStatus string

// The outcomes.
const (
	StatusOK      CheckStatus = "ok"
	StatusWarning CheckStatus = "warning"
	StatusProblem CheckStatus = "problem"
)

// Check is one thing that doctor looked at, and how to mend it.
type Check struct {
	ID      string
	Status  CheckStatus
	Message string
	Hint    string
}

// Examination looks at what reviews rest on: the signers, the keys, their modes.
// It writes nothing.
func Examination(_ context.Context, repo *gitrepo.Repo, p *Policy) []Check {
	return []Check{checkSigners(repo, p), checkSigningKey(repo, p), checkFingerprintKey(repo), checkName(p)}
}

func checkSigners(repo *gitrepo.Repo, p *Policy) Check {
	const id = "signers"
	t, err := loadTrust(repo, p)
	var f *fault.Fault
	switch {
	case err == nil && len(t.signers) == 0:
		return Check{id, StatusProblem, "the signers file names nobody for " + reviewNamespace,
			"write lines with namespaces=\"" + reviewNamespace + "," + revokeNamespace + "\""}
	case err == nil && p.signersFile == "":
		return Check{id, StatusWarning, "reviews are signed with a key that evolve made: whoever runs as this user can approve",
			"git config gpg.ssh.allowedSignersFile FILE names your reviewers' keys"}
	case err == nil:
		return Check{id, StatusOK, fmt.Sprintf("%d key(s) may review (%s)", len(t.signers), safetext.Terminal(p.signersPath(repo))), ""}
	case fault.CodeOf(err) == fault.TokenUntrusted:
		return Check{id, StatusOK, "nobody reviewed here yet; the first review makes a key, or name signers before", ""}
	case errors.As(err, &f):
		return Check{id, StatusProblem, f.Message, f.Hint}
	}
	return Check{id, StatusProblem, "the signers cannot be read", ""}
}

func checkSigningKey(repo *gitrepo.Repo, p *Policy) Check {
	const id = "signing-key"
	if p.signingKey != "" {
		return Check{id, StatusOK, "reviews are signed with the configured key", ""}
	}
	_, err := readGenerated(generatedDir(repo))
	var f *fault.Fault
	switch {
	case err == nil:
		return Check{id, StatusOK, "the generated key can be read by its owner only", ""}
	case errors.Is(err, fs.ErrNotExist):
		return Check{id, StatusOK, "no key was generated", ""}
	case errors.As(err, &f):
		return Check{id, StatusProblem, f.Message, f.Hint}
	}
	return Check{id, StatusProblem, "the generated key cannot be read", ""}
}

func checkFingerprintKey(repo *gitrepo.Repo) Check {
	const id = "fingerprint-key"
	info, err := os.Lstat(filepath.Join(generatedDir(repo), fingerprintKeyName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Check{id, StatusOK, "no fingerprint key yet; fingerprints differ from run to run", ""}
	case err != nil || !secret(info):
		return Check{id, StatusProblem, "the fingerprint key can be read by others than its owner",
			"remove it: the next review makes another (fingerprints in old reports no longer compare)"}
	}
	return Check{id, StatusOK, "the fingerprint key can be read by its owner only", ""}
}

func checkName(p *Policy) Check {
	if p.Repository == "" {
		return Check{"repository-name", StatusWarning, "evolve.repository is not set: a token of another unnamed repository with the same history would fit",
			"git config evolve.repository example.org/team/agent"}
	}
	return Check{"repository-name", StatusOK, "tokens name " + safetext.Terminal(p.Repository), ""}
}
