package review

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// generatedDir is where evolve keeps its keys in a repository.
func generatedDir(repo *gitrepo.Repo) string { return filepath.Join(repo.CommonDir(), folder) }

// readGenerated reads the key that evolve made. Its absence is an error that
// wraps fs.ErrNotExist.
func readGenerated(dir string) (ssh.Signer, error) {
	path := filepath.Join(dir, keyName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && !secret(info) {
		return nil, fault.New(fault.ConfigInvalid, "the generated key %s can be read by others than you", safetext.Terminal(path)).
			WithHint("whoever read it can approve; make another: rm %s %s", ShellWord(path), ShellWord(filepath.Join(dir, signersName)))
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fault.New(fault.IOFailed, "the generated key %s cannot be read", safetext.Terminal(path)).
			WithHint("check its owner and mode").WithCause(err)
	}
	key, err := ssh.ParsePrivateKey(data)
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the generated key %s is broken", safetext.Terminal(path)).
			WithHint("make another: rm %s", ShellWord(path)).WithCause(err)
	}
	return key, nil
}

// makeKey makes the key and the signers file that accepts it. The key comes
// last: a crash between the two leaves a line for a key that nobody has. Two
// first reviews at once agree on one key: it is linked into place.
func makeKey(dir, email string) (ssh.Signer, error) {
	if !isPrincipal(email) {
		email = "reviewer@localhost"
	}
	private, public, err := newKey()
	if err != nil {
		return nil, fault.New(fault.Internal, "no key can be made").WithCause(err)
	}
	lost := func(err error) error {
		return fault.New(fault.IOFailed, "%s cannot be written; no key was made", safetext.Terminal(dir)).
			WithHint("check the owner and mode of the Git directory").WithCause(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, lost(err)
	}
	if err := appendLine(filepath.Join(dir, signersName), signersLine(email, public)); err != nil {
		return nil, lost(err)
	}
	if err := createSecret(dir, keyName, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, lost(err)
	}
	return readGenerated(dir)
}

// newKey makes an ed25519 key; the private half in OpenSSH's own form.
func newKey() (private []byte, public ssh.PublicKey, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	block, err := ssh.MarshalPrivateKey(priv, "evolve")
	if err != nil {
		return nil, nil, err
	}
	public, err = ssh.NewPublicKey(pub)
	return pem.EncodeToMemory(block), public, err
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// createSecret writes a private file that must not exist, whole or not at all.
func createSecret(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), filepath.Join(dir, name))
}
