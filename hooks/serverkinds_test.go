package hooks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// The gate on the kinds of repositories that a server can keep, and on a push that
// lies about where it begins.

// A repository served under a namespace: its refs are judged as if it were alone.
func TestNamespaces(t *testing.T) {
	s := newSite(t)
	script := filepath.Join(t.TempDir(), "receive-pack")
	noError(t, os.WriteFile(script, []byte("#!/bin/sh\nGIT_NAMESPACE=team/a exec git-receive-pack \"$@\"\n"), 0o755))
	const full = "refs/namespaces/team/refs/namespaces/a/" + mainRef
	into := func(args ...string) (string, error) {
		return s.push(append([]string{"--receive-pack=" + script}, args...)...)
	}
	if out, err := into("HEAD:main"); err == nil || !strings.Contains(out, "token_missing") {
		t.Errorf("%v\n%s", err, out)
	}
	token := s.review(mainRef, "", s.base)
	if out, err := into("--atomic", "HEAD:main", record(token)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	s.at(full, s.base)
	s.reaped()
	if out, err := into(":main"); err == nil || !strings.Contains(out, "ref_protected") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := s.server.Try("", "update-ref", "-d", full); err == nil {
		t.Error("the namespaced ref could be deleted on the server")
	}
	// Records and revocations of a namespace count in it.
	head := s.change("1.1.0")
	token = s.review(mainRef, s.base, head)
	if out, err := into(record(token)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	other := s.review(mainRef, s.base, head)
	s.revoke(other)
	for _, args := range [][]string{{record(other)}, {"refs/evolve/revoked/" + other.Hex()}} {
		if out, err := into(args...); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if out, err := into("--push-option="+other.String(), "HEAD:main"); err == nil || !strings.Contains(out, "token_revoked") {
		t.Errorf("%v\n%s", err, out)
	}
	s.at(full, s.base)
	if out, err := into("--push-option="+token.String(), "HEAD:main"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	s.at(full, head)
	s.reaped()
}

// A repository with a worktree whose branch a push updates.
func TestUpdateInstead(t *testing.T) {
	s := &site{t: t, server: gittest.New(t), clone: gittest.New(t)}
	s.base = s.clone.Commit(map[string]string{"agent/mcp/docs.yaml": docs("1.0.0")}, "one")
	s.server.Git("config", "receive.denyCurrentBranch", "updateInstead")
	s.setUp(s.server)
	head := s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	if data, _ := os.ReadFile(s.server.Path("agent/mcp/docs.yaml")); string(data) != docs("1.0.0") {
		t.Errorf("the worktree has %q", data)
	}
	token := s.review(mainRef, s.base, head)
	s.accepted("--atomic", "HEAD:main", record(token))
	if data, _ := os.ReadFile(s.server.Path("agent/mcp/docs.yaml")); string(data) != docs("1.1.0") {
		t.Errorf("the worktree has %q", data)
	}
	s.at(mainRef, head)
}

func TestSHA256(t *testing.T) {
	s := newSite(t, gittest.SHA256)
	head := s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	token := s.review(mainRef, s.base, head)
	s.accepted("--atomic", "HEAD:main", record(token))
	s.at(mainRef, head)
	s.refused("ref_protected", ":main")
	s.server.Git("pack-refs", "--all")
	s.at(mainRef, head)
}

// Refs in tables, as Git 2.45 and newer can keep them.
func TestReftable(t *testing.T) {
	if !gittest.HasReftable() {
		t.Skip("this git has no reftable; make test-newer-git has one that does")
	}
	s := newSite(t, gittest.Reftable)
	head := s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	token := s.review(mainRef, s.base, head)
	s.accepted("--atomic", "HEAD:main", record(token))
	s.at(mainRef, head)
	s.reaped()
	s.refused("ref_protected", ":main")
	for range 2 {
		s.server.Git("pack-refs", "--all")
		s.server.Git("gc", "-q")
		s.at(mainRef, head)
		head = s.note("a note")
		s.accepted("HEAD:main")
		s.at(mainRef, head)
	}
	// A name that turns symbolic, or stops being so, is vetoed by Git's own hook.
	s.server.Git("update-ref", "refs/heads/evil", s.base)
	if out, err := s.server.Try("", "symbolic-ref", mainRef, "refs/heads/evil"); err == nil {
		t.Errorf("the guarded name became symbolic: %s", out)
	}
	s.at(mainRef, head)
	s.reaped()
}

// Forks that share objects: what a fork's push builds on lies in an alternate.
func TestAlternates(t *testing.T) {
	s := newSite(t)
	s.server.Git("config", "gc.auto", "0")
	fork := gittest.New(t, gittest.Bare)
	noError(t, os.WriteFile(fork.Path("objects/info/alternates"), []byte(s.server.Path("objects")+"\n"), 0o644))
	fork.Git("update-ref", mainRef, s.base)
	for _, key := range []string{"evolve.repository", "evolve.guard", "gpg.ssh.allowedSignersFile", "receive.advertisePushOptions"} {
		fork.Git("config", key, s.server.Git("config", key))
	}
	s.server = fork
	s.hook(fork)
	head := s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	token := s.review(mainRef, s.base, head)
	s.accepted("--atomic", "HEAD:main", record(token))
	s.at(mainRef, head)
}

// A forged old value: a client that says a ref is elsewhere. The hook sees it
// before Git compares.
func TestAForgedOldValue(t *testing.T) {
	s := newSite(t)
	head := s.change("1.1.0")
	s.accepted("HEAD:refs/heads/topic")
	for name, old := range map[string]string{"another commit": head, "absent": strings.Repeat("0", 40)} {
		out := rawPush(t, s.server, old, s.base, mainRef)
		if !strings.Contains(out, "pre-receive hook declined") && !strings.Contains(out, "evolve: ref_moved: ") {
			t.Errorf("%s: %q", name, out)
		}
		s.at(mainRef, s.base)
	}
}

// rawPush speaks receive-pack's protocol itself, since git push never lies.
func rawPush(t *testing.T, server *gittest.Repo, old, next, ref string) string {
	t.Helper()
	packet := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
	pack := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd\x3e\xd3\x1e")
	cmd := exec.Command("git", "receive-pack", server.Dir())
	cmd.Env = server.Env()
	cmd.Stdin = strings.NewReader(packet(old+" "+next+" "+ref+"\x00 report-status\n") + "0000" + string(pack))
	out, _ := cmd.CombinedOutput()
	return string(out)
}
