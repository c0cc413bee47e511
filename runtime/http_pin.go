package runtime

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evolve-mcp/evolve/internal/netguard"
)

// Limits of a connection. A call has its own deadline; these bound what goes on
// after it, since net/http finishes a dial that nobody waits for.
const (
	tlsHandshakeTimeout = 10 * time.Second // net/http's own default
	idleConnTimeout     = 90 * time.Second // net/http's own default
	maxResponseHeaders  = 1 << 20          // bytes
)

// pinPool holds the transports of one guard, each pinned to the addresses of
// one decision. A pooled connection outlives the decision it was dialled under,
// so a transport is used only while decisions name the same scheme, host, port
// and addresses; on a change its connections are closed.
type pinPool struct {
	origin  string // of the declaration; its transport is kept between requests
	rootCAs *x509.CertPool
	dialing context.Context // ended by close
	cancel  context.CancelFunc

	mu      sync.Mutex
	current *pin // of origin, or nil
	live    map[*pin]bool
	closed  bool
}

// pin is a transport that reaches the addresses of one decision only.
type pin struct {
	pool      *pinPool
	key       string
	transport *http.Transport

	// Guarded by pool.mu.
	inUse   int  // requests whose body is not closed
	retired bool // to be closed when inUse is 0
	dead    bool
	conns   map[*pinConn]bool
}

func newPinPool(origin string, rootCAs *x509.CertPool) *pinPool {
	ctx, cancel := context.WithCancel(context.Background())
	return &pinPool{origin: origin, rootCAs: rootCAs, dialing: ctx, cancel: cancel, live: map[*pin]bool{}}
}

// pinKey is scheme, host, port and sorted addresses.
func pinKey(d netguard.Decision) string {
	sorted := slices.Clone(d.Addresses)
	slices.SortFunc(sorted, netip.Addr.Compare)
	parts := []string{d.Origin, strconv.Itoa(int(d.Port))}
	for _, addr := range sorted {
		parts = append(parts, addr.String())
	}
	return strings.Join(parts, " ")
}

// acquire returns the transport for a decision. Every successful acquire is
// followed by one release.
func (p *pinPool) acquire(t netguard.Target, d netguard.Decision) (*pin, error) {
	key := pinKey(d)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, &httpError{Reason: httpConnectionsClosed}
	}
	var stale []*pinConn
	use := p.current
	if t.Origin() != p.origin {
		// Where a redirect leads: never kept, or a server could fill the pool.
		use = p.add(key)
		use.retired = true
	} else if use == nil || use.key != key {
		if use != nil {
			stale = use.retire()
		}
		use = p.add(key)
		p.current = use
	}
	use.inUse++
	p.mu.Unlock()
	closeConns(stale)
	return use, nil
}

// forget retires the transport of an origin that is no longer allowed.
func (p *pinPool) forget(origin string) {
	p.mu.Lock()
	var stale []*pinConn
	if p.current != nil && origin == p.origin {
		stale = p.current.retire()
		p.current = nil
	}
	p.mu.Unlock()
	closeConns(stale)
}

func (p *pinPool) close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	p.current = nil
	var conns []*pinConn
	for pin := range p.live {
		conns = append(conns, pin.kill()...)
	}
	p.mu.Unlock()
	closeConns(conns)
}

// add makes a pin; p.mu is held.
func (p *pinPool) add(key string) *pin {
	n := &pin{pool: p, key: key, conns: map[*pinConn]bool{}}
	n.transport = &http.Transport{
		Proxy:                  nil, // never the environment's
		DialContext:            n.dial,
		ForceAttemptHTTP2:      true, // a dialer of one's own turns it off
		DisableCompression:     true, // limitBody decompresses, with a cap
		TLSClientConfig:        &tls.Config{RootCAs: p.rootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsHandshakeTimeout,
		IdleConnTimeout:        idleConnTimeout,
		MaxIdleConnsPerHost:    4, // discovery, calls and a listening stream
		MaxResponseHeaderBytes: maxResponseHeaders,
	}
	p.live[n] = true
	return n
}

// release ends one use.
func (n *pin) release() {
	n.pool.mu.Lock()
	n.inUse--
	var conns []*pinConn
	if n.inUse == 0 && n.retired {
		conns = n.kill()
	}
	n.pool.mu.Unlock()
	closeConns(conns)
}

// retire closes the pin as soon as nothing uses it, and returns the connections
// to close now; the pool's lock is held.
func (n *pin) retire() []*pinConn {
	n.retired = true
	if n.inUse > 0 {
		return nil
	}
	return n.kill()
}

// kill refuses new connections and returns those there are; the pool's lock is
// held. Closing them also ends HTTP/2 connections, which CloseIdleConnections
// leaves open while a stream ends.
func (n *pin) kill() []*pinConn {
	n.dead = true
	delete(n.pool.live, n)
	conns := make([]*pinConn, 0, len(n.conns))
	for c := range n.conns {
		conns = append(conns, c)
	}
	return conns
}

// pinConn takes itself off its pin's list when it is closed.
type pinConn struct {
	net.Conn
	pin *pin
}

func (c *pinConn) Close() error {
	c.pin.pool.mu.Lock()
	delete(c.pin.conns, c)
	c.pin.pool.mu.Unlock()
	return c.Conn.Close()
}

// closeConns closes connections; the pool's lock is not held.
func closeConns(conns []*pinConn) {
	for _, c := range conns {
		_ = c.Close()
		c.pin.transport.CloseIdleConnections()
	}
}
