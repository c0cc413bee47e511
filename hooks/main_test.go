package hooks_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

// hookProgram is evolve-hook, built once.
var hookProgram string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "evolve-hook-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	hookProgram = filepath.Join(dir, "evolve-hook")
	out, err := exec.Command("go", "build", "-o", hookProgram, "../cmd/evolve-hook").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "building evolve-hook: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const (
	mainRef    = "refs/heads/main"
	repository = "example.org/team/agent"
)

// site is a server with hooks that guards main, and one clone of it.
type site struct {
	t      testing.TB
	server *gittest.Repo
	clone  *gittest.Repo
	// base is where main is at first.
	base string
}

// newSite makes a server whose main holds one declaration, and a clone whose user
// may review.
func newSite(t testing.TB, options ...gittest.Option) *site {
	t.Helper()
	s := &site{t: t, server: gittest.New(t, append(options, gittest.Bare)...), clone: gittest.New(t, options...)}
	s.base = s.clone.Commit(map[string]string{"agent/mcp/docs.yaml": docs("1.0.0"), "README": "1\n"}, "one")
	s.setUp(s.server)
	return s
}

// setUp makes server one that guards main, with the clone's reviewer allowed and
// main at base.
func (s *site) setUp(server *gittest.Repo) {
	s.t.Helper()
	s.clone.Git("config", "evolve.repository", repository)
	s.clone.Git("remote", "add", "origin", server.Dir())
	s.clone.Git("push", "-q", "origin", "HEAD:"+mainRef)
	s.clone.Git("fetch", "-q", "origin")
	repo, policy := s.open(s.clone)
	_, err := review.LoadSigner(s.t.Context(), repo, policy) // makes the key
	noError(s.t, err)
	signers, err := os.ReadFile(s.clone.Path(".git/evolve/signers"))
	noError(s.t, err)
	file := filepath.Join(filepath.Dir(server.Dir()), "signers")
	noError(s.t, os.WriteFile(file, signers, 0o644))
	for key, value := range map[string]string{
		"evolve.repository": repository, "evolve.guard": mainRef, "gpg.ssh.allowedSignersFile": file,
		"receive.advertisePushOptions": "true",
	} {
		server.Git("config", key, value)
	}
	s.hook(server)
}

// hook writes the hooks as a host would by hand.
func (s *site) hook(server *gittest.Repo) {
	s.t.Helper()
	dir := server.Git("rev-parse", "--path-format=absolute", "--git-path", "hooks")
	noError(s.t, os.MkdirAll(dir, 0o755))
	for _, name := range []string{"pre-receive", "reference-transaction", "post-receive"} {
		body := fmt.Sprintf("#!/bin/sh\nexec '%s' %s \"$@\"\n", hookProgram, name)
		noError(s.t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o755))
	}
}

func docs(version string) string {
	return "command: npx\nargs: [\"-y\", \"docs-server@" + version + "\"]\n"
}

func (s *site) open(g *gittest.Repo) (*gitrepo.Repo, *review.Policy) {
	s.t.Helper()
	repo, err := gitrepo.Open(s.t.Context(), gitrepo.Options{Dir: g.Dir(), Env: g.Env()})
	noError(s.t, err)
	s.t.Cleanup(func() { noError(s.t, repo.Close()) })
	policy, err := review.LoadPolicy(s.t.Context(), repo)
	noError(s.t, err)
	return repo, policy
}

// change commits another version of the declaration on the clone's main.
func (s *site) change(version string) string {
	s.t.Helper()
	return s.clone.Commit(map[string]string{"agent/mcp/docs.yaml": docs(version)}, "docs "+version)
}

// note commits a change that no review covers.
func (s *site) note(text string) string {
	s.t.Helper()
	return s.clone.Commit(map[string]string{"README": text + "\n"}, text)
}

// review mints a token in the clone for the move of ref from base to head.
func (s *site) review(ref, base, head string) review.Token {
	s.t.Helper()
	return s.reviewIn(s.clone, ref, base, head, time.Hour)
}

func (s *site) reviewIn(clone *gittest.Repo, ref, base, head string, expiry time.Duration) review.Token {
	s.t.Helper()
	token, err := mint(s.t.Context(), clone, ref, base, head, expiry)
	noError(s.t, err)
	return token
}

