package gitrepo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// newKey makes an ed25519 key and returns its path.
func newKey(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	return path
}

// verify checks a signature with OpenSSH's own program.
func verify(t *testing.T, key, namespace string, data, sig []byte) bool {
	t.Helper()
	dir := t.TempDir()
	public := readFile(t, key+".pub")
	writeFile(t, filepath.Join(dir, "signers"), "grace@example.com namespaces=\""+namespace+"\" "+public, 0o600)
	writeFile(t, filepath.Join(dir, "sig"), string(sig), 0o600)
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", filepath.Join(dir, "signers"), "-I", "grace@example.com",
		"-n", namespace, "-s", filepath.Join(dir, "sig"))
	cmd.Stdin = bytes.NewReader(data)
	return cmd.Run() == nil
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	noError(t, err)
	return string(data)
}

func TestSSHSign(t *testing.T) {
	const namespace = "mcp-review@evolve"
	g := gittest.New(t)
	home, _ := Lookup(g.Env(), "HOME")
	key := newKey(t, home)
	r := open(t, g)
	data := []byte("{\"a\":1}")
	for name, given := range map[string]string{"a path": key, "from the home directory": "~/key"} {
		sig, err := r.SSHSign(t.Context(), "", given, namespace, data)
		noError(t, err)
		if !verify(t, key, namespace, data, sig) {
			t.Errorf("%s: ssh-keygen does not accept the signature", name)
		}
		if verify(t, key, "other", data, sig) || verify(t, key, namespace, append(data, '\n'), sig) {
			t.Errorf("%s: it is good for other content", name)
		}
	}
}

func TestSSHSignWithAnAgent(t *testing.T) {
	g := gittest.New(t)
	home, _ := Lookup(g.Env(), "HOME")
	key := newKey(t, home)
	socket := startAgent(t, key)
	r := openWith(t, Options{Dir: g.Dir(), Env: g.Env("SSH_AUTH_SOCK=" + socket)})
	public := strings.TrimSpace(readFile(t, key+".pub"))
	noError(t, os.Rename(key, key+".away"))
	data := []byte("{}")
	for _, given := range []string{public, "key::" + public} {
		sig, err := r.SSHSign(t.Context(), "", given, "mcp-review@evolve", data)
		noError(t, err)
		if !verify(t, key, "mcp-review@evolve", data, sig) {
			t.Errorf("%.12s...: ssh-keygen does not accept the signature", given)
		}
	}
}

// startAgent runs an agent that holds key, until the test ends.
func startAgent(t *testing.T, key string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") // short: a socket's path has a limit
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	out, err := agent.StdoutPipe()
	noError(t, err)
	noError(t, agent.Start()) // ssh-agent comes with ssh-keygen
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it prints the socket when it listens
		t.Fatal(err)
	}
	add := exec.Command("ssh-add", "-q", key)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ssh-add: %s", out)
	}
	return socket
}

func TestSSHSignWithAnotherProgram(t *testing.T) {
	g := gittest.New(t)
	key := newKey(t, t.TempDir())
	dir := t.TempDir()
	script := func(name, body string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, "#!/bin/sh\n"+body, 0o755)
		return path
	}
	r := openWith(t, Options{Dir: g.Dir(), Env: g.Env("EVOLVE_TEST=1")})
	sig, err := r.SSHSign(t.Context(), script("wrapper", `test "$EVOLVE_TEST" && exec ssh-keygen "$@"`), key, "n", []byte("x"))
	noError(t, err)
	if !verify(t, key, "n", []byte("x"), sig) {
		t.Error("the signature of a wrapper is not accepted")
	}

	for name, program := range map[string]string{
		"fails":        script("fails", "echo SECRET >&2; echo SECRET; exit 1"),
		"says nothing": script("silent", "exit 0"),
		"says a lot":   script("loud", "while :; do echo SECRETSECRETSECRETSECRETSECRETSECRETSECRETSECRET; done"),
		"is absent":    filepath.Join(dir, "absent"),
		"is no path":   "evolve-no-such-program",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.SSHSign(t.Context(), program, key, "n", []byte("x"))
			if f := wantCode(t, err, fault.SigningFailed); strings.Contains(f.Message+f.Hint, "SECRET") || f.Hint == "" {
				t.Errorf("message %q, hint %q", f.Message, f.Hint)
			}
		})
	}
	_, err = r.SSHSign(t.Context(), "", filepath.Join(dir, "no-key"), "n", []byte("x"))
	wantCode(t, err, fault.SigningFailed)
}
