package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evolve-mcp/evolve/internal/netguard"
	"go.uber.org/goleak"
)

var quietLog = log.New(io.Discard, "", 0)

// The connection goes to the judged address; Host, SNI and the certificate's
// name are the URL's own.
func TestHTTPGuardPinsAndKeepsTheName(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	var got seen
	server := ca.serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		_, _ = io.WriteString(w, "hello")
	}, "docs.test", "xn--bcher-kva.test")
	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	dns.set("xn--bcher-kva.test", "127.0.0.1")
	dns.set("other.test", "127.0.0.1")

	for _, host := range []string{"docs.test", "bücher.test"} {
		got = seen{}
		raw := named(t, server, host)
		g := guardOf(t, httpConfig{URL: raw + "/mcp?q=1", Policy: loopbackPolicy(dns), RootCAs: ca.pool})
		if body := get(t, g, g.URL()); body != "hello" {
			t.Errorf("body %q", body)
		}
		r := got.only(t)
		ascii := strings.Replace(host, "bücher", "xn--bcher-kva", 1)
		if r.TLS.ServerName != ascii || !strings.HasPrefix(r.Host, ascii+":") {
			t.Errorf("%s: server name %q, host %q", host, r.TLS.ServerName, r.Host)
		}
		if r.ProtoMajor != 2 {
			t.Errorf("%s: spoke %s", host, r.Proto)
		}
		if r.RequestURI != "/mcp?q=1" {
			t.Errorf("%s: asked for %s", host, r.RequestURI)
		}
	}

	g := guardOf(t, httpConfig{URL: named(t, server, "other.test"), Policy: loopbackPolicy(dns), RootCAs: ca.pool})
	_, err := do(t, g, http.MethodGet, g.URL(), "")
	wantFailure(t, err, "tls_failed")
	g = guardOf(t, httpConfig{URL: named(t, server, "docs.test"), Policy: loopbackPolicy(dns)})
	_, err = do(t, g, http.MethodGet, g.URL(), "")
	wantFailure(t, err, "tls_failed")
}

// Every request is decided again: a name that moves to a refused address is
// refused although a connection to its old address is still open.
func TestHTTPGuardDecidesEveryRequest(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "one")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	var made decisions
	g := guardOf(t, httpConfig{URL: named(t, server, "docs.test"), Policy: loopbackPolicy(dns), OnDecision: made.add})

	get(t, g, g.URL())
	get(t, g, g.URL())
	if n := opened.Load(); n != 1 {
		t.Fatalf("%d connections for two requests, want one that is kept", n)
	}
	dns.set("docs.test", "169.254.169.254")
	_, err := do(t, g, http.MethodGet, g.URL(), "")
	wantFailure(t, err, "metadata_address")
	dns.set("docs.test", "127.0.0.1", "10.0.0.1")
	_, err = do(t, g, http.MethodGet, g.URL(), "")
	wantFailure(t, err, "private_address")

	// Once refused, the old connection is gone, and an allowed answer dials anew.
	dns.set("docs.test", "127.0.0.1")
	get(t, g, g.URL())
	if n := opened.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	origin := named(t, server, "docs.test")
	made.want(t, "request allowed "+origin, "request allowed "+origin, "request metadata_address "+origin,
		"request private_address "+origin, "request allowed "+origin)
}

// net/http reads hosts in its own way; what it gets is canonical, and the
// decision is recorded before anything arrives.
func TestHTTPGuardSendsTheCanonicalHost(t *testing.T) {
	t.Parallel()
	var made decisions
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		made.mu.Lock()
		defer made.mu.Unlock()
		_, _ = fmt.Fprint(w, r.Host, " after ", len(made.list))
	})
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	for _, c := range []struct{ host, want string }{
		{"127.1", "127.0.0.1"},
		{"0x7f000001", "127.0.0.1"},
		{"0177.0.0.1", "127.0.0.1"},
		{"2130706433", "127.0.0.1"},
		{"\u2460\u2461\u2466.0.0.1", "127.0.0.1"}, // circled digits
		{"DOCS.test.", "docs.test"},
	} {
		made = decisions{}
		g := guardOf(t, httpConfig{URL: "http://" + c.host + ":" + port, Policy: loopbackPolicy(dns), OnDecision: made.add})
		want := c.want + ":" + port + " after 1"
		if body := get(t, g, "http://"+c.host+":"+port); body != want {
			t.Errorf("%s: %q, want %q", c.host, body, want)
		}
	}
}

