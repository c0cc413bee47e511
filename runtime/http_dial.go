package runtime

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/evolve-mcp/evolve/internal/netguard"
)

const (
	// dialTimeout bounds all attempts of one connection.
	dialTimeout = 30 * time.Second
	// attemptDelay is how long one address may take before the next is tried
	// beside it (RFC 8305 8, "Connection Attempt Delay").
	attemptDelay = 250 * time.Millisecond
)

type decisionKey struct{}

// withDecision hands a decision to the dialer.
func withDecision(ctx context.Context, d netguard.Decision) context.Context {
	return context.WithValue(ctx, decisionKey{}, d)
}

// dial connects to an address of the decision in the context; the address that
// net/http asks for is not looked at and nothing is resolved. Without an
// allowing decision for this very pin it fails.
func (n *pin) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	d, ok := ctx.Value(decisionKey{}).(netguard.Decision)
	if !ok || !d.Allowed || pinKey(d) != n.key {
		return nil, &httpError{Reason: httpNoDecision}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	defer context.AfterFunc(n.pool.dialing, cancel)()

	conn, err := dialFirst(ctx, d)
	if err != nil {
		return nil, err
	}
	c := &pinConn{Conn: conn, pin: n}
	n.pool.mu.Lock()
	dead := n.dead
	if !dead {
		n.conns[c] = true
	}
	n.pool.mu.Unlock()
	if dead {
		_ = conn.Close()
		return nil, &httpError{Reason: httpConnectionsClosed}
	}
	return c, nil
}

// dialFirst tries the addresses in order, each a little after the one before or
// at once when that failed, and returns the first connection.
func dialFirst(ctx context.Context, d netguard.Decision) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialer := judgedDialer(d)
	results := make(chan result, len(d.Addresses))
	started, done := 0, 0
	start := func() {
		addr := netip.AddrPortFrom(d.Addresses[started], d.Port)
		started++
		go func() {
			conn, err := dialer.DialContext(ctx, "tcp", addr.String())
			results <- result{conn, err}
		}()
	}
	if len(d.Addresses) == 0 {
		return nil, &httpError{Reason: httpNoDecision}
	}
	start()
	delay := time.NewTicker(attemptDelay)
	defer delay.Stop()
	failure := &httpError{Reason: httpDialFailed}
	for done < started {
		select {
		case <-delay.C:
			if started < len(d.Addresses) {
				start()
			}
		case r := <-results:
			done++
			if r.err == nil {
				cancel()
				for ; done < started; done++ {
					if late := <-results; late.err == nil {
						_ = late.conn.Close()
					}
				}
				return r.conn, nil
			}
			failure.cause = errors.Join(failure.cause, r.err)
			if started < len(d.Addresses) && ctx.Err() == nil {
				start()
			}
		}
	}
	return nil, failure
}

// judgedDialer is the second line: whatever asks it, a socket is only ever
// connected to an address and the port that were judged, and no query is sent.
func judgedDialer(d netguard.Decision) *net.Dialer {
	return &net.Dialer{
		Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &httpError{Reason: httpNoDecision}
		}},
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || to.Port() != d.Port || !slices.Contains(d.Addresses, to.Addr().Unmap()) {
				return &httpError{Reason: httpNoDecision}
			}
			return nil
		},
	}
}
