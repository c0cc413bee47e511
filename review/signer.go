package review

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Signer signs records for one reviewer.
type Signer struct {
	repo      *gitrepo.Repo
	policy    *Policy
	own       ssh.Signer // the generated key, nil if the host configured one
	public    ssh.PublicKey
	principal string
	notice    string
}

// Notice is what a person must be told before they trust this signer, "" if
// nothing.
func (s Signer) Notice() string { return s.notice }

// Principal is the name that the signer signs under.
func (s Signer) Principal() string { return s.principal }

// sign returns the armored signature, checked against the key it was expected
// from.
func (s Signer) sign(ctx context.Context, namespace string, data []byte) ([]byte, error) {
	var armored []byte
	if s.own != nil {
		sig, err := sshsig.Sign(bytes.NewReader(data), s.own, sshsig.HashSHA512, namespace)
		if err != nil {
			return nil, fault.New(fault.SigningFailed, "the generated key did not sign; nothing was written").WithCause(err)
		}
		armored = sshsig.Armor(sig)
	} else {
		var err error
		if armored, err = s.repo.SSHSign(ctx, s.policy.signProgram, s.policy.signingKey, namespace, data); err != nil {
			return nil, err
		}
	}
	key, problem := checkSignature(data, armored, namespace)
	if problem != "" || !sameKey(key, s.public) {
		return nil, fault.New(fault.SigningFailed, "the signing program returned a signature that does not verify; nothing was written")
	}
	return armored, nil
}

// LoadSigner finds who signs here: the configured key, or in a private
// repository one that is made for it. Codes: config_invalid, signing_failed,
// io_failed.
func LoadSigner(ctx context.Context, repo *gitrepo.Repo, p *Policy) (Signer, error) {
	if p.signingKey == "" {
		return generatedSigner(ctx, repo, p)
	}
	public, err := configuredKey(ctx, repo, p)
	if err != nil {
		return Signer{}, err
	}
	t, err := loadTrust(ctx, repo, p, reviewNamespace)
	if fault.CodeOf(err) == fault.TokenUntrusted {
		return Signer{}, fault.New(fault.ConfigInvalid, "a signing key is configured, and no signers file that would accept it").
			WithHint("git config gpg.ssh.allowedSignersFile FILE names the reviewers' keys")
	}
	if err != nil {
		return Signer{}, err
	}
	principals, _ := t.signers.find(public, time.Now())
	if len(principals) == 0 {
		return Signer{}, fault.New(fault.ConfigInvalid, "your signing key is not among the signers, so nobody would accept the review").
			WithHint("have this line added to %s: NAME namespaces=\"%s,%s\" %s", safetext.Terminal(p.signersPath(repo)),
				reviewNamespace, revokeNamespace, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))))
	}
	return Signer{repo: repo, policy: p, public: public, principal: principals[0]}, nil
}

// configuredKey finds the public half of the configured key: written out, or in
// the file beside it, or from a signature over nothing of value.
func configuredKey(ctx context.Context, repo *gitrepo.Repo, p *Policy) (ssh.PublicKey, error) {
	text := strings.TrimPrefix(p.signingKey, "key::")
	if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
		return key, nil
	}
	path := homePath(repo, p.signingKey)
	for _, name := range []string{path + ".pub", path} {
		if data, err := os.ReadFile(name); err == nil && len(data) < maxSigners {
			if key, _, _, _, err := ssh.ParseAuthorizedKey(data); err == nil {
				return key, nil
			}
		}
	}
	probe := []byte("evolve: which key is this?\n")
	armored, err := repo.SSHSign(ctx, p.signProgram, p.signingKey, "mcp-probe@evolve", probe)
	if err != nil {
		return nil, err
	}
	key, problem := checkSignature(probe, armored, "mcp-probe@evolve")
	if problem != "" {
		return nil, fault.New(fault.SigningFailed, "the signing program returned a signature that cannot be read")
	}
	return key, nil
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
	dir := filepath.Join(repo.CommonDir(), folder)
	key, err := readGenerated(dir)
	notice := ""
	if errors.Is(err, fs.ErrNotExist) {
		if key, err = makeKey(ctx, repo, dir); err == nil {
			notice = "A key was made for this repository: whoever runs as this user can approve.\n" +
				"For real reviewers: git config gpg.ssh.allowedSignersFile FILE (see evolve doctor)."
		}
	}
	if err != nil {
		return Signer{}, err
	}
	t, err := loadTrust(ctx, repo, p, reviewNamespace)
	if err != nil {
		return Signer{}, err
	}
	principals, _ := t.signers.find(key.PublicKey(), time.Now())
	if len(principals) == 0 {
		return Signer{}, fault.New(fault.ConfigInvalid, "the generated key is not in the generated signers file").
			WithHint("remove %s and review again", safetext.Terminal(dir))
	}
	return Signer{repo: repo, policy: p, own: key, public: key.PublicKey(), principal: principals[0], notice: notice}, nil
}

// shared reports whether several users write this repository.
func (p *Policy) shared() bool {
	switch strings.ToLower(p.SharedRepository) {
	case "", "umask", "false", "no", "off", "0":
		return false
	}
	return true
}

func readGenerated(dir string) (ssh.Signer, error) {
	path := filepath.Join(dir, keyName)
	info, err := os.Lstat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, fault.New(fault.IOFailed, "the generated key cannot be read").WithCause(err)
	}
	const others = 0o077
	if !windows && (!info.Mode().IsRegular() || info.Mode().Perm()&others != 0 || unsafe(info) != "") {
		return nil, fault.New(fault.ConfigInvalid, "the generated key %s can be read by others than you", safetext.Terminal(path)).
			WithHint("whoever read it can approve: remove %s, and review again", safetext.Terminal(dir))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.New(fault.IOFailed, "the generated key cannot be read").WithCause(err)
	}
	key, err := ssh.ParsePrivateKey(data)
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the generated key %s is broken", safetext.Terminal(path)).
			WithHint("remove %s, and review again", safetext.Terminal(dir)).WithCause(err)
	}
	return key, nil
}

// makeKey makes the key and the signers file that accepts it. The key comes
// last: a crash between the two leaves a line for a key that nobody has. Two
// first reviews at once agree on one key: the file is linked into place.
func makeKey(ctx context.Context, repo *gitrepo.Repo, dir string) (ssh.Signer, error) {
	who, err := repo.Identity(ctx)
	if err != nil {
		return nil, err
	}
	principal := who.Email
	if !principalForm(principal) {
		principal = "reviewer@localhost"
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fault.New(fault.Internal, "no key can be made").WithCause(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "evolve")
	if err != nil {
		return nil, fault.New(fault.Internal, "no key can be written").WithCause(err)
	}
	sshKey, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, fault.New(fault.Internal, "no key can be written").WithCause(err)
	}
	line := principal + " namespaces=\"" + reviewNamespace + "," + revokeNamespace + "\" " + string(ssh.MarshalAuthorizedKey(sshKey))
	lost := func(err error) error {
		return fault.New(fault.IOFailed, "the Git directory cannot be written; no key was made").
			WithHint("check the permissions of %s", safetext.Terminal(dir)).WithCause(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, lost(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, signersName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, lost(err)
	}
	_, err = f.WriteString(line)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, lost(err)
	}
	if err := create(dir, keyName, pem.EncodeToMemory(block)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return readGenerated(dir)
		}
		return nil, lost(err)
	}
	return ssh.ParsePrivateKey(pem.EncodeToMemory(block))
}

// create writes a private file that must not exist, whole or not at all.
func create(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Link(f.Name(), filepath.Join(dir, name))
}
