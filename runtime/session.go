package runtime

import (
	"context"
	"sync"
	"time"
)

// session holds the connections of one session. It lives from the first
// preparation to its eviction; after that a preparation gets a new one.
type session struct {
	id     string
	parent string        // of a delegated child
	turn   chan struct{} // one token: one preparation at a time
	life   context.Context
	evict  context.CancelCauseFunc

	mu        sync.Mutex
	evicted   bool
	authority string
	conns     map[string]*connection // by server id
	failures  map[string]failure
	shown     string // digest of the catalog that was handed out last
}

// failure is remembered, so that a broken server does not slow every turn.
type failure struct {
	fingerprint string
	diagnostic  string
	retry       time.Time
}

func newSession(life context.Context, id, parent string) *session {
	s := &session{
		id: id, parent: parent, turn: make(chan struct{}, 1),
		conns: map[string]*connection{}, failures: map[string]failure{},
	}
	s.life, s.evict = context.WithCancelCause(life)
	return s
}

// enter waits for the session's turn, and returns a context that ends with the
// session too. leave must be called.
func (s *session) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		err = context.Cause(ctx)
		stop()
		cancel(nil)
		return nil, nil, err
	}
	return ctx, func() {
		<-s.turn
		stop()
		cancel(nil)
	}, nil
}

// align drops what does not fit the turn: everything, if the authority is
// another; else what has another declaration, died, or lost its approval. It
// returns what must be closed, and whether the authority changed.
func (s *session) align(b *bound) (drop []*connection, changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evicted {
		return nil, false, context.Cause(s.life)
	}
	changed = s.authority != "" && s.authority != b.authority
	s.authority = b.authority
	for id, c := range s.conns {
		want, ok := b.find(id)
		if changed || !ok || want.fingerprint != c.server.fingerprint || !c.alive() || !c.grant.good() {
			drop = append(drop, c)
			delete(s.conns, id)
		}
	}
	for id, f := range s.failures {
		want, ok := b.find(id)
		if changed || !ok || want.fingerprint != f.fingerprint {
			delete(s.failures, id)
		}
	}
	return drop, changed, nil
}

// state returns what is known of a server.
func (s *session) state(id string, now time.Time) (*connection, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conns[id]; c != nil {
		return c, nil
	}
	f, ok := s.failures[id]
	if !ok {
		return nil, nil
	}
	if !now.Before(f.retry) {
		delete(s.failures, id)
		return nil, nil
	}
	return nil, &f
}

// add takes a new connection, unless the session was evicted meanwhile.
func (s *session) add(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evicted {
		return false
	}
	s.conns[c.server.ServerID()] = c
	return true
}

// fail remembers a failure and forgets the server's connection, which it
// returns.
func (s *session) fail(id string, f failure) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conns[id]
	delete(s.conns, id)
	s.failures[id] = f
	return c
}

// current returns the connection of a server, if it is the given one.
func (s *session) current(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.evicted && s.conns[c.server.ServerID()] == c
}

// end evicts the session for a reason and returns its connections.
func (s *session) end(reason error) []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evicted = true
	s.evict(reason)
	var out []*connection
	for _, c := range s.conns {
		out = append(out, c)
	}
	s.conns = map[string]*connection{}
	return out
}

// show records the digest of a catalog and reports whether it is another than
// the one before.
func (s *session) show(digest string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.shown != "" && s.shown != digest
	s.shown = digest
	return changed
}
