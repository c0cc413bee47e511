package review

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func (h *house) signer() (Signer, error) {
	h.t.Helper()
	return LoadSigner(h.ctx, h.repo, h.policy())
}

// TestGeneratedKey: with nothing configured, the first review makes a key, says
// what that means, and later ones use it.
func TestGeneratedKey(t *testing.T) {
	h := build(t)
	first, err := h.signer()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first.Notice(), "whoever runs as this user can approve") {
		t.Errorf("the notice is %q", first.Notice())
	}
	dir := filepath.Join(h.repo.CommonDir(), "evolve")
	for name, mode := range map[string]os.FileMode{"": 0o700, "signing-key": 0o600, "signers": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
	// OpenSSH reads both.
	out := run(t, "ssh-keygen", "-y", "-f", filepath.Join(dir, "signing-key"))
	signers := read(t, filepath.Join(dir, "signers"))
	if !strings.HasPrefix(signers, `grace@example.com namespaces="mcp-review@evolve,mcp-revoke@evolve" `+strings.Join(strings.Fields(out)[:2], " ")) {
		t.Errorf("the signers file is %q, the key %q", signers, out)
	}
	again, err := h.signer()
	if err != nil || again.Notice() != "" || again.KeyFingerprint() != first.KeyFingerprint() {
		t.Errorf("the second time: %q, %v", again.Notice(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	linked := filepath.Join(h.dir(), "linked")
	h.Git("worktree", "add", "-q", "--detach", linked)
	repo := h.from(linked)
	p, err := LoadPolicy(h.ctx, repo)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := LoadSigner(h.ctx, repo, p); err != nil || s.KeyFingerprint() != first.KeyFingerprint() {
		t.Errorf("from a linked worktree: %v", err)
	}
}

// TestGeneratedKeyAtOnce: first reviews at the same time agree on one key.
func TestGeneratedKeyAtOnce(t *testing.T) {
	h := build(t)
	p := h.policy()
	const n = 8
	got := make([]string, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			if s, err := LoadSigner(h.ctx, h.repo, p); err == nil {
				got[i] = s.KeyFingerprint()
			}
		})
	}
	wait.Wait()
	for _, f := range got {
		if f == "" || f != got[0] {
			t.Fatalf("%v", got)
		}
	}
}

func TestGeneratedKeyRefused(t *testing.T) {
	refused := func(t *testing.T, h *house, word string) {
		t.Helper()
		_, err := h.signer()
		f := wantCode(t, err, fault.ConfigInvalid)
		if !strings.Contains(f.Message, word) || f.Hint == "" {
			t.Errorf("%s (%s)", f.Message, f.Hint)
		}
	}
	nothing := func(t *testing.T, h *house) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(h.repo.CommonDir(), "evolve")); err == nil {
			t.Error("something was written")
		}
	}
	t.Run("bare", func(t *testing.T) {
		h := &house{Repo: gittest.New(t, gittest.Bare), t: t, ctx: t.Context()}
		h.open()
		refused(t, h, "bare")
		nothing(t, h)
		// A file of that name does not count there either.
		if err := os.Mkdir(filepath.Join(h.Dir(), "evolve"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, public := h.keygen("ada")
		write(t, filepath.Join(h.Dir(), "evolve", "signers"), line("ada", public))
		_, err := loadTrust(h.repo, h.policy())
		wantCode(t, err, fault.TokenUntrusted)
	})
	t.Run("shared", func(t *testing.T) {
		for _, value := range []string{"group", "all", "0660", "true", "world", "1"} {
			h := build(t)
			h.Git("config", "core.sharedRepository", value)
			refused(t, h, "shared")
			nothing(t, h)
		}
	})
	t.Run("with signers", func(t *testing.T) {
		h := build(t)
		_, public := h.keygen("ada")
		h.signers(line("ada", public))
		refused(t, h, "no key to sign with")
		nothing(t, h)
	})
	t.Run("readable by others", func(t *testing.T) {
		h := build(t)
		if _, err := h.signer(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(h.repo.CommonDir(), "evolve", "signing-key"), 0o640); err != nil {
			t.Fatal(err)
		}
		refused(t, h, "read by others")
	})
	t.Run("broken", func(t *testing.T) {
		h := build(t)
		if _, err := h.signer(); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(h.repo.CommonDir(), "evolve", "signing-key"), "no key\n")
		refused(t, h, "broken")
	})
	t.Run("not among its signers", func(t *testing.T) {
		h := build(t)
		if _, err := h.signer(); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(h.repo.CommonDir(), "evolve", "signers"), "# nobody\n")
		refused(t, h, "not in the generated signers file")
	})
}

