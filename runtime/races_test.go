package runtime

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
)

// rounds is how often a race is run: a few times, or as often as the
// environment says (make soak).
func rounds(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("EVOLVE_SOAK")); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 2
	}
	return 20
}

// race runs two things at once, many times, each time in a new world.
func race(t *testing.T, one, two func(*world, Turn, *Catalog)) {
	for range rounds(t) {
		w := newWorld(t, map[string]string{"a.yaml": "command: x\n", "b.yaml": "command: x\n"}, memory(nil))
		turn := w.turn()
		c := w.prepare(turn)
		var wg sync.WaitGroup
		wg.Go(func() { one(w, turn, c) })
		wg.Go(func() { two(w, turn, c) })
		wg.Wait()
		if err := w.host.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.servers.Wait()
	}
}

func TestRaceOfEvictionAgainstPreparation(t *testing.T) {
	race(t,
		func(w *world, turn Turn, _ *Catalog) { w.host.EvictSession(turn.Session) },
		func(w *world, turn Turn, _ *Catalog) {
			turn.CoreRevision = "rev2"
			c, err := w.host.Prepare(t.Context(), turn)
			if err != nil && !errors.Is(err, ErrEvicted) {
				t.Errorf("%v", err)
			}
			if err == nil {
				ref, _ := c.Resolve("a__echo")
				if r := w.host.Call(t.Context(), turn, ref, nil); r.Status != Succeeded && r.Status != Invalid && r.Status != Indeterminate {
					t.Errorf("%+v", r)
				}
			}
		})
}

func TestRaceOfShutdownAgainstDiscovery(t *testing.T) {
	race(t,
		func(w *world, _ Turn, _ *Catalog) {
			if err := w.host.Close(context.Background()); err != nil {
				t.Errorf("%v", err)
			}
		},
		func(w *world, turn Turn, _ *Catalog) {
			turn.Session = "s2"
			if _, err := w.host.Prepare(t.Context(), turn); err != nil && !errors.Is(err, ErrClosed) {
				t.Errorf("%v", err)
			}
		})
}

func TestRaceOfSwitchAgainstCall(t *testing.T) {
	race(t,
		func(w *world, turn Turn, _ *Catalog) { w.host.SwitchSession(turn.Session) },
		func(w *world, turn Turn, c *Catalog) {
			ref, _ := c.Resolve("a__echo")
			r := w.host.Call(t.Context(), turn, ref, nil)
			switch r.Status {
			case Succeeded, Invalid, Indeterminate:
			default:
				t.Errorf("%+v", r)
			}
			if r.Status == Invalid && r.Started {
				t.Errorf("invalid and started: %+v", r)
			}
		})
}
