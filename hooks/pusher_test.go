package hooks_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/promote"
)

// key makes a key and names it in the server's signers file for pushes.
func (s *site) key(principal string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	noError(s.t, err)
	f, err := os.OpenFile(s.server.Git("config", "gpg.ssh.allowedSignersFile"), os.O_APPEND|os.O_WRONLY, 0)
	noError(s.t, err)
	_, err = f.WriteString(principal + ` namespaces="git,mcp-review@evolve,mcp-revoke@evolve" ` + string(public))
	noError(s.t, err)
	noError(s.t, f.Close())
	return path
}

// A signed push with a nonce is the best that a server knows of a pusher.
func TestASignedPushProvesWhoPushes(t *testing.T) {
	s := newSite(t)
	s.server.Git("config", "receive.certNonceSeed", "a seed of the host")
	s.server.Git("config", "evolve.forbidSelfReview", "true")
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	s.refused("self_review", "--atomic", "HEAD:main", record(token)) // nobody is proved
	for k, v := range map[string]string{"gpg.format": "ssh", "user.signingKey": s.clone.Path(".git/evolve/signing-key")} {
		s.clone.Git("config", k, v)
	}
	file := s.server.Git("config", "gpg.ssh.allowedSignersFile")
	data, err := os.ReadFile(file)
	noError(t, err)
	// The reviewer's own key may sign pushes too, and proves that they reviewed it.
	noError(t, os.WriteFile(file, bytes.Replace(data, []byte(`namespaces="`), []byte(`namespaces="git,`), 1), 0o644))
	out := s.refused("self_review", "--signed", "--atomic", "HEAD:main", record(token))
	if !strings.Contains(out, "was reviewed by") && !strings.Contains(out, "moves") {
		t.Errorf("unexpected: %s", out)
	}
	s.clone.Git("config", "user.signingKey", s.key("alice@example.com"))
	s.accepted("--signed", "--atomic", "HEAD:main", record(token))
	s.at(mainRef, head)
	entries := audit(t, s.server)
	if last := entries[len(entries)-1]; last.Who != "alice@example.com" || last.Verdict != promote.VerdictMoved {
		t.Errorf("audited %+v", last)
	}
}

// What the environment says of a certificate is not believed: the hook verifies
// it, for exactly the moves of this push.
func TestACertificateProvesItsOwnPushOnly(t *testing.T) {
	s := newSite(t)
	s.server.Git("config", "evolve.forbidSelfReview", "true")
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	s.accepted("HEAD:refs/heads/topic", record(token))
	key := s.key("alice@example.com")
	move := s.base + " " + head + " " + mainRef
	certificate := func(namespace, nonce, listed string) string {
		payload := "certificate version 0.1\npusher alice 1 +0000\nnonce " + nonce + "\n\n" + listed + "\n"
		file := filepath.Join(t.TempDir(), "cert")
		noError(t, os.WriteFile(file, []byte(payload), 0o600))
		out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key, file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		armored, err := os.ReadFile(file + ".sig")
		noError(t, err)
		return s.server.GitInput(payload+string(armored), "hash-object", "-w", "--stdin")
	}
	for name, c := range map[string]struct {
		cert, nonce, status string
		code                fault.Code
	}{
		"good":                   {certificate("git", "n1", move), "n1", "OK", ""},
		"of another push":        {certificate("git", "n1", s.base+" "+s.base+" "+mainRef), "n1", "OK", fault.SelfReview},
		"of another nonce":       {certificate("git", "n2", move), "n1", "OK", fault.SelfReview},
		"a nonce that is bad":    {certificate("git", "n1", move), "n1", "BAD", fault.SelfReview},
		"without a nonce":        {certificate("git", "", move), "", "MISSING", fault.SelfReview},
		"signed for another use": {certificate("file", "n1", move), "n1", "OK", fault.SelfReview},
		"no blob":                {"HEAD", "n1", "OK", fault.SelfReview},
	} {
		env := append(s.server.Env("GIT_PUSH_CERT="+c.cert, "GIT_PUSH_CERT_NONCE="+c.nonce, "GIT_PUSH_CERT_NONCE_STATUS="+c.status),
			"GIT_PUSH_CERT_STATUS=G", "GIT_PUSH_CERT_SIGNER=alice@example.com", "GIT_PUSH_OPTION_COUNT=1", "GIT_PUSH_OPTION_0="+token.String())
		var said bytes.Buffer
		err := hooks.Run(t.Context(), "pre-receive", hooks.Input{
			Dir: s.server.Dir(), Env: env, Stdin: strings.NewReader(move + "\n"), Stderr: &said, Now: time.Now,
		})
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

// Every server that the table of variables names: nothing is trusted unless the
// host maps it, and then exactly that variable is.
func TestPusherVariables(t *testing.T) {
	s := newSite(t)
	s.server.Git("config", "evolve.forbidSelfReview", "true")
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	s.accepted("HEAD:refs/heads/topic", record(token))
	run := func(ctx context.Context, env ...string) error {
		var said bytes.Buffer
		return hooks.Run(ctx, "pre-receive", hooks.Input{
			Dir: s.server.Dir(), Env: append(s.server.Env("GIT_PUSH_OPTION_COUNT=1", "GIT_PUSH_OPTION_0="+token.String()), env...),
			Stdin: strings.NewReader(s.base + " " + head + " " + mainRef + "\n"), Stderr: &said, Now: time.Now,
		})
	}
	for _, v := range hooks.Variables {
		_, _ = s.server.Try("", "config", "--unset-all", "evolve.pusherVariable")
		if err := run(t.Context(), v.Name+"=alice"); fault.CodeOf(err) != fault.SelfReview {
			t.Errorf("%s is trusted without being mapped: %v", v.Name, err)
		}
		entries := audit(t, s.server)
		if who := entries[len(entries)-1].Who; who != "alice (unproved)" {
			t.Errorf("%s: audited as %q", v.Name, who)
		}
		s.server.Git("config", "evolve.pusherVariable", v.Name)
		noError(t, run(t.Context(), v.Name+"=alice"))
		for name, value := range map[string]string{"the reviewer": "grace@example.com", "nobody": "", "no name": "a b\x1b[2J"} {
			if err := run(t.Context(), v.Name+"="+value); fault.CodeOf(err) != fault.SelfReview {
				t.Errorf("%s: %s: %v", v.Name, name, err)
			}
		}
	}
	s.server.Git("config", "evolve.pusherVariable", "GIT_PUSH_OPTION_0")
	if err := run(t.Context()); fault.CodeOf(err) != fault.ConfigInvalid {
		t.Errorf("a push option was taken for the pusher's name: %v", err)
	}
}
