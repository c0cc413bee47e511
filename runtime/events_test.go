package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evolve-mcp/evolve/runtime/internal/servertest"
)

// TestEventsComeInOrderAndTheSinkNeverBlocks.
func TestEventsAreOrderedNeverBlockAndSurviveAPanic(t *testing.T) {
	hold := make(chan struct{})
	kept := &sink{}
	var n int
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\napproval_policy: auto\n"}, memory(nil), func(o *Options, _ *world) {
		o.Events = sinkFunc(func(e Event) {
			<-hold
			n++
			kept.Emit(e)
			if n == 2 {
				panic("the sink is broken")
			}
		})
	})
	turn := w.turn()
	c := w.prepare(turn)
	const calls = maxQueued + 50
	for range calls {
		if r := w.call(c, turn, "docs__echo", ""); r.Status != Succeeded {
			t.Fatalf("%+v", r)
		}
	}
	close(hold)
	if r := w.call(c, turn, "docs__fail", ""); r.Status != Failed {
		t.Fatalf("%+v", r)
	}
	if err := w.host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := kept.names()
	if names[0] != "mcp.server_connected docs" || names[1] != "mcp.tool_called docs" || len(names) < maxQueued {
		t.Errorf("%d events, first %v", len(names), names[:2])
	}
	dropped := 0
	for _, e := range kept.list {
		dropped += e.Dropped
	}
	if len(names)+dropped != calls+2 && dropped == 0 {
		t.Errorf("%d came and %d were counted as lost, of %d", len(names), dropped, calls+2)
	}
}

type sinkFunc func(Event)

func (f sinkFunc) Emit(e Event) { f(e) }

// asker answers elicitations.
type asker struct{ asked []Elicitation }

func (a *asker) Elicit(_ context.Context, e Elicitation) (ElicitAnswer, error) {
	a.asked = append(a.asked, e)
	return ElicitAnswer{Action: "accept", Content: []byte(`{"name":"Ada"}`)}, nil
}

// TestAnElicitorAnswersServersOfBothEras.
func TestAnElicitorAnswersTheServer(t *testing.T) {
	a := &asker{}
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(map[string]string{"docs": "asks_user"}),
		func(o *Options, _ *world) { o.Elicitor = a })
	turn := w.turn()
	c := w.prepare(turn)
	r := w.call(c, turn, "docs__echo", "")
	if r.Status != Succeeded || !strings.Contains(r.Views.Model, `"name":"Ada"`) {
		t.Errorf("%+v", r)
	}
	if len(a.asked) != 1 || a.asked[0].Message != "Your name?" || a.asked[0].Mode != "form" || a.asked[0].ServerID != "docs" {
		t.Errorf("%+v", a.asked)
	}
}

// TestWithoutAnElicitorNothingIsDeclared; roots and sampling never are.
func TestCapabilitiesThatAreDeclared(t *testing.T) {
	for _, tt := range []struct {
		elicitor Elicitor
		want     string
	}{{nil, "{}"}, {&asker{}, `{"elicitation":{}}`}} {
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil), func(o *Options, _ *world) { o.Elicitor = tt.elicitor })
		got := make(chan string, 1)
		w.fakes["docs"] = &servertest.Server{Capabilities: func(raw json.RawMessage) { got <- string(raw) }}
		w.prepare(w.turn())
		if c := <-got; c != tt.want {
			t.Errorf("declares %s, want %s", c, tt.want)
		}
	}
}

// slowClose is a stream whose Close waits.
type slowClose struct {
	net.Conn
	wait <-chan struct{}
}

func (s slowClose) Close() error {
	<-s.wait
	return s.Conn.Close()
}

// TestClosingHoldsNoSlot: a server that failed, and is slow to end, keeps no
// other from being discovered.
func TestClosingHoldsNoSlot(t *testing.T) {
	release := make(chan struct{})
	w := newWorld(t, map[string]string{"a.yaml": "command: x\n", "b.yaml": "command: x\n"}, memory(map[string]string{"a": "wrong_id"}),
		func(o *Options, _ *world) {
			o.Limits.Discoveries = 1
			connect := o.Connect
			o.Connect = func(ctx context.Context, d Declaration) (Stream, error) {
				s, err := connect(ctx, d)
				if d.ServerID() == "a" {
					return slowClose{s.(net.Conn), release}, err
				}
				return s, err
			}
		})
	c := w.prepare(w.turn())
	if s := c.Servers()[1]; s.State != Connected {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.host.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("closing did not wait for the connection: %v", err)
	}
	close(release)
}

// TestNotificationsReachTheHostRedacted: progress of calls, and log messages.
func TestNotificationsReachTheHostRedacted(t *testing.T) {
	var mu sync.Mutex
	var got []Notification
	w := newWorld(t, map[string]string{"docs.yaml": program("tells")}, func(o *Options, _ *world) {
		o.Notify = func(n Notification) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, n)
		}
	})
	turn := w.turn()
	c := w.prepare(turn)
	if r := w.call(c, turn, "docs__echo", ""); r.Status != Succeeded {
		t.Fatalf("%+v", r)
	}
	_ = w.host.Close(t.Context())
	want := []Notification{
		{Session: "s1", ServerID: "docs", Kind: "progress", Tool: "echo", Progress: 1, Total: 2, Message: "half with <redacted>"},
		{Session: "s1", ServerID: "docs", Kind: "log", Level: "info", Logger: "fake", Message: `{"token":"<redacted>"}`},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
