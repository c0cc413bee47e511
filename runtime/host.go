package runtime

import (
	"context"
	"sync"

	"github.com/evolve-mcp/evolve/internal/netguard"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// Host connects to MCP servers on behalf of sessions. It is safe for concurrent
// use. Close it.
type Host struct {
	options   Options
	key       []byte
	urls      *netguard.Policy
	approvals *approvals
	previews  previewer
	events    eventQueue
	notes     *queue[Notification] // nil if nobody wants them
	log       *stderrLog
	slots     chan struct{} // a token for each server in discovery

	life context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup // preparations, calls, and connections that are being closed

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	children int
}

// NewHost makes a host. It starts and dials nothing. The error is a
// *fault.Fault.
func NewHost(o Options) (*Host, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	h := &Host{
		options:   o,
		key:       o.FingerprintKey,
		urls:      &netguard.Policy{TrustedNetworks: o.TrustedNetworks, NAT64: o.NAT64, Resolver: o.Resolver},
		approvals: newApprovals(o),
		previews:  previewer{redact.NewFingerprinter(o.FingerprintKey)},
		events:    newEventQueue(o.Events, o.Now),
		log:       &stderrLog{home: o.Home, now: o.Now},
		slots:     make(chan struct{}, o.Limits.Discoveries),
		sessions:  map[string]*session{},
	}
	if o.Notify != nil {
		h.notes = newQueue(func(n Notification, _ int) { o.Notify(n) })
	}
	// A host outlives every call: its life is ended by Close alone.
	h.life, h.stop = context.WithCancelCause(context.Background())
	return h, nil
}

// begin counts a preparation or a call, unless the host is closed. The caller
// ends it with work.Done.
func (h *Host) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.work.Add(1)
	return true
}

// open returns the session, which it makes if there is none.
func (h *Host) open(id string) (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	s := h.sessions[id]
	if s == nil {
		s = newSession(h.life, id, "")
		h.sessions[id] = s
	}
	return s, nil
}

// take removes a session and those of its children, and returns them.
func (h *Host) take(id string) []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*session
	if s := h.sessions[id]; s != nil {
		delete(h.sessions, id)
		out = append(out, s)
	}
	for name, s := range h.sessions {
		if s.parent == id {
			delete(h.sessions, name)
			out = append(out, s)
		}
	}
	return out
}

// EvictSession closes one session, and the children that it issued. It wins a
// race with a preparation, which fails with ErrEvicted, and returns when every
// connection is closed. A preparation that begins later starts anew.
func (h *Host) EvictSession(session string) {
	if !h.begin() {
		return
	}
	defer h.work.Done()
	h.endAll(h.take(session), ErrEvicted)()
}

// SwitchSession is EvictSession in the background, for when a user goes to
// another session or resumes this one: Close waits for it.
func (h *Host) SwitchSession(from string) {
	if !h.begin() {
		return
	}
	wait := h.endAll(h.take(from), ErrEvicted)
	go func() {
		defer h.work.Done()
		wait()
	}()
}

// evict closes one session if it is still there.
func (h *Host) evict(s *session, reason error) {
	h.mu.Lock()
	if h.sessions[s.id] == s {
		delete(h.sessions, s.id)
	}
	h.mu.Unlock()
	h.endAll([]*session{s}, reason)()
}

// endAll ends sessions: nothing can be prepared or called in them any more. The
// result closes their connections and returns when that is done.
func (h *Host) endAll(list []*session, reason error) (wait func()) {
	var conns []*connection
	for _, s := range list {
		conns = append(conns, s.end(reason)...)
		h.approvals.revoke("", s.id)
	}
	return func() {
		var wg sync.WaitGroup
		for _, c := range conns {
			wg.Go(c.close)
		}
		wg.Wait()
	}
}

// closeLater closes a connection in work that Close waits for. It is called
// within a preparation or a call only, so that the work is counted.
func (h *Host) closeLater(c *connection) {
	h.work.Add(1)
	go func() {
		defer h.work.Done()
		c.close()
	}()
}

// RevokeApprovals forgets approvals of a principal and a session; "" stands for
// any. Connections that rest on one are closed at the next preparation, and
// calls on them are invalid until then.
func (h *Host) RevokeApprovals(principal, session string) { h.approvals.revoke(principal, session) }

// shutdownLimit bounds what is said to a server that is being left.
func (h *Host) shutdownLimit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(h.life), h.options.Limits.ShutdownTimeout)
}

// Close ends every session and waits until no process, no goroutine and no file
// is left, or until ctx ends: then it returns ctx's error, and what is left goes
// on closing. Whatever runs fails with ErrClosed.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	var all []*session
	for id, s := range h.sessions {
		delete(h.sessions, id)
		all = append(all, s)
	}
	h.mu.Unlock()
	wait := h.endAll(all, ErrClosed)
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait()
		h.stop(ErrClosed)
		h.work.Wait()
		if h.notes != nil {
			h.notes.close()
		}
		h.events.close()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