// A name that changes its address between requests is followed, not pooled.
func TestHTTPGuardFollowsANameThatMoves(t *testing.T) {
	t.Parallel()
	answer := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	first := httptest.NewServer(answer("first"))
	t.Cleanup(first.Close)
	_, port, _ := net.SplitHostPort(first.Listener.Addr().String())
	listener, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Skip("this system has no second loopback address: ", err)
	}
	second := httptest.NewUnstartedServer(answer("second"))
	second.Listener.Close()
	second.Listener = listener
	second.Start()
	t.Cleanup(second.Close)

	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	g := guardOf(t, httpConfig{URL: named(t, first, "docs.test"), Policy: loopbackPolicy(dns)})
	if body := get(t, g, g.URL()); body != "first" {
		t.Errorf("body %q", body)
	}
	dns.set("docs.test", "127.0.0.2")
	if body := get(t, g, g.URL()); body != "second" {
		t.Errorf("body %q: a pooled connection outlived its decision", body)
	}
}

// switchable is a policy that the host replaces while connections are open.
type switchable struct {
	now atomic.Pointer[netguard.Policy]
}

func (s *switchable) DecideTarget(ctx context.Context, t netguard.Target) netguard.Decision {
	return s.now.Load().DecideTarget(ctx, t)
}

func (s *switchable) Redirect(ctx context.Context, hop netguard.Hop) (netguard.Target, netguard.Decision) {
	return s.now.Load().Redirect(ctx, hop)
}

func TestHTTPGuardObeysANewPolicy(t *testing.T) {
	t.Parallel()
	var got seen
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.note(r) })
	policy := &switchable{}
	policy.now.Store(loopbackPolicy(nil))
	g := guardOf(t, httpConfig{URL: server.URL, Policy: policy})
	get(t, g, g.URL())
	policy.now.Store(&netguard.Policy{})
	_, err := do(t, g, http.MethodPost, g.URL(), "secret")
	wantFailure(t, err, "private_address")
	got.only(t)
}

// Not parallel: it sets the environment.
func TestHTTPGuardIgnoresProxyVariables(t *testing.T) {
	var proxied seen
	proxy := serve(t, func(_ http.ResponseWriter, r *http.Request) { proxied.note(r) })
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "direct") })
	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	g := guardOf(t, httpConfig{URL: named(t, server, "docs.test"), Policy: loopbackPolicy(dns)})
	if body := get(t, g, g.URL()); body != "direct" || proxied.count() != 0 {
		t.Errorf("body %q, %d requests to the proxy", body, proxied.count())
	}
}

func TestHTTPGuardTriesEveryJudgedAddress(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })
	dns := &names{}
	dns.set("docs.test", "127.0.0.9", "127.0.0.1") // nothing listens on the first
	g := guardOf(t, httpConfig{URL: named(t, server, "docs.test"), Policy: loopbackPolicy(dns)})
	if body := get(t, g, g.URL()); body != "reached" {
		t.Errorf("body %q", body)
	}
	dns.set("docs.test", "127.0.0.9")
	_, err := do(t, g, http.MethodGet, g.URL(), "")
	wantFailure(t, err, "dial_failed")
}

// The dialer fails without a decision, and refuses an address that was not
// judged even when it is asked for directly.
func TestHTTPDialerNeedsADecision(t *testing.T) {
	t.Parallel()
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	to := netip.MustParseAddrPort(server.Listener.Addr().String())
	policy := loopbackPolicy(nil)
	target, _ := netguard.Read(server.URL)
	judged := policy.DecideTarget(t.Context(), target)

	pool := newPinPool(target.Origin(), nil)
	t.Cleanup(pool.close)
	pin, err := pool.acquire(target, judged)
	if err != nil {
		t.Fatal(err)
	}
	defer pin.release()

	_, err = pin.dial(t.Context(), "tcp", to.String())
	wantFailure(t, err, "no_decision")
	refused := judged
	refused.Allowed = false
	_, err = pin.dial(withDecision(t.Context(), refused), "tcp", to.String())
	wantFailure(t, err, "no_decision")
	other := judged
	other.Addresses = []netip.Addr{netip.MustParseAddr("127.0.0.2")}
	_, err = pin.dial(withDecision(t.Context(), other), "tcp", to.String())
	wantFailure(t, err, "no_decision")

	dialer := judgedDialer(judged)
	for _, address := range []string{"127.0.0.2:" + portOf(to), "127.0.0.1:1", "[::1]:" + portOf(to), "docs.test:80"} {
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
			t.Errorf("%s was dialled", address)
		} else if own := httpErrorOf(err); own == nil && address != "docs.test:80" {
			t.Errorf("%s: %v", address, err)
		}
	}
	conn, err := pin.dial(withDecision(t.Context(), judged), "tcp", "docs.test:80")
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.RemoteAddr().String(); got != to.String() {
		t.Errorf("connected to %s", got)
	}
}

