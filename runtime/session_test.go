package runtime

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/runtime/internal/servertest"
)

// TestEvictionClosesOnlyItsSession, and what was prepared in it is invalid.
func TestEvictionClosesOnlyItsSession(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	one, two := w.turn(), w.turn()
	two.Session = "s2"
	c1, c2 := w.prepare(one), w.prepare(two)
	w.host.EvictSession("s1")
	if r := w.call(c1, one, "docs__echo", ""); r.Status != Invalid || r.Reason != "closed" || r.Started {
		t.Errorf("evicted: %+v", r)
	}
	if r := w.call(c2, two, "docs__echo", ""); r.Status != Succeeded {
		t.Errorf("the other one: %+v", r)
	}
	c3 := w.prepare(one)
	if r := w.call(c3, one, "docs__echo", ""); r.Status != Succeeded {
		t.Errorf("prepared anew: %+v", r)
	}
	if r := w.call(c1, one, "docs__echo", ""); r.Status != Invalid {
		t.Errorf("the old catalog lives again: %+v", r)
	}
}

// TestEvictionWinsARaceWithAPreparation that waits for a server, or for an
// approver.
func TestEvictionWinsARaceWithAPreparation(t *testing.T) {
	for _, at := range []string{"server", "approver"} {
		entered := make(chan struct{})
		var once sync.Once
		enter := func() { once.Do(func() { close(entered) }) }
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
		if at == "server" {
			w.fakes["docs"] = &servertest.Server{Mode: "silent", Seen: func(string) { enter() }}
		} else {
			stuck := make(chan struct{})
			defer close(stuck)
			w.approver.hook = func(ApprovalRequest) Answer { enter(); <-stuck; return Once }
		}
		failed := make(chan error, 1)
		go func() {
			_, err := w.host.Prepare(t.Context(), w.turn())
			failed <- err
		}()
		<-entered
		w.host.EvictSession("s1")
		if err := <-failed; !errors.Is(err, ErrEvicted) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestSwitchingEvictsInTheBackground, and Close waits for it.
func TestSwitchingEvictsInTheBackground(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": program("stubborn")}, func(o *Options, _ *world) {
		o.Limits.StdinGrace, o.Limits.TermGrace = 200*time.Millisecond, 200*time.Millisecond
	})
	turn := w.turn()
	c := w.prepare(turn)
	start := time.Now()
	w.host.SwitchSession("s1")
	if d := time.Since(start); d > 150*time.Millisecond {
		t.Errorf("switching took %v", d)
	}
	if r := w.call(c, turn, "docs__echo", ""); r.Status != Invalid || r.Started {
		t.Errorf("%+v", r)
	}
	if err := w.host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := w.leftBehind(); left != nil {
		t.Errorf("left: %v", left)
	}
}

