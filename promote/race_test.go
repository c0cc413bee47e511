package promote

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// Of many that promote with one token at once, one moves the ref and each of the
// others is told; the log has one line for the move.
func TestOneOfManyMoves(t *testing.T) {
	f := newFixture(t)
	o := f.order(nil)
	const racers = 6
	results := make([]error, racers)
	var ready, done sync.WaitGroup
	ready.Add(racers)
	for i := range racers {
		done.Go(func() {
			repo, err := gitrepo.Open(t.Context(), gitrepo.Options{Dir: f.g.Dir(), Env: f.g.Env()})
			ready.Done()
			ready.Wait()
			if err != nil {
				results[i] = err
				return
			}
			defer func() { _ = repo.Close() }()
			gate := *f.gate
			gate.Repo = repo
			gate.Now = func() time.Time { return start }
			_, results[i] = gate.Promote(t.Context(), o)
		})
	}
	done.Wait()
	won := 0
	for _, err := range results {
		switch code := fault.CodeOf(err); {
		case err == nil:
			won++
		case code != fault.RefMoved && code != fault.TokenUsed:
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d moved the ref", won, racers)
	}
	f.at(f.two)
	f.settled()
	moved := 0
	for _, e := range f.entries() {
		if e.Verdict == VerdictMoved {
			moved++
		}
		if e.Recovered {
			t.Error("a living promotion was taken for a dead one")
		}
	}
	if moved != 1 || len(f.entries()) != racers {
		t.Errorf("the log has %d lines, %d of moves", len(f.entries()), moved)
	}
}

// Whoever waits for a move that does not end can be interrupted.
func TestWaitingForAHoldEndsWithTheContext(t *testing.T) {
	f := newFixture(t)
	h, err := f.gate.claims().hold(t.Context(), live, f.one, f.two)
	noError(t, err)
	defer h.release()
	other, err := f.gate.claims().hold(t.Context(), live, f.one, f.three)
	noError(t, err) // another move is not held up
	other.release()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err = f.gate.claims().hold(ctx, live, f.one, f.two)
	wantCode(t, err, fault.Interrupted)
}
