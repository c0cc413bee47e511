package runtime

import (
	"context"
	"io"
	"net/http"

	"github.com/evolve-mcp/evolve/internal/netguard"
)

const (
	// maxDrain is how much of a redirect's body is read, in bytes, as in net/http.
	maxDrain = 2 << 10
	// listenMethod is the request whose answer is a stream that stays open
	// (protocol 2026-07-28).
	listenMethod = "subscriptions/listen"
)

// exchange is one request on its way through redirects.
type exchange struct {
	target   netguard.Target
	decision netguard.Decision
	method   string
	header   http.Header
	body     io.ReadCloser // nil for none
	replay   func() (io.ReadCloser, error)
	length   int64
	hops     int
	limits   eventLimits // of a stream that answers
}

// RoundTrip decides, sends, and follows redirects. The error is a *httpError.
func (g *httpGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	resp, err := g.roundTrip(ctx, req)
	if err != nil {
		return nil, record(ctx, err)
	}
	return resp, nil
}

func (g *httpGuard) roundTrip(ctx context.Context, req *http.Request) (*http.Response, error) {
	x, err := g.begin(ctx, req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	for {
		resp, pin, err := g.send(ctx, x)
		if err != nil {
			return nil, err
		}
		location := resp.Header.Get("Location")
		if !isRedirect(resp.StatusCode) || location == "" {
			return finish(ctx, x, resp, pin)
		}
		// Reading a little lets the connection be used again.
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
		_ = resp.Body.Close()
		pin.release()
		if err := g.follow(ctx, x, resp.StatusCode, location); err != nil {
			return nil, err
		}
	}
}

// begin reads the URL of the request and decides on it.
func (g *httpGuard) begin(ctx context.Context, req *http.Request) (*exchange, error) {
	target, reason := netguard.ReadParsed(req.URL)
	if reason != netguard.Allowed {
		d := netguard.Decision{Reason: reason, Class: netguard.Class(reason)}
		g.emit(ctx, d)
		return nil, refusal(d)
	}
	d := g.policy.DecideTarget(ctx, target)
	g.emit(ctx, d)
	if !d.Allowed {
		g.pins.forget(target.Origin())
		return nil, refusal(d)
	}
	x := &exchange{target: target, decision: d, method: req.Method, length: req.ContentLength, limits: streamLimits(req)}
	if req.Body != nil && req.Body != http.NoBody {
		x.body, x.replay = req.Body, req.GetBody
	}
	// Another origin is one that the caller asked for itself, such as an
	// authorization server: its own headers stand, the declared ones stay here.
	if target.Origin() == g.target.Origin() {
		x.header = g.ownHeaders(req.Header)
	} else {
		x.header = baseHeaders(req.Header)
	}
	return x, nil
}

// streamLimits tells a request that listens from one that waits for its answer:
// a GET that resumes nothing, or the method that replaced it.
func streamLimits(req *http.Request) eventLimits {
	if req.Method == http.MethodGet && req.Header.Get("Last-Event-Id") == "" ||
		req.Header.Get("Mcp-Method") == listenMethod {
		return listenLimits()
	}
	return callLimits()
}

// send makes one request to an address that was judged. The caller closes the
// body and releases the pin.
func (g *httpGuard) send(ctx context.Context, x *exchange) (*http.Response, *pin, error) {
	origin := x.target.Origin()
	pin, err := g.pins.acquire(x.target, x.decision)
	if err != nil {
		if x.body != nil {
			_ = x.body.Close()
		}
		return nil, nil, failed(ctx, origin, err)
	}
	req := &http.Request{
		Method: x.method, URL: x.target.URL(), Header: x.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if x.body != nil {
		req.Body, req.GetBody, req.ContentLength = x.body, x.replay, x.length
	}
	resp, err := pin.transport.RoundTrip(req.WithContext(withDecision(ctx, x.decision)))
	if err != nil {
		pin.release()
		return nil, nil, failed(ctx, origin, err)
	}
	return resp, pin, nil
}

// finish caps the body of the response that the caller gets.
func finish(ctx context.Context, x *exchange, resp *http.Response, pin *pin) (*http.Response, error) {
	body, err := limitBody(ctx, x.target.Origin(), resp, x.limits)
	if err != nil {
		_ = resp.Body.Close()
		pin.release()
		return nil, err
	}
	body.onClose = pin.release
	resp.Body = body
	return resp, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow decides on a redirect and turns x into the next request. What was
// dropped on the way to another origin stays dropped, also on the way back.
func (g *httpGuard) follow(ctx context.Context, x *exchange, status int, location string) error {
	x.hops++
	hasBody := x.body != nil
	next, d := g.policy.Redirect(ctx, netguard.Hop{From: x.target, Location: location, Number: x.hops, HasBody: hasBody})
	g.emit(ctx, d)
	if !d.Allowed {
		g.pins.forget(d.Origin)
		return refusal(d)
	}
	if next.Origin() != x.target.Origin() {
		x.header = g.foreignHeaders(x.header)
	}
	x.target, x.decision = next, d

	keepsMethod := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	switch {
	case !keepsMethod && x.method != http.MethodGet && x.method != http.MethodHead:
		x.method, x.body, x.replay = http.MethodGet, nil, nil
		x.header = withoutBody(x.header)
	case hasBody && x.replay == nil:
		return &httpError{Reason: httpRedirectNoReplay, Origin: next.Origin()}
	case hasBody:
		body, err := x.replay()
		if err != nil {
			return &httpError{Reason: httpRedirectNoReplay, Origin: next.Origin(), cause: err}
		}
		x.body = body
	}
	return nil
}