// TestConfiguredKey: how a key may be named, and which name it signs under.
func TestConfiguredKey(t *testing.T) {
	h := build(t)
	key, public := h.keygen("ada")
	h.signers(line("lovelace@example.com,grace@example.com", public))
	home := filepath.Join(h.dir(), ".home")
	copyOf := filepath.Join(home, "key")
	write(t, copyOf, read(t, key))
	m := h.move(h.bump("docs", "2"))
	for name, value := range map[string]string{
		"a private key":              key,
		"a public key":               key + ".pub",
		"a path in the home":         "~/key",
		"a key without a public one": copyOf,
	} {
		t.Run(name, func(t *testing.T) {
			h.as(value)
			s, err := h.signer()
			if err != nil || s.Notice() != "" {
				t.Fatalf("%v, %q", err, s.Notice())
			}
			r := h.review(m)
			if r.Statement.Reviewer() != "grace@example.com" {
				t.Errorf("it signs as %s", r.Statement.Reviewer())
			}
			if err := h.verify(m, r.Token); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("through an agent's stand-in", func(t *testing.T) {
		program := filepath.Join(h.dir(), "sign")
		write(t, program, "#!/bin/sh\nfor a; do last=$a; done\nexec ssh-keygen -q -Y sign -n \"$4\" -f '"+key+"'\n")
		if err := os.Chmod(program, 0o700); err != nil {
			t.Fatal(err)
		}
		h.Git("config", "gpg.ssh.program", program)
		h.Git("config", "gpg.format", "ssh")
		h.Git("config", "user.signingKey", "key::"+public)
		if err := h.verify(m, h.review(m).Token); err != nil {
			t.Error(err)
		}
		h.Git("config", "--unset", "gpg.ssh.program")
		h.Git("config", "--unset", "user.signingKey")
	})
}

func TestConfiguredKeyRefused(t *testing.T) {
	h := build(t)
	key, public := h.keygen("ada")
	other, otherPublic := h.keygen("other")
	h.as(key)
	refused := func(code fault.Code, word string) {
		t.Helper()
		_, err := h.signer()
		if f := wantCode(t, err, code); !strings.Contains(f.Message, word) || f.Hint == "" {
			t.Errorf("%s (%s)", f.Message, f.Hint)
		}
	}
	refused(fault.ConfigInvalid, "no signers file")
	file := h.signers(line("other@example.com", otherPublic))
	_, err := h.signer()
	if f := wantCode(t, err, fault.ConfigInvalid); !strings.Contains(f.Hint, `namespaces="mcp-review@evolve,mcp-revoke@evolve" `+strings.Join(strings.Fields(public)[:2], " ")) {
		t.Errorf("the hint is %s", f.Hint)
	}
	write(t, file, "broken\n")
	refused(fault.ConfigInvalid, "line 1")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	refused(fault.ConfigInvalid, "does not exist")
	h.signers(line("ada", public))
	h.Git("config", "gpg.ssh.revocationFile", filepath.Join(h.dir(), "nothing"))
	refused(fault.ConfigInvalid, "gpg.ssh.revocationFile")
	h.Git("config", "--unset", "gpg.ssh.revocationFile")
	h.as(filepath.Join(h.dir(), "no-key"))
	_, err = h.signer()
	wantCode(t, err, fault.SigningFailed)

	// A window that is closed, and a key whose public half is another's.
	h.as(key)
	h.signers(line("ada", public, `valid-before="20260101Z"`))
	_, err = h.tryReview(h.move(h.bump("docs", "2")))
	wantCode(t, err, fault.ConfigInvalid)
	h.signers(line("ada", public), line("other", otherPublic))
	write(t, other+".pub", public+"\n")
	h.as(other)
	_, err = h.tryReview(h.move(h.at("refs/heads/main")))
	if fault.CodeOf(err) != fault.SigningFailed {
		t.Errorf("another's public half: %v", err)
	}
	if refs := h.Git("for-each-ref", RecordRefs); refs != "" {
		t.Errorf("written: %s", refs)
	}
}

// TestRevocationFile: a key that the host revoked approves nothing more.
func TestRevocationFile(t *testing.T) {
	h := build(t)
	key, public := h.keygen("ada")
	h.signers(line("ada", public))
	h.as(key)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	file := filepath.Join(h.dir(), "revoked")
	write(t, file, "# none yet\n")
	h.Git("config", "gpg.ssh.revocationFile", file)
	if err := h.verify(m, r.Token); err != nil {
		t.Fatal(err)
	}
	write(t, file, public+"\n")
	wantCode(t, h.verify(m, r.Token), fault.TokenUntrusted)
	run(t, "ssh-keygen", "-q", "-k", "-f", file, key+".pub")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	wantCode(t, h.verify(m, r.Token), fault.ConfigInvalid)
}

func TestLocalPusher(t *testing.T) {
	h := build(t)
	who := func() Pusher {
		t.Helper()
		p, err := LocalPusher(h.ctx, h.repo, h.policy())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := who(); p != (Pusher{Name: "grace@example.com"}) {
		t.Errorf("without a key: %+v", p)
	}
	s, err := h.signer()
	if err != nil {
		t.Fatal(err)
	}
	if p := who(); p != (Pusher{Name: "grace@example.com", KeyFingerprint: s.KeyFingerprint(), Authenticated: true}) {
		t.Errorf("with the generated key: %+v", p)
	}
	key, public := h.keygen("ada")
	file := h.signers(line("ada@example.com", public))
	if p := who(); p.Authenticated || p.Name != "grace@example.com" {
		t.Errorf("with a generated key that nobody accepts: %+v", p)
	}
	h.as(key)
	print, err := printOf(public)
	if err != nil {
		t.Fatal(err)
	}
	if p := who(); p != (Pusher{Name: "ada@example.com", KeyFingerprint: print}) {
		t.Errorf("a key that nobody asked to prove itself: %+v", p)
	}
	h.Git("config", "evolve.forbidSelfReview", "true")
	if p := who(); p != (Pusher{Name: "ada@example.com", KeyFingerprint: print, Authenticated: true}) {
		t.Errorf("a key that proved itself: %+v", p)
	}
	// Naming somebody's public key is no proof.
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if p := who(); p.Authenticated {
		t.Errorf("a public key alone: %+v", p)
	}
	write(t, file, "broken\n")
	if p := who(); p.Authenticated {
		t.Errorf("without signers: %+v", p)
	}
}

func printOf(public string) (string, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil {
		return "", err
	}
	return ssh.FingerprintSHA256(key), nil
}

func TestExamination(t *testing.T) {
	h := build(t)
	look := func() map[string]CheckStatus {
		t.Helper()
		out := map[string]CheckStatus{}
		for _, c := range Examination(h.repo, h.policy()) {
			out[c.ID] = c.Status
			if c.Message == "" || c.Status != StatusOK && c.Hint == "" {
				t.Errorf("%+v", c)
			}
		}
		return out
	}
	expect := func(when, id string, status CheckStatus) {
		t.Helper()
		if got := look()[id]; got != status {
			t.Errorf("%s: %s is %s, want %s", when, id, got, status)
		}
	}
	expect("at first", "signers", StatusOK)
	expect("at first", "signing-key", StatusOK)
	expect("at first", "fingerprint-key", StatusOK)
	expect("at first", "repository-name", StatusWarning)
	h.review(h.move(h.bump("docs", "2")))
	h.Git("config", "evolve.repository", "example.org/agent")
	expect("after a review", "signers", StatusWarning)
	expect("after a review", "fingerprint-key", StatusOK)
	expect("after a review", "repository-name", StatusOK)
	dir := filepath.Join(h.repo.CommonDir(), "evolve")
	for _, name := range []string{"signing-key", "fingerprint-key"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
		expect("open to others", name, StatusProblem)
	}
	key, public := h.keygen("ada")
	_, other := h.keygen("other")
	file := h.signers(line("other", other))
	h.as(key)
	expect("with another's signers", "signers", StatusOK)
	expect("with another's signers", "signing-key", StatusWarning)
	write(t, file, line("ada", public)+"\n")
	expect("configured", "signing-key", StatusOK)
	write(t, file, "ada "+public+"\n")
	expect("without a namespace", "signers", StatusProblem)
	write(t, file, "broken\n")
	expect("broken", "signers", StatusProblem)
	h.Git("config", "--unset", "gpg.ssh.allowedSignersFile")
	h.Git("config", "core.sharedRepository", "group")
	expect("shared", "signers", StatusProblem)
}

// TestSignersOutsideTheWorktree: the repository's content names no reviewer.
func TestSignersOutsideTheWorktree(t *testing.T) {
	h := build(t)
	key, public := h.keygen("ada")
	h.signers(line("ada", public))
	h.as(key)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	inside := h.Path("signers")
	write(t, inside, line("ada", public)+"\n")
	link := filepath.Join(h.dir(), "link")
	if err := os.Symlink(inside, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{inside, link, "signers", "~/../repo/signers"} {
		h.Git("config", "gpg.ssh.allowedSignersFile", path)
		f := wantCode(t, h.verify(m, r.Token), fault.ConfigInvalid)
		if !strings.Contains(f.Message, "signers file") {
			t.Errorf("%s: %s", path, f.Message)
		}
	}
	h.Git("config", "gpg.ssh.allowedSignersFile", "~/signers")
	write(t, filepath.Join(h.dir(), ".home", "signers"), line("ada", public)+"\n")
	if err := h.verify(m, r.Token); err != nil {
		t.Errorf("in the home: %v", err)
	}
}

// TestValidityNow: a signer's time is held against the host's clock, not against
// what a record claims.
func TestValidityNow(t *testing.T) {
	h := build(t)
	key, public := h.keygen("ada")
	file := h.signers(line("ada", public))
	h.as(key)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	write(t, file, line("ada", public, `valid-before="202606151230Z"`)+"\n")
	for at, code := range map[time.Duration]fault.Code{0: "", 30 * time.Minute: "", 31 * time.Minute: fault.TokenUntrusted} {
		h.now = noon.Add(at)
		if got := fault.CodeOf(h.verify(m, r.Token)); got != code {
			t.Errorf("after %s: %s", at, got)
		}
	}
	h.now = noon
	write(t, file, line("ada", public, `valid-after="202606151201Z"`)+"\n")
	wantCode(t, h.verify(m, r.Token), fault.TokenUntrusted)
}
