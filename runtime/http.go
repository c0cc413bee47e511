package runtime

import (
	"context"
	"crypto/x509"
	"net/http"
	"sync"

	"github.com/evolve-mcp/evolve/internal/netguard"
)

// urlPolicy is what the guard asks before it sends anything: *netguard.Policy.
type urlPolicy interface {
	DecideTarget(ctx context.Context, t netguard.Target) netguard.Decision
	Redirect(ctx context.Context, hop netguard.Hop) (netguard.Target, netguard.Decision)
}

// urlPhase says when a decision on a URL was made.
type urlPhase string

// phaseRequest: for a request or a redirect hop, before dialling.
const phaseRequest urlPhase = "request"

// httpConfig describes the one server that a guard talks to.
type httpConfig struct {
	// URL is the declaration's url.
	URL string
	// Headers are the declaration's headers, with references resolved. They
	// are added to requests to the URL's own origin only, so a request that
	// the protocol library builds without them (DELETE on close) has them too.
	Headers []httpHeader
	// Policy decides on every request and every redirect hop; nil allows
	// public addresses only.
	Policy urlPolicy
	// OnDecision, if set, receives every decision in order, before dialling
	// and for refusals. It must not block.
	OnDecision func(ctx context.Context, d netguard.Decision, phase urlPhase)
	// RootCAs verify servers; nil means the system's.
	RootCAs *x509.CertPool
}

// httpGuard is the http.RoundTripper behind every HTTP connection to a server.
// It asks the policy for each request and each redirect hop, dials only
// addresses that were judged, adds the declared headers, and caps what comes
// back. Close it when the connection ends.
type httpGuard struct {
	policy     urlPolicy
	onDecision func(context.Context, netguard.Decision, urlPhase)
	target     netguard.Target
	declared   http.Header
	pins       *pinPool
	closeOnce  sync.Once
}

// newHTTPGuard reads the URL and the headers. It sends nothing and resolves
// nothing. The error is a *httpError or a *httpHeaderError.
func newHTTPGuard(cfg httpConfig) (*httpGuard, error) {
	target, reason := netguard.Read(cfg.URL)
	if reason != netguard.Allowed {
		return nil, refusal(netguard.Decision{Reason: reason})
	}
	declared, err := declaredHeaders(cfg.Headers, target.User())
	if err != nil {
		return nil, err
	}
	policy := cfg.Policy
	if policy == nil {
		policy = &netguard.Policy{}
	}
	return &httpGuard{
		policy:     policy,
		onDecision: cfg.OnDecision,
		target:     target,
		declared:   declared,
		pins:       newPinPool(target.Origin(), cfg.RootCAs),
	}, nil
}

// URL returns the URL to give to the protocol library: canonical, without
// userinfo (which is sent as a header) and without fragment. It still holds
// path and query, so it must not be shown.
func (g *httpGuard) URL() string { return g.target.URL().String() }

// Client returns a client that goes through the guard. Its errors wrap a
// *httpError in a *url.Error, which quotes the URL: show only what
// httpErrorOf finds in them.
func (g *httpGuard) Client() *http.Client {
	return &http.Client{
		Transport: g,
		// The guard follows redirects itself: it must judge them first.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close ends every connection, also those in use and those being dialled.
// Requests after it fail. It may be called more than once.
func (g *httpGuard) Close() { g.closeOnce.Do(g.pins.close) }

func (g *httpGuard) emit(ctx context.Context, d netguard.Decision) {
	if g.onDecision != nil {
		g.onDecision(ctx, d, phaseRequest)
	}
}
