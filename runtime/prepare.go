package runtime

import (
	"context"
	"errors"
	"sync"
)

// outcome is what became of one server in a preparation.
type outcome struct {
	server server
	conn   *connection
	denied *denial
	failed *failure
}

// Prepare returns the catalog of a turn: it decides for each enabled
// declaration, connects what is allowed and not connected yet, and lists tools.
// Errors are an *AuthorityError, ErrClosed, ErrEvicted, the context's, or a
// *CollisionError beside a catalog. A server that is denied or fails is no
// error: Servers says so.
func (h *Host) Prepare(ctx context.Context, t Turn) (*Catalog, error) { return h.prepare(ctx, t, nil) }

// prepare works in the given session, or in the one that the turn names.
func (h *Host) prepare(ctx context.Context, t Turn, s *session) (*Catalog, error) {
	b, err := h.bind(t)
	if err != nil {
		return nil, err
	}
	if !h.begin() {
		return nil, ErrClosed
	}
	defer h.work.Done()
	if s == nil {
		if s, err = h.open(b.Session); err != nil {
			return nil, err
		}
	}
	ctx, leave, err := s.enter(withTurn(ctx, b.ID))
	if err != nil {
		return nil, err
	}
	defer leave()
	outcomes, err := h.reach(ctx, s, b)
	if err != nil {
		return nil, err
	}
	return h.catalog(s, b, outcomes)
}

// reach connects what the turn may connect.
func (h *Host) reach(ctx context.Context, s *session, b *bound) ([]outcome, error) {
	drop, changed, err := s.align(b)
	if err != nil {
		return nil, err
	}
	for _, c := range drop {
		h.closeLater(c)
	}
	if changed {
		h.approvals.revoke("", b.Session)
	}
	outcomes := make([]outcome, len(b.servers))
	var wg sync.WaitGroup
	for i, srv := range b.servers {
		o := &outcomes[i]
		o.server = srv
		conn, failed := s.state(srv.ServerID(), h.options.Now())
		switch {
		case failed != nil:
			o.failed = failed
			continue
		case conn != nil && !conn.stale.Load():
			o.conn = conn
			continue
		case conn != nil:
			wg.Go(func() {
				h.discover(ctx, s, b, o, func(ctx context.Context) (*connection, error) { return conn, conn.relist(ctx) })
			})
			continue
		}
		p, denied, aerr := h.authorise(ctx, b, srv)
		if aerr != nil {
			err = aerr
			break
		}
		if denied != nil {
			o.denied = denied
			h.emitDenied(b, srv, denied)
			continue
		}
		wg.Go(func() {
			h.discover(ctx, s, b, o, func(ctx context.Context) (*connection, error) { return h.connect(ctx, b, srv, p) })
			if o.conn == nil {
				p.grant.release()
			}
		})
	}
	wg.Wait()
	switch {
	case s.life.Err() != nil: // of which ctx hears a moment later
		return nil, context.Cause(s.life)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return outcomes, err
}

func (h *Host) emitDenied(b *bound, s server, d *denial) {
	e := b.event(ServerDenied, s)
	e.Capability, e.Reason, e.URLPolicy = d.capability, d.reason, d.url
	h.events.emit(e)
}

// discover runs one connect or relist in a slot, within the server's connect
// timeout, and records how it ended.
func (h *Host) discover(ctx context.Context, s *session, b *bound, o *outcome, run func(context.Context) (*connection, error)) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	limited, cancel := context.WithTimeout(ctx, o.server.ConnectTimeout())
	conn, err := run(limited)
	cancel()
	<-h.slots
	id := o.server.ServerID()
	var p *problem
	switch {
	case err == nil:
		if !s.add(conn) {
			h.closeLater(conn)
			return
		}
		o.conn = conn
		h.events.emit(b.event(ServerConnected, o.server))
	case ctx.Err() != nil, s.life.Err() != nil:
		if conn != nil {
			conn.stale.Store(true) // the list was not read: ask again
		}
	default:
		message := "the server could not be connected"
		if errors.As(err, &p) {
			message = p.message
		}
		f := failure{o.server.fingerprint, message, h.options.Now().Add(h.options.Limits.FailureLife)}
		if old := s.fail(id, f); old != nil {
			h.closeLater(old)
		}
		o.failed = &f
		e := b.event(ServerFailed, o.server)
		e.Message = message
		h.events.emit(e)
	}
}
