package review

import (
	"bytes"
	"context"
	"errors"
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
)

// Signer signs records for one reviewer. The zero Signer signs nothing.
type Signer struct {
	repo    *gitrepo.Repo
	policy  *Policy
	own     ssh.Signer // the generated key, nil if the host configured one
	public  ssh.PublicKey
	signers signers
	email   string // which of several principals is meant
	notice  string
}

// Notice is what a person must be told before they trust this signer, "" if
// nothing.
func (s Signer) Notice() string { return s.notice }

// KeyFingerprint is the key's fingerprint, as ssh-keygen -l prints it; "" for the
// zero Signer.
func (s Signer) KeyFingerprint() string {
	if s.public == nil {
		return ""
	}
	return ssh.FingerprintSHA256(s.public)
}

// principalAt is the name that the signer signs under at a time: the one that is
// the user's own address, if the signers file gives the key several.
func (s Signer) principalAt(now time.Time) (string, error) {
	if s.public == nil {
		return "", fault.New(fault.Internal, "nobody signs")
	}
	principals, _ := s.signers.at(s.public, now)
	if len(principals) == 0 {
		return "", fault.New(fault.ConfigInvalid, "your signing key may not sign now: the signers file limits its time").
			WithHint("look at valid-after and valid-before in %s", ShellWord(s.policy.signersPath(s.repo)))
	}
	return pick(principals, s.email), nil
}

func pick(principals []string, email string) string {
	if slices.Contains(principals, email) {
		return email
	}
	return principals[0]
}

// sign returns the armored signature, checked against the key it was expected
// from.
func (s Signer) sign(ctx context.Context, namespace string, data []byte) ([]byte, error) {
	if s.public == nil {
		return nil, fault.New(fault.Internal, "nobody signs")
	}
	var armored []byte
	var err error
	if s.own == nil {
		if armored, err = s.repo.SSHSign(ctx, s.policy.signProgram, s.policy.signingKey, namespace, data); err != nil {
			return nil, err
		}
	} else {
		sig, err := sshsig.Sign(bytes.NewReader(data), s.own, sshsig.HashSHA512, namespace)
		if err != nil {
			return nil, fault.New(fault.SigningFailed, "the generated key did not sign; nothing was written").WithCause(err)
		}
		armored = sshsig.Armor(sig)
	}
	key, problem := checkSignature(data, armored, namespace)
	if problem != "" {
		return nil, fault.New(fault.SigningFailed, "what was signed does not verify (%s); nothing was written", problem).
			WithHint("evolve doctor names the key and the program that sign")
	}
	if !sameKey(key, s.public) {
		return nil, fault.New(fault.SigningFailed, "another key signed than the configured one; nothing was written").
			WithHint("hold the public key beside your signing key against it: ssh-keygen -y -f KEY")
	}
	return armored, nil
}

// LoadSigner finds who signs here: the configured key, or in a private
// repository with nothing configured one that is made for it. Codes:
// config_invalid, signing_failed, io_failed.
func LoadSigner(ctx context.Context, repo *gitrepo.Repo, p *Policy) (Signer, error) {
	if p.signingKey == "" {
		return generatedSigner(ctx, repo, p)
	}
	if p.signersFile == "" {
		return Signer{}, fault.New(fault.ConfigInvalid, "a signing key is configured, and no signers file that accepts it").WithHint(signersHint)
	}
	public, err := configuredKey(ctx, repo, p)
	if err != nil {
		return Signer{}, err
	}
	t, err := loadTrust(repo, p)
	if err != nil {
		return Signer{}, err
	}
	if len(t.signers.ever(public)) == 0 {
		return Signer{}, fault.New(fault.ConfigInvalid, "your signing key is not among the signers, so nobody would accept the review").
			WithHint("have this line added to %s: %s", ShellWord(p.signersPath(repo)), signersLine("NAME", public))
	}
	return Signer{repo: repo, policy: p, public: public, signers: t.signers, email: emailOf(ctx, repo)}, nil
}

