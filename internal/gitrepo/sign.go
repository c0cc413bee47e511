package gitrepo

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// maxSignature bounds a signature in bytes; an SSHSIG of the largest RSA key
// has under 6 KiB.
const maxSignature = 64 << 10

// SSHSign signs data with "ssh-keygen -Y sign", or the program that stands for
// it (gpg.ssh.program), in the user's own environment, so that agents, hardware
// keys and pass phrase prompts work. key is a path, or a literal public key
// ("key::ssh-ed25519 ..." or "ssh-ed25519 ...") whose private half an agent
// holds. A leading "~/" is the home directory. The program's output is never
// shown. Codes: signing_failed.
func (r *Repo) SSHSign(ctx context.Context, program, key, namespace string, data []byte) ([]byte, error) {
	if program == "" {
		program = "ssh-keygen"
	}
	path, err := findProgram(r.userEnv, program)
	if err != nil {
		return nil, fault.New(fault.SigningFailed, "there is no program %s", safetext.Terminal(program)).
			WithHint("install OpenSSH, or name a program: git config gpg.ssh.program PATH").WithCause(err)
	}
	args := []string{"-Y", "sign", "-n", namespace}
	if literal, ok := literalKey(key); ok {
		f, err := os.CreateTemp("", "evolve-key-*")
		if err != nil {
			return nil, fault.New(fault.SigningFailed, "no temporary file can be made for the public key").WithCause(err)
		}
		defer func() { _ = os.Remove(f.Name()) }()
		_, err = f.WriteString(literal + "\n")
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, fault.New(fault.SigningFailed, "the public key cannot be written to a temporary file").WithCause(err)
		}
		args = append(args, "-U")
		key = f.Name()
	}
	if rest, ok := strings.CutPrefix(key, "~/"); ok {
		key = filepath.Join(r.Home(), rest)
	}
	cmd := exec.CommandContext(ctx, path, append(args, "-f", key)...)
	cmd.Dir = r.dir
	cmd.Env = r.userEnv
	cmd.WaitDelay = waitDelay
	cmd.Stdin = bytes.NewReader(data)
	out := &capped{limit: maxSignature}
	cmd.Stdout = out
	// No process group of its own: a pass phrase is asked for on the terminal.
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, fault.New(fault.Interrupted, "interrupted while signing; nothing was written").WithCause(ctx.Err())
	}
	if err != nil || out.buffer.Len() == 0 {
		return nil, fault.New(fault.SigningFailed, "%s did not sign; nothing was written", safetext.Terminal(program)).
			WithHint("try it: echo test | %s -Y sign -n test -f KEY; git config user.signingKey names the key",
				safetext.Terminal(program)).WithCause(err)
	}
	return out.buffer.Bytes(), nil
}

// literalKey recognises a public key written out, as git-config(1) describes
// user.signingKey.
func literalKey(key string) (string, bool) {
	if rest, ok := strings.CutPrefix(key, "key::"); ok {
		return rest, true
	}
	return key, strings.HasPrefix(key, "ssh-") || strings.HasPrefix(key, "ecdsa-") || strings.HasPrefix(key, "sk-")
}