// mint reviews a move in a clone, as evolve review does.
func mint(ctx context.Context, clone *gittest.Repo, ref, base, head string, expiry time.Duration) (token review.Token, err error) {
	repo, err := gitrepo.Open(ctx, gitrepo.Options{Dir: clone.Dir(), Env: clone.Env()})
	if err != nil {
		return token, err
	}
	defer func() { _ = repo.Close() }()
	policy, err := review.LoadPolicy(ctx, repo)
	if err != nil {
		return token, err
	}
	gate := &promote.Gate{Repo: repo, Policy: policy, Now: time.Now}
	j, err := gate.Examine(ctx, promote.Proposal{Ref: ref, Old: gitrepo.ID(base), New: gitrepo.ID(head)})
	if err != nil {
		return token, err
	}
	signer, err := review.LoadSigner(ctx, repo, policy)
	if err != nil {
		return token, err
	}
	r, err := review.Mint(ctx, repo, policy, signer, review.MintRequest{
		Ref: ref, Base: gitrepo.ID(base), Head: gitrepo.ID(head), Deltas: j.Deltas, Now: time.Now(), Expiry: expiry,
	})
	if err != nil {
		return token, err
	}
	return r.Token, nil
}

// record is the refspec that pushes a token's record.
func record(t review.Token) string { return review.RecordRefs + t.Hex() }

// push pushes from the clone and returns what it printed.
func (s *site) push(args ...string) (string, error) {
	s.t.Helper()
	return pushFrom(s.clone, s.server.Dir(), args...)
}

func pushFrom(clone *gittest.Repo, remote string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"push", "-q"}, insertRemote(remote, args)...)...)
	cmd.Dir, cmd.Env = clone.Dir(), clone.Env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// insertRemote puts the remote behind the options.
func insertRemote(remote string, args []string) []string {
	n := 0
	for n < len(args) && strings.HasPrefix(args[n], "-") {
		n++
	}
	return append(append(append([]string{}, args[:n]...), remote), args[n:]...)
}

// refused pushes, and checks that nothing that was there moved and that the
// pusher reads this code, in five lines at most.
func (s *site) refused(code string, args ...string) string {
	s.t.Helper()
	before := s.server.Git("for-each-ref")
	out, err := s.push(args...)
	if err == nil {
		s.t.Errorf("push %v went through:\n%s", args, out)
	}
	if after := s.server.Git("for-each-ref"); after != before {
		s.t.Errorf("push %v: refs changed from\n%s\nto\n%s", args, before, after)
	}
	if !strings.Contains(out, "evolve: "+code+": ") {
		s.t.Errorf("push %v: the pusher does not read %s:\n%s", args, code, out)
	}
	lines := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "remote: ") && strings.TrimSpace(strings.TrimPrefix(line, "remote: ")) != "" {
			lines++
		}
		if strings.ContainsAny(strings.TrimRight(line, "\r\n"), "\x1b\x07\x00") && strings.HasPrefix(line, "remote: evolve") {
			s.t.Errorf("raw bytes of the client come back: %q", line)
		}
	}
	if lines > 5 {
		s.t.Errorf("push %v: the refusal has %d lines:\n%s", args, lines, out)
	}
	return out
}

func (s *site) accepted(args ...string) {
	s.t.Helper()
	if out, err := s.push(args...); err != nil {
		s.t.Fatalf("push %v: %v\n%s", args, err, out)
	}
}

// at checks where a ref of the server is; "" for absent.
func (s *site) at(ref, want string) {
	s.t.Helper()
	got, _ := s.server.Try("", "rev-parse", "--verify", "-q", ref)
	if got = strings.TrimSpace(got); got != want {
		s.t.Errorf("%s is at %q, want %q", ref, got, want)
	}
}

func audit(t testing.TB, server *gittest.Repo) []promote.Entry {
	t.Helper()
	dir := server.Git("rev-parse", "--path-format=absolute", "--git-common-dir")
	f, err := os.Open(filepath.Join(dir, "evolve", "audit.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	noError(t, err)
	defer func() { _ = f.Close() }()
	var out []promote.Entry
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e promote.Entry
		noError(t, json.Unmarshal(lines.Bytes(), &e))
		out = append(out, e)
	}
	return out
}

// moves are the audited moves, as "ref new".
func (s *site) moves() []string {
	var out []string
	for _, e := range audit(s.t, s.server) {
		if e.Verdict == promote.VerdictMoved {
			out = append(out, e.Ref+" "+string(e.New))
		}
	}
	return out
}

// reaped checks that no claim is left.
func (s *site) reaped() {
	s.t.Helper()
	dir := s.server.Git("rev-parse", "--path-format=absolute", "--git-common-dir")
	left, _ := os.ReadDir(filepath.Join(dir, "evolve", "claims"))
	for _, e := range left {
		s.t.Errorf("claims/%s is left", e.Name())
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v", err)
	}
}

// revoke takes a review back in the clone.
func (s *site) revoke(token review.Token) {
	s.t.Helper()
	repo, policy := s.open(s.clone)
	signer, err := review.LoadSigner(s.t.Context(), repo, policy)
	noError(s.t, err)
	noError(s.t, review.Revoke(s.t.Context(), repo, signer, token, time.Now()))
}

func yes(context.Context, *promote.Judgement) (bool, error) { return true, nil }
