package hooks_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

// Every other move on the server that runs hooks is vetoed, and the ref stays.
func TestNoMoveThatRunsHooksPassesUnjudged(t *testing.T) {
	kinds := []struct {
		name    string
		packed  bool
		options []gittest.Option
	}{{name: "loose"}, {name: "packed", packed: true}}
	if gittest.HasReftable() {
		kinds = append(kinds, struct {
			name    string
			packed  bool
			options []gittest.Option
		}{name: "reftable", options: []gittest.Option{gittest.Reftable}})
	}
	for _, kind := range kinds {
		s := newSite(t, kind.options...)
		s.note("two")
		s.accepted("HEAD:main")
		head := s.server.Git("rev-parse", mainRef)
		s.change("1.1.0")
		s.accepted("HEAD:refs/heads/topic")
		if kind.packed {
			s.server.Git("pack-refs", "--all")
		}
		topic := s.server.Git("rev-parse", "topic")
		moves := map[string][]string{
			"update-ref":             {"update-ref", mainRef, "refs/heads/topic"},
			"update-ref, old given":  {"update-ref", mainRef, "refs/heads/topic", head},
			"update-ref to unshown":  {"update-ref", mainRef, s.base},
			"update-ref by HEAD":     {"update-ref", "HEAD", "refs/heads/topic"},
			"delete":                 {"update-ref", "-d", mainRef},
			"delete, old given":      {"update-ref", "-d", mainRef, head},
			"branch -f":              {"branch", "-f", "main", "topic"},
			"branch -M over it":      {"branch", "-M", "topic", "main"},
			"branch -m away":         {"branch", "-m", "main", "elsewhere"},
			"branch -D":              {"branch", "-D", "main"},
			"fetch into it":          {"fetch", "-q", s.clone.Dir(), "+HEAD:refs/heads/main"},
			"fetch of a mirror":      {"fetch", "-q", "--prune", s.clone.Dir(), "+refs/heads/main:refs/heads/main"},
			"a push on the server":   {"push", "-q", ".", "topic:main"},
			"a transaction of two":   {"update-ref", "--stdin"},
			"an alias made and used": {"update-ref", "refs/heads/alias", "refs/heads/topic"},
		}
		if kind.options != nil { // Git renames in tables without asking a hook
			delete(moves, "branch -M over it")
			delete(moves, "branch -m away")
		}
		s.server.Git("symbolic-ref", "refs/heads/alias", mainRef)
		for name, args := range moves {
			input := ""
			if args[len(args)-1] == "--stdin" {
				input = fmt.Sprintf("update refs/heads/other %[1]s\nupdate refs/heads/main %[1]s\n", topic)
			}
			s.server.Git("update-ref", "refs/heads/topic", topic) // a rename that is vetoed may lose it
			if out, err := s.server.Try(input, args...); err == nil {
				t.Errorf("%s (%s) went through: %s", name, kind.name, out)
			}
			s.at(mainRef, head)
			s.at("refs/heads/other", "")
		}
		if codes := refusals(t, s.server); !slices.Contains(codes, "reference-transaction ref_protected") {
			t.Errorf("the audit log has %v", codes)
		}
	}
}

func refusals(t *testing.T, server *gittest.Repo) []string {
	var out []string
	for _, e := range audit(t, server) {
		if e.Verdict == promote.VerdictRefused {
			out = append(out, e.By+" "+e.Code)
		}
	}
	return out
}

// A merge that a web server makes is a worktree's merge and an update of the ref.
func TestAMergeOnTheServerIsJudged(t *testing.T) {
	s := newSite(t)
	s.change("1.1.0")
	s.accepted("HEAD:refs/heads/topic")
	tree := filepath.Join(t.TempDir(), "merge")
	s.server.Git("worktree", "add", "-q", tree, "main")
	at := s.server.At(tree)
	if _, err := at.Try("", "merge", "-q", "--no-ff", "-m", "merge", "topic"); err == nil {
		t.Error("the merge went through")
	}
	s.at(mainRef, s.base)
}

func TestPackRefsAndUnguardedRefsPass(t *testing.T) {
	s := newSite(t)
	for i := range 3 {
		head := s.note(fmt.Sprint("note ", i))
		s.accepted("HEAD:main")
		s.server.Git("pack-refs", "--all")
		s.at(mainRef, head)
		if _, err := os.Lstat(s.server.Path("refs/heads/main")); err == nil {
			t.Error("pack-refs left the loose ref")
		}
		s.server.Git("gc", "-q")
		s.server.Git("update-ref", "refs/heads/free", head)
		s.server.Git("branch", "-D", "-q", "free")
	}
	s.reaped()
}

