package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/promote"
)

// Five clones push reviewed changes beside a loop of pack-refs: native pushes lose
// some that they report as done. None of these is lost, no token moves twice, and
// no claim is left.
func TestClonesPushBesidePackRefs(t *testing.T) {
	const clones = 5
	s := newSite(t)
	var done []string
	var mu sync.Mutex
	ctx, stop := context.WithCancel(t.Context())
	var packing, pushing sync.WaitGroup
	packing.Go(func() {
		for ctx.Err() == nil {
			_, _ = s.server.Try("", "pack-refs", "--all")
		}
	})
	errs := make(chan error, clones)
	for i := range clones {
		w := &worker{site: s, clone: s.another(), name: fmt.Sprintf("s%d", i)}
		pushing.Go(func() {
			for round := range raceRounds {
				head, err := w.round(t.Context(), round)
				if err != nil {
					errs <- fmt.Errorf("clone %s, round %d: %w", w.name, round, err)
					return
				}
				mu.Lock()
				done = append(done, head)
				mu.Unlock()
			}
		})
	}
	pushing.Wait()
	stop()
	packing.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	for _, head := range done {
		if _, err := s.server.Try("", "merge-base", "--is-ancestor", head, mainRef); err != nil {
			t.Errorf("the push of %s was reported as done and is lost", head)
		}
	}
	s.server.Git("pack-refs", "--all")
	used := map[string]int{}
	moved := map[string]int{}
	for _, e := range audit(t, s.server) {
		if e.Verdict == promote.VerdictMoved {
			moved[string(e.New)]++
			for _, token := range e.Tokens {
				used[token]++
			}
		}
		if e.Verdict == promote.VerdictSeen {
			t.Errorf("a judged move was taken for one past the gate: %+v", e)
		}
	}
	for token, n := range used {
		if n != 1 {
			t.Errorf("%s moved the ref %d times", token, n)
		}
	}
	if len(used) != len(done) || len(moved) != len(done) {
		t.Errorf("%d pushes were done; the audit log has %d moves and %d tokens", len(done), len(moved), len(used))
	}
	s.reapedBut(t)
}

// reapedBut checks that what is left are claims of pushes that lost a race only:
// each is for a move that can no longer be made, and expires.
func (s *site) reapedBut(t *testing.T) {
	t.Helper()
	head := s.server.Git("rev-parse", mainRef)
	repo, policy := s.open(s.server)
	later := &promote.Gate{Repo: repo, Policy: policy, Now: func() time.Time { return time.Now().Add(11 * time.Minute) }}
	noError(t, later.Reconcile(t.Context()))
	s.reaped()
	s.at(mainRef, head)
}

// another is one more clone, whose user reviews with the same key.
func (s *site) another() *gittest.Repo {
	s.t.Helper()
	c := gittest.New(s.t)
	c.Git("config", "evolve.repository", repository)
	c.Git("remote", "add", "origin", s.server.Dir())
	c.Git("fetch", "-q", "origin", "main")
	c.Git("reset", "-q", "--hard", "FETCH_HEAD")
	noError(s.t, os.Mkdir(c.Path(".git/evolve"), 0o700))
	for _, name := range []string{"signing-key", "signers"} {
		data, err := os.ReadFile(s.clone.Path(".git/evolve/" + name))
		noError(s.t, err)
		noError(s.t, os.WriteFile(c.Path(".git/evolve/"+name), data, 0o600))
	}
	return c
}

type worker struct {
	*site
	clone *gittest.Repo
	name  string
}

// round changes this clone's own server once, reviews it once, and pushes until it
// is in. A lost race costs a rebase; the token stays good.
func (w *worker) round(ctx context.Context, round int) (string, error) {
	if err := w.git("fetch", "-q", "origin", "+main:refs/remotes/origin/main"); err != nil {
		return "", err
	}
	if err := w.git("reset", "-q", "--hard", "origin/main"); err != nil {
		return "", err
	}
	base, _ := w.clone.Try("", "rev-parse", "HEAD")
	file := w.clone.Path("agent/mcp/" + w.name + ".yaml")
	if err := os.WriteFile(file, []byte(docs(fmt.Sprintf("1.%d.0", round))), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"add", "."}, {"commit", "-q", "-m", fmt.Sprint(w.name, " round ", round)}} {
		if err := w.git(args...); err != nil {
			return "", err
		}
	}
	head, _ := w.clone.Try("", "rev-parse", "HEAD")
	token, err := mint(ctx, w.clone, mainRef, strings.TrimSpace(base), strings.TrimSpace(head), time.Hour)
	if err != nil {
		return "", err
	}
	for range 200 {
		out, err := pushFrom(w.clone, w.server.Dir(), "--atomic", "HEAD:main", record(token))
		if err == nil {
			head, err := w.clone.Try("", "rev-parse", "HEAD")
			return strings.TrimSpace(head), err
		}
		if strings.Contains(out, "evolve: token_") {
			return "", errors.New(out)
		}
		if err := w.git("fetch", "-q", "origin", "+main:refs/remotes/origin/main"); err != nil {
			return "", err
		}
		if err := w.git("rebase", "-q", "origin/main"); err != nil {
			return "", err
		}
	}
	return "", errors.New("it lost 200 races")
}

func (w *worker) git(args ...string) error {
	if out, err := w.clone.Try("", args...); err != nil {
		return fmt.Errorf("git %v: %w: %s", args, err, out)
	}
	return nil
}
