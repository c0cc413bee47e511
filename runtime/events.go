package runtime

import (
	"context"
	"log/slog"
	"time"
)

// EventName says what happened.
type EventName string

// The events.
const (
	// ServerDenied: a server was not connected, or a call not made, for lack of
	// a capability, by the URL policy, or without approval.
	ServerDenied    EventName = "mcp.server_denied"
	ServerFailed    EventName = "mcp.server_failed"
	ServerConnected EventName = "mcp.server_connected"
	// URLDecision: the URL policy decided on a request or a redirect, before
	// dialling. The last one names the final target that was attempted.
	URLDecision    EventName = "mcp.url_decision"
	ToolCalled     EventName = "mcp.tool_called"
	CatalogChanged EventName = "mcp.catalog_changed"
)

// Event is one thing that happened. Nothing in it is secret.
type Event struct {
	Name               EventName
	Time               time.Time
	Session, Turn      string
	ServerID, Path     string
	Capability, Reason string     // of ServerDenied
	Message            string     // of ServerFailed
	Phase              string     // of URLDecision: "request"
	URLPolicy          *URLPolicy // of URLDecision, and of ServerDenied where the URL decided
	Tool, Status       string     // of ToolCalled
	Duration           time.Duration
	Started            bool // of ToolCalled: the server was asked
	Dropped            int  // events that were lost before this one, since the sink was too slow
}

// URLPolicy is what a decision on a URL says of it: its origin and the judged
// addresses.
type URLPolicy struct {
	Allowed           bool     `json:"allowed"`
	Reason            string   `json:"reason"`
	Target            string   `json:"target"`
	ResolvedAddresses []string `json:"resolved_addresses"`
}

// EventSink takes events, one at a time, in order. It may be slow: events wait
// in a bounded queue, and what does not fit is counted in Dropped. A panic is
// caught.
type EventSink interface{ Emit(Event) }

// NewSlogSink writes events to a logger.
func NewSlogSink(l *slog.Logger) EventSink { return slogSink{l} }

type slogSink struct{ l *slog.Logger }

// Emit implements EventSink.
func (s slogSink) Emit(e Event) {
	level := slog.LevelInfo
	if e.Name == ServerFailed || e.Name == ServerDenied {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.String("session", e.Session), slog.String("turn", e.Turn)}
	for _, a := range []struct{ key, value string }{
		{"server_id", e.ServerID}, {"path", e.Path}, {"capability", e.Capability}, {"reason", e.Reason},
		{"message", e.Message}, {"phase", e.Phase}, {"tool", e.Tool}, {"status", e.Status},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	if e.URLPolicy != nil {
		attrs = append(attrs, slog.Any("url_policy", *e.URLPolicy))
	}
	if e.Dropped > 0 {
		attrs = append(attrs, slog.Int("dropped", e.Dropped))
	}
	s.l.LogAttrs(context.Background(), level, string(e.Name), attrs...) // a sink has no context of its own
}

// eventQueue delivers events to the host's sink.
type eventQueue struct {
	*queue[Event]
	now func() time.Time
}

func newEventQueue(sink EventSink, now func() time.Time) eventQueue {
	return eventQueue{newQueue(func(e Event, dropped int) {
		e.Dropped = dropped
		sink.Emit(e)
	}), now}
}

// emit never blocks.
func (q eventQueue) emit(e Event) {
	e.Time = q.now()
	q.put(e)
}