// TestAChildHasItsOwnAuthority and its connections close with it.
func TestAChildHasTheAuthorityThatItsHostIssued(t *testing.T) {
	w := newWorld(t, map[string]string{"a.yaml": "command: x\n", "b.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	parent := w.prepare(turn)
	scope := turn
	scope.Capabilities = NewCapabilities("mcp.connect:a", "mcp.call:a")
	child, err := w.host.Child(scope)
	if err != nil {
		t.Fatal(err)
	}
	c, err := child.Prepare(t.Context(), "child-turn")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the child's servers", states(c), []string{"a connected", "b denied capability_missing"})
	ref, _ := c.Resolve("a__echo")
	if r := child.Call(t.Context(), "child-turn", ref, nil); r.Status != Succeeded {
		t.Errorf("%+v", r)
	}
	if r := w.host.Call(t.Context(), turn, ref, nil); r.Status != Invalid {
		t.Errorf("the parent used the child's connection: %+v", r)
	}
	parentRef, _ := parent.Resolve("b__echo")
	if r := child.Call(t.Context(), "child-turn", parentRef, nil); r.Status != Invalid {
		t.Errorf("the child used the parent's connection: %+v", r)
	}
	child.Close()
	if r := child.Call(t.Context(), "child-turn", ref, nil); r.Status != Invalid || r.Started {
		t.Errorf("after the end: %+v", r)
	}
	if _, err := child.Prepare(t.Context(), ""); !errors.Is(err, ErrChildEnded) {
		t.Errorf("after the end: %v", err)
	}
	if r := w.call(parent, turn, "b__echo", ""); r.Status != Succeeded {
		t.Errorf("the parent's connections: %+v", r)
	}
	other, err := w.host.Child(scope)
	if err != nil {
		t.Fatal(err)
	}
	w.host.EvictSession(turn.Session)
	if _, err := other.Prepare(t.Context(), ""); !errors.Is(err, ErrChildEnded) {
		t.Errorf("after its parent: %v", err)
	}
	if _, err := w.host.Child(Turn{}); err == nil {
		t.Error("a child of nobody")
	}
}

// TestClosingACatalogClosesItsSession.
func TestClosingACatalog(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	c := w.prepare(turn)
	c.Close()
	c.Close()
	if r := w.call(c, turn, "docs__echo", ""); r.Status != Invalid {
		t.Errorf("%+v", r)
	}
	w.prepare(turn)
	if len(w.connected) != 2 {
		t.Errorf("connected %v", w.connected)
	}
}

// TestAClosedHostRefuses, also what was waiting.
func TestAClosedHostRefuses(t *testing.T) {
	entered := make(chan struct{})
	var once sync.Once
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	c := w.prepare(turn)
	w.fakes["docs"] = &servertest.Server{Mode: "silent", Seen: func(string) { once.Do(func() { close(entered) }) }}
	other := turn
	other.Session = "s2"
	failed := make(chan error, 1)
	go func() {
		_, err := w.host.Prepare(t.Context(), other)
		failed <- err
	}()
	<-entered
	if err := w.host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("a preparation that was running: %v", err)
	}
	if _, err := w.host.Prepare(t.Context(), turn); !errors.Is(err, ErrClosed) {
		t.Errorf("prepare: %v", err)
	}
	if r := w.call(c, turn, "docs__echo", ""); r.Status != Invalid || r.Started {
		t.Errorf("call: %+v", r)
	}
	if _, err := w.host.Child(turn); !errors.Is(err, ErrClosed) {
		t.Errorf("child: %v", err)
	}
	w.host.EvictSession("s1")
	w.host.SwitchSession("s1")
	if err := w.host.Close(t.Context()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// TestACallThatIsRunningWhenItsSessionGoes may have been executed.
func TestACallIsCancelledTimedOutOrCutOff(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\ntimeout_seconds: 0.2\n", "slow.yaml": "command: x\n"}, memory(nil))
	methods := make(chan string, 100)
	w.fakes["slow"] = &servertest.Server{Seen: func(m string) { methods <- m }}
	turn := w.turn()
	c := w.prepare(turn)
	if r := w.call(c, turn, "docs__wait", ""); r.Status != TimedOut || !r.Started {
		t.Errorf("time: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ref, _ := c.Resolve("slow__wait")
	results := make(chan Result, 1)
	call := func(ctx context.Context) {
		go func() { results <- w.host.Call(ctx, turn, ref, nil) }()
		for m := range methods {
			if m == "tools/call" {
				return
			}
		}
	}
	call(ctx)
	cancel()
	if r := <-results; r.Status != Cancelled || !r.Started {
		t.Errorf("cancelled: %+v", r)
	}
	for m := range methods {
		if m == "notifications/cancelled" {
			break
		}
	}
	call(t.Context())
	w.host.EvictSession(turn.Session)
	if r := <-results; r.Status != Indeterminate || !r.Started {
		t.Errorf("evicted: %+v", r)
	}
}

// TestCallsOverlapOnlyIfTheDeclarationSaysSo.
func TestCallsOverlapOnlyIfTheDeclarationSaysSo(t *testing.T) {
	for _, parallel := range []string{"false", "true"} {
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\nsupports_parallel_tool_calls: " + parallel + "\n"}, memory(nil))
		g, gate := newGauge(), make(chan struct{})
		arrived := make(chan struct{}, 4)
		w.fakes["docs"] = &servertest.Server{Gate: gate, Seen: func(m string) {
			if m == "tools/call" {
				g.enter()
				arrived <- struct{}{}
			}
		}}
		turn := w.turn()
		c := w.prepare(turn)
		ref, _ := c.Resolve("docs__echo")
		results := make(chan Result, 4)
		for range 4 {
			go func() {
				r := w.host.Call(t.Context(), turn, ref, nil)
				results <- r
			}()
		}
		if parallel == "true" {
			for range 4 {
				<-arrived
			}
			close(gate)
		} else {
			for range 4 {
				<-arrived
				g.leave()
				gate <- struct{}{}
			}
		}
		for range 4 {
			if r := <-results; r.Status != Succeeded {
				t.Errorf("%+v", r)
			}
		}
		if want := map[string]int{"false": 1, "true": 4}[parallel]; g.most != want {
			t.Errorf("parallel %s: %d at once", parallel, g.most)
		}
	}
}