// The veto holds whatever phase or form a newer Git may bring.
func TestReferenceTransactionByItself(t *testing.T) {
	s := newSite(t)
	zero := strings.Repeat("0", 40)
	next := s.change("1.1.0")
	s.accepted("HEAD:refs/heads/topic")
	for name, c := range map[string]struct {
		phase, input string
		code         fault.Code
	}{
		"prepared":                 {"prepared", s.base + " " + next + " " + mainRef, fault.RefProtected},
		"no old value given":       {"prepared", zero + " " + next + " " + mainRef, fault.RefProtected},
		"a wrong old value":        {"prepared", next + " " + next[:38] + "00 " + mainRef, fault.RefMoved},
		"nothing moves":            {"prepared", s.base + " " + s.base + " " + mainRef, ""},
		"aborted":                  {"aborted", s.base + " " + next + " " + mainRef, ""},
		"a phase to come":          {"preparing", s.base + " " + next + " " + mainRef, ""},
		"HEAD alone":               {"prepared", s.base + " " + next + " HEAD", ""},
		"a worktree's HEAD":        {"prepared", s.base + " " + next + " worktrees/x/HEAD", ""},
		"retargeted":               {"prepared", s.base + " ref:refs/heads/topic " + mainRef, fault.RefProtected},
		"retargeted, no old value": {"prepared", zero + " ref:refs/heads/topic " + mainRef, fault.RefProtected},
		"was symbolic":             {"prepared", "ref:refs/heads/topic " + next + " " + mainRef, fault.RefProtected},
		"HEAD retargeted":          {"prepared", "ref:" + mainRef + " ref:refs/heads/topic HEAD", ""},
		"in a namespace":           {"prepared", zero + " " + next + " refs/namespaces/a/refs/namespaces/b/" + mainRef, fault.RefProtected},
		"letter case":              {"prepared", zero + " " + next + " refs/heads/Main", fault.RefProtected},
		"a delete":                 {"prepared", s.base + " " + zero + " " + mainRef, fault.RefProtected},
		"not what Git writes":      {"prepared", "hello", fault.GitFailed},
		"no object ids":            {"prepared", s.base + " HEAD " + mainRef, fault.GitFailed},
		"not guarded":              {"prepared", zero + " " + next + " refs/heads/other", ""},
		"nothing at all":           {"prepared", "", ""},
	} {
		var said bytes.Buffer
		err := hooks.Run(t.Context(), "reference-transaction", hooks.Input{
			Dir: s.server.Dir(), Env: s.server.Env(), Args: []string{c.phase}, Stdin: strings.NewReader(c.input + "\n"[:min(1, len(c.input))]), Stderr: &said, Now: time.Now,
		})
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

// A claim is good for its move, for ten minutes, and only while its token holds.
func TestAClaimThatNoLongerHoldsVetoes(t *testing.T) {
	s := newSite(t)
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	// Another check of Git's refuses the push after pre-receive passed.
	s.server.Git("config", "receive.denyDeletes", "true")
	s.accepted("HEAD:refs/heads/topic", record(token))
	if _, err := s.push("--atomic", "--push-option="+token.String(), "HEAD:main", ":topic"); err == nil {
		t.Fatal("the delete went through")
	}
	run := func(after time.Duration) error {
		var said bytes.Buffer
		return hooks.Run(t.Context(), "reference-transaction", hooks.Input{
			Dir: s.server.Dir(), Env: s.server.Env(), Args: []string{"prepared"},
			Stdin: strings.NewReader(s.base + " " + head + " " + mainRef + "\n"), Stderr: &said, Now: func() time.Time { return time.Now().Add(after) },
		})
	}
	noError(t, run(0))
	noError(t, run(9*time.Minute))
	if err := run(11 * time.Minute); fault.CodeOf(err) != fault.RefProtected {
		t.Errorf("an old claim: %v", err)
	}
	if err := run(-time.Hour); err == nil {
		t.Error("a claim from the future was taken")
	}
	s.revoke(token)
	s.clone.Git("push", "-q", "origin", "refs/evolve/revoked/"+token.Hex())
	if err := run(0); fault.CodeOf(err) != fault.TokenRevoked {
		t.Errorf("a revoked token under the lock: %v", err)
	}
}

// Claims of pushes that came to nothing are removed by a later push.
func TestClaimsAreReaped(t *testing.T) {
	s := newSite(t)
	s.server.Git("config", "receive.denyDeletes", "true")
	s.note("two")
	s.accepted("HEAD:refs/heads/topic")
	if _, err := s.push("--atomic", "HEAD:main", ":topic"); err == nil {
		t.Fatal("the delete went through")
	}
	dir := s.server.Path("evolve/claims")
	left, err := os.ReadDir(dir)
	noError(t, err)
	if len(left) != 1 {
		t.Fatalf("%d claims are left, want the one of the move that was not made", len(left))
	}
	repo, policy := s.open(s.server)
	gate := &promote.Gate{Repo: repo, Policy: policy, Now: func() time.Time { return time.Now().Add(11 * time.Minute) }}
	noError(t, gate.Reconcile(t.Context()))
	s.reaped()
}

// evolve promote on the server passes the same hooks.
func TestPromotePassesTheHooks(t *testing.T) {
	s := newSite(t)
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	s.accepted("HEAD:refs/heads/topic", record(token))
	s.server.Git("symbolic-ref", "HEAD", "refs/heads/topic")
	repo, policy := s.open(s.server)
	gate := &promote.Gate{Repo: repo, Policy: policy, Now: time.Now}
	_, err := gate.Promote(t.Context(), promote.Order{
		Proposal: promote.Proposal{Ref: mainRef, Old: gitrepo.ID(s.base), New: gitrepo.ID(head), Tokens: []review.Token{token}},
		Approve:  yes,
	})
	noError(t, err)
	s.at(mainRef, head)
	s.reaped()
	if got := s.moves(); len(got) != 1 {
		t.Errorf("audited moves %v", got)
	}
}

// What runs no hook is found by the next one, and told: branch -C, reflog delete
// --updateref, hooks switched off by configuration.
func TestAMovePastTheHooksIsTold(t *testing.T) {
	for name, past := range map[string]func(*site){
		"branch -C": func(s *site) { s.server.Git("branch", "-C", "topic", "main") },
		"branch -M in tables": func(s *site) {
			s.server.Git("symbolic-ref", "HEAD", "refs/heads/another")
			s.server.Git("branch", "-M", "topic", "main")
		},
		"reflog delete": func(s *site) {
			s.server.Git("reflog", "delete", "--updateref", "--rewrite", "main@{0}")
		},
		"hooks switched off": func(s *site) {
			s.server.Git("-c", "core.hooksPath=/dev/null", "update-ref", mainRef, "refs/heads/topic")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var options []gittest.Option
			if strings.HasSuffix(name, "in tables") {
				if !gittest.HasReftable() {
					t.Skip("this git has no reftable; make test-newer-git has one that does")
				}
				options = []gittest.Option{gittest.Reftable}
			}
			s := newSite(t, options...)
			s.server.Git("config", "core.logAllRefUpdates", "always")
			s.note("two")
			s.accepted("HEAD:main")
			s.note("three")
			s.accepted("HEAD:main", "HEAD:refs/heads/topic")
			last := s.server.Git("rev-parse", mainRef)
			s.server.Git("symbolic-ref", "HEAD", "refs/heads/topic")
			s.note("four")
			s.accepted("HEAD:topic")
			past(s)
			if s.server.Git("rev-parse", mainRef) == last {
				t.Fatal("this Git moved nothing: the row shows nothing")
			}
			for range 2 {
				s.clone.Git("commit", "-q", "--allow-empty", "-m", "x")
				out, err := s.push("HEAD:refs/heads/another")
				noError(t, err)
				if !strings.Contains(out, "evolve: warning: ref_moved: something moved refs/heads/main past the gate") {
					t.Errorf("the pusher does not read of it:\n%s", out)
				}
			}
			seen := 0
			for _, e := range audit(t, s.server) {
				if e.Verdict == promote.VerdictSeen {
					seen++
				}
			}
			if seen != 1 {
				t.Errorf("it was written down %d times", seen)
			}
			repo, policy := s.open(s.server)
			gate := &promote.Gate{Repo: repo, Policy: policy, Now: time.Now}
			checks, err := gate.Examination(t.Context())
			noError(t, err)
			if !slices.ContainsFunc(checks, func(c review.Check) bool { return strings.HasPrefix(c.Message, "ref_moved: ") }) {
				t.Errorf("doctor does not say it: %v", checks)
			}
		})
	}
}

// A server that runs pre-receive and post-receive alone: pushes are judged and
// written down; other moves are not prevented.
func TestPreReceiveAlone(t *testing.T) {
	s := newSite(t)
	noError(t, os.Remove(s.server.Path("hooks/reference-transaction")))
	head := s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	token := s.review(mainRef, s.base, head)
	s.accepted("--atomic", "HEAD:main", record(token))
	s.reaped()
	if got := s.moves(); len(got) != 1 {
		t.Errorf("audited moves %v", got)
	}
	s.refused("ref_protected", ":main")
	s.server.Git("update-ref", mainRef, s.base)
	s.clone.Git("commit", "-q", "--allow-empty", "-m", "x")
	if out, _ := s.push("HEAD:refs/heads/topic"); !strings.Contains(out, "ref_moved") {
		t.Errorf("the next hook does not tell it:\n%s", out)
	}
}

// A git that is killed while it is asked what a name stands for says nothing: the
// name may stand for a guarded ref.
func TestAKilledGitHidesNoSymbolicRef(t *testing.T) {
	s := newSite(t)
	noError(t, os.Remove(s.server.Path("hooks/reference-transaction")))
	s.server.Git("config", "--add", "evolve.guard", "refs/heads/live")
	s.server.Git("symbolic-ref", "refs/heads/alias", "refs/heads/live")
	s.change("1.1.0")
	s.refused("token_missing", "HEAD:alias")
	git, err := exec.LookPath("git")
	noError(t, err)
	bin := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(bin, "git"),
		fmt.Appendf(nil, "#!/bin/sh\ncase \"$*\" in *' symbolic-ref '*) kill -KILL $$ ;; esac\nexec '%s' \"$@\"\n", git), 0o755))
	noError(t, os.WriteFile(s.server.Path("hooks/pre-receive"),
		fmt.Appendf(nil, "#!/bin/sh\nPATH='%s':$PATH exec '%s' pre-receive \"$@\"\n", bin, hookProgram), 0o755))
	s.refused("git_failed", "HEAD:alias")
	s.at("refs/heads/live", "")
}
