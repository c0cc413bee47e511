package review

import (
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

// Examination looks at what reviews rest on: the signers, the keys, their modes,
// the repository's name. It writes nothing and asks no key to sign.
func Examination(repo *gitrepo.Repo, p *Policy) []Check {
	return []Check{checkSigners(repo, p), checkSigningKey(repo, p), checkFingerprintKey(repo), checkName(p)}
}

// failed is a check whose answer is an error.
func failed(id string, err error) Check {
	var f *fault.Fault
	if errors.As(err, &f) {
		return Check{id, StatusProblem, f.Message, f.Hint}
	}
	return Check{id, StatusProblem, "it cannot be read", ""}
}

func checkSigners(repo *gitrepo.Repo, p *Policy) Check {
	const id = "signers"
	t, err := loadTrust(repo, p)
	switch {
	case fault.CodeOf(err) == fault.TokenUntrusted && (repo.Bare() || p.shared()):
		return Check{id, StatusProblem, "nobody may review here: no signers file is configured", signersHint}
	case fault.CodeOf(err) == fault.TokenUntrusted:
		return Check{id, StatusOK, "nobody reviewed here yet; the first review makes a key, unless you name signers", signersHint}
	case err != nil:
		return failed(id, err)
	case len(t.signers) == 0:
		return Check{id, StatusProblem, "the signers file names nobody for " + reviewNamespace, "add lines: " + signersForm}
	case p.signersFile == "":
		return Check{id, StatusWarning, "reviews are signed with a key that evolve made: whoever runs as this user can approve", signersHint}
	}
	return Check{id, StatusOK, fmt.Sprintf("%d key(s) may review (%s)", len(t.signers), safetext.Terminal(p.signersPath(repo))), ""}
}

func checkSigningKey(repo *gitrepo.Repo, p *Policy) Check {
	const id = "signing-key"
	if p.signingKey != "" {
		return checkConfiguredKey(id, repo, p)
	}
	_, err := readGenerated(generatedDir(repo))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Check{id, StatusOK, "no key was generated", ""}
	case err != nil:
		return failed(id, err)
	}
	return Check{id, StatusOK, "the generated key can be read by its owner only", ""}
}

func checkConfiguredKey(id string, repo *gitrepo.Repo, p *Policy) Check {
	key := namedKey(repo, p)
	t, err := loadTrust(repo, p)
	switch {
	case key == nil:
		return Check{id, StatusOK, "reviews are signed with the configured key, whose public half is not at hand", ""}
	case err == nil && len(t.signers.ever(key)) == 0:
		return Check{id, StatusWarning, "the configured key is not among the signers: it can review nothing here",
			"have this line added to the signers file: " + signersLine("NAME", key)}
	}
	return Check{id, StatusOK, "reviews are signed with the configured key", ""}
}

func checkFingerprintKey(repo *gitrepo.Repo) Check {
	const id = "fingerprint-key"
	path := filepath.Join(generatedDir(repo), fingerprintKeyName)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Check{id, StatusOK, "no fingerprint key yet; fingerprints differ from run to run", ""}
	case err != nil || !secret(info):
		return Check{id, StatusProblem, "the fingerprint key can be read by others than its owner, so it is not used",
			"the next review makes another: rm " + ShellWord(path)}
	}
	return Check{id, StatusOK, "the fingerprint key can be read by its owner only", ""}
}

func checkName(p *Policy) Check {
	const id = "repository-name"
	if p.Repository == "" {
		return Check{id, StatusWarning, "evolve.repository is not set: a token of another unnamed repository with the same history would fit",
			"git config evolve.repository example.org/team/agent"}
	}
	return Check{id, StatusOK, "tokens name " + safetext.Terminal(p.Repository), ""}
}