// signersLine is the line that lets a key review, without a line break.
func signersLine(principal string, key ssh.PublicKey) string {
	return principal + ` namespaces="` + reviewNamespace + "," + revokeNamespace + `" ` + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// emailOf is the user's address as Git knows it, "" if it does not.
func emailOf(ctx context.Context, repo *gitrepo.Repo) string {
	who, err := repo.Identity(ctx)
	if err != nil {
		return ""
	}
	return who.Email
}

// probeNamespace keeps a signature that only shows a key from meaning anything.
const probeNamespace = "mcp-probe@evolve"

// configuredKey finds the public half of the configured key: written out, or in
// the file beside it, or from a signature over nothing of value.
func configuredKey(ctx context.Context, repo *gitrepo.Repo, p *Policy) (ssh.PublicKey, error) {
	if key := namedKey(repo, p); key != nil {
		return key, nil
	}
	return probe(ctx, repo, p, []byte("evolve: which key is this?\n"))
}

// namedKey finds the public half without asking the key, nil if that is needed.
func namedKey(repo *gitrepo.Repo, p *Policy) ssh.PublicKey {
	if key, problem := readKey(strings.TrimPrefix(p.signingKey, "key::")); problem == "" {
		return key
	}
	path := homePath(repo, p.signingKey)
	if !filepath.IsAbs(path) {
		return nil // it would be looked up in the worktree
	}
	if key := publicKeyIn(path + ".pub"); key != nil {
		return key
	}
	return publicKeyIn(path)
}

// probe has the configured key sign data, and returns the key that did.
func probe(ctx context.Context, repo *gitrepo.Repo, p *Policy, data []byte) (ssh.PublicKey, error) {
	armored, err := repo.SSHSign(ctx, p.signProgram, p.signingKey, probeNamespace, data)
	if err != nil {
		return nil, err
	}
	key, problem := checkSignature(data, armored, probeNamespace)
	if problem != "" {
		return nil, fault.New(fault.SigningFailed, "what the configured key signed does not verify: %s", problem).
			WithHint("git config --show-origin gpg.ssh.program, and user.signingKey, name the program and the key")
	}
	return key, nil
}

// publicKeyIn reads the public key in a file, nil if there is none.
func publicKeyIn(name string) ssh.PublicKey {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHostFile {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	key, problem := readKey(strings.TrimSpace(string(data)))
	if problem != "" {
		return nil
	}
	return key
}

// generatedSigner is the key of a repository whose host configured nothing.
func generatedSigner(ctx context.Context, repo *gitrepo.Repo, p *Policy) (Signer, error) {
	const hint = "git config evolve.signingKey KEY names your key, git config gpg.ssh.allowedSignersFile FILE the reviewers'"
	switch {
	case p.signersFile != "":
		return Signer{}, fault.New(fault.ConfigInvalid, "a signers file is configured, and no key to sign with").WithHint(hint)
	case repo.Bare():
		return Signer{}, fault.New(fault.ConfigInvalid, "a bare repository gets no key of its own: whoever reaches it could approve").WithHint(hint)
	case p.shared():
		return Signer{}, fault.New(fault.ConfigInvalid, "a shared repository gets no key of its own: every user of it could approve").WithHint(hint)
	}
	dir := generatedDir(repo)
	email := emailOf(ctx, repo)
	notice := ""
	key, err := readGenerated(dir)
	if errors.Is(err, fs.ErrNotExist) {
		notice = "A key was made for this repository: whoever runs as this user can approve.\n" +
			"To name real reviewers: git config gpg.ssh.allowedSignersFile FILE"
		key, err = makeKey(dir, email)
	}
	if err != nil {
		return Signer{}, err
	}
	t, err := loadTrust(repo, p)
	if err != nil {
		return Signer{}, err
	}
	if len(t.signers.ever(key.PublicKey())) == 0 {
		return Signer{}, fault.New(fault.ConfigInvalid, "the generated key is not in the generated signers file").
			WithHint("remove both, and review again: rm %s %s",
				ShellWord(filepath.Join(dir, keyName)), ShellWord(filepath.Join(dir, signersName)))
	}
	return Signer{
		repo: repo, policy: p, own: key, public: key.PublicKey(), signers: t.signers, email: email,
		notice: notice,
	}, nil
}
