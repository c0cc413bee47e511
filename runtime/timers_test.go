package runtime

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs a test in a bubble of fake time.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t) })
}

// TestFailuresAreRememberedFor30Seconds: then only that server is tried again,
// and its healthy peer stays connected.
func TestFailuresAreRememberedFor30Seconds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		modes := map[string]string{"bad": "wrong_id"}
		w := newWorld(t, map[string]string{"bad.yaml": "command: x\n", "good.yaml": "command: x\n"}, memory(modes))
		turn := w.turn()
		c := w.prepare(turn)
		if s := c.Servers()[0]; s.State != Unreachable || !s.RetryAt.Equal(time.Now().Add(30*time.Second)) {
			t.Errorf("%+v", s)
		}
		time.Sleep(30*time.Second - time.Nanosecond)
		w.prepare(turn)
		if len(w.connected) != 2 {
			t.Errorf("before 30 s: connected %v", w.connected)
		}
		modes["bad"] = ""
		time.Sleep(time.Nanosecond)
		c = w.prepare(turn)
		wantEqual(t, "connected", w.connected[2:], []string{"bad"})
		wantEqual(t, "servers", states(c), []string{"bad connected", "good connected"})
	})
}

// TestADenialIsAskedAgain the next turn: it is no failure.
func TestADenialIsAskedAgainNextTurn(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	answer := No
	w.approver.hook = func(ApprovalRequest) Answer { return answer }
	turn := w.turn()
	wantEqual(t, "servers", states(w.prepare(turn)), []string{"docs denied not_approved"})
	answer = Once
	wantEqual(t, "servers", states(w.prepare(turn)), []string{"docs connected"})
}

// TestTheConnectTimeoutBoundsEverything: starting, initialising and listing
// together, whichever of them is slow.
func TestTheConnectTimeoutBoundsEverything(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, map[string]string{
			"mute.yaml":   "command: x\nconnect_timeout_seconds: 9\n",
			"legacy.yaml": "command: x\nconnect_timeout_seconds: 9\n",
		}, memory(map[string]string{"mute": "silent", "legacy": "ignores_discover"}))
		start := time.Now()
		c := w.prepare(w.turn())
		wantEqual(t, "servers", states(c), []string{"legacy connected", "mute failed initialize took longer than connect_timeout_seconds"})
		if d := time.Since(start); d != 9*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

// TestWaitingForASlotIsNotCounted against the timeout of a server.
func TestWaitingForASlotIsNotCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		files, modes := map[string]string{}, map[string]string{}
		for i := range 8 {
			id := fmt.Sprintf("s%d", i)
			files[id+".yaml"] = "command: x\nconnect_timeout_seconds: 6\n"
			modes[id] = "silent"
		}
		files["z.yaml"] = "command: x\nconnect_timeout_seconds: 6\n"
		w := newWorld(t, files, memory(modes))
		start := time.Now()
		c := w.prepare(w.turn())
		if s := c.Servers()[8]; s.State != Connected {
			t.Errorf("%+v", s)
		}
		if d := time.Since(start); d < 12*time.Second || d > 13*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

// TestAnApprovalForASessionExpires, and the connection that rests on it.
func TestAnApprovalForASessionExpires(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil), func(o *Options, _ *world) {
			o.Limits.ApprovalLife = time.Hour
		})
		turn := w.turn()
		c := w.prepare(turn)
		w.call(c, turn, "docs__echo", "")
		time.Sleep(time.Hour - time.Nanosecond)
		if r := w.call(c, turn, "docs__echo", ""); r.Status != Succeeded || len(w.approver.asked) != 2 {
			t.Errorf("%+v, asked %d times", r, len(w.approver.asked))
		}
		time.Sleep(time.Nanosecond)
		if r := w.call(c, turn, "docs__echo", ""); r.Status != Invalid || r.Reason != "approval_revoked" {
			t.Errorf("%+v", r)
		}
		c = w.prepare(turn)
		w.call(c, turn, "docs__echo", "")
		if w.approver.count(ConnectApproval) != 2 || w.approver.count(CallApproval) != 2 {
			t.Errorf("asked %d times", len(w.approver.asked))
		}
	})
}

// TestACallTimesOut after timeout_seconds, also while it waits for other calls.
func TestACallTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\ntimeout_seconds: 7\n"}, memory(nil))
		turn := w.turn()
		c := w.prepare(turn)
		ref, _ := c.Resolve("docs__wait")
		results := make(chan Result, 2)
		start := time.Now()
		for range 2 {
			go func() { results <- w.host.Call(t.Context(), turn, ref, nil) }()
		}
		started := 0
		for range 2 {
			r := <-results
			if r.Status != TimedOut || r.Duration != 7*time.Second {
				t.Errorf("%+v", r)
			}
			if r.Started {
				started++
			}
		}
		if started != 1 || time.Since(start) != 7*time.Second {
			t.Errorf("%d started, took %v", started, time.Since(start))
		}
		time.Sleep(time.Minute) // what tells the server of the cancellation ends too
	})
}

// TestACallersDeadlineIsACancellation, not the declaration's timeout.
func TestACallersDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(map[string]string{"docs": "silent"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.host.Prepare(ctx, w.turn()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("prepare: %v", err)
		}
		// It was the caller who gave up: nothing is remembered against the server.
		w.mu.Lock()
		w.connected = nil
		w.mu.Unlock()
		ctx, cancel2 := context.WithTimeout(t.Context(), time.Second)
		defer cancel2()
		_, _ = w.host.Prepare(ctx, w.turn())
		wantEqual(t, "connected", w.connected, []string{"docs"})
		time.Sleep(time.Minute)
	})
}