func portOf(a netip.AddrPort) string {
	_, port, _ := net.SplitHostPort(a.String())
	return port
}

func TestHTTPGuardRefusesBeforeSending(t *testing.T) {
	t.Parallel()
	for raw, reason := range map[string]string{
		"ftp://docs.test/secret":         "unsupported_scheme",
		"https:///secret":                "missing_hostname",
		"https://docs.test:0/secret":     "invalid_url",
		"https://docs.test/secret\x00":   "invalid_url",
		"https://u:secret@docs%2etest/x": "invalid_url",
	} {
		_, err := newHTTPGuard(httpConfig{URL: raw})
		wantFailure(t, err, reason)
	}
	var made decisions
	g := guardOf(t, httpConfig{URL: "https://docs.test/", Policy: loopbackPolicy(&names{}), OnDecision: made.add})
	for raw, reason := range map[string]string{
		"https://docs.test/secret":                "dns_failure",
		"http://metadata.google.internal/secret":  "metadata_hostname",
		"http://10.0.0.1/secret":                  "private_address",
		"http://[64:ff9b::a9fe:a9fe]/secret":      "metadata_address",
		"http://0xa9fea9fe/secret":                "metadata_address",
		"ftp://docs.test/secret":                  "unsupported_scheme",
		"http://user:secret@192.0.2.1/?q=secret#": "non_routable_address",
	} {
		made = decisions{}
		_, err := do(t, g, http.MethodGet, raw, "")
		wantFailure(t, err, reason)
		if len(made.list) != 1 || strings.Contains(made.list[0], "secret") {
			t.Errorf("%s: recorded %q", raw, made.list)
		}
	}
}

func TestHTTPGuardTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	g := guardOf(t, httpConfig{URL: server.URL, Policy: loopbackPolicy(nil)})
	for reason, cause := range map[string]error{"canceled": context.Canceled, "timeout": context.DeadlineExceeded} {
		ctx, end := context.WithCancelCause(t.Context())
		if errors.Is(cause, context.DeadlineExceeded) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 1)
			defer cancel()
		} else {
			go func() { <-arrived; end(nil) }()
		}
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.URL(), nil)
		_, err := g.Client().Do(req)
		wantFailure(t, err, reason)
		if !errors.Is(err, cause) {
			t.Errorf("%v does not wrap %v", err, cause)
		}
		end(nil)
	}
}

// Close ends what is in use, and later requests fail. Not parallel: it looks
// for goroutines that are left.
func TestHTTPGuardCloseLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ca := newAuthority(t)
	stream := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/short" {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	plain := httptest.NewServer(http.HandlerFunc(stream))
	secure := ca.serveTLS(t, stream, "docs.test")
	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	for _, raw := range []string{plain.URL, named(t, secure, "docs.test")} {
		g, err := newHTTPGuard(httpConfig{URL: raw, Policy: loopbackPolicy(dns), RootCAs: ca.pool})
		if err != nil {
			t.Fatal(err)
		}
		get(t, g, raw+"/short")
		ctx, failure := withHTTPFailure(t.Context())
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
		resp, err := g.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		g.Close()
		g.Close()
		_, err = io.ReadAll(resp.Body)
		wantFailure(t, err, "connection_failed")
		if failure.Err() == nil || failure.Err().Reason != httpConnectionFailed {
			t.Errorf("recorded %v", failure.Err())
		}
		resp.Body.Close()
		_, err = do(t, g, http.MethodGet, raw, "")
		wantFailure(t, err, "closed")
		if len(g.pins.live) != 0 {
			t.Errorf("%d transports are left", len(g.pins.live))
		}
	}
	plain.Close()
	secure.Close()
	goleak.VerifyNone(t, before)
}
