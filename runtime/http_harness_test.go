package runtime

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/netguard"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// names answers DNS queries in tests; it can be changed between requests.
type names struct {
	mu      sync.Mutex
	answers map[string][]string
}

func (n *names) set(name string, answers ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[string][]string{}
	}
	n.answers[name] = answers
}

func (n *names) LookupHost(_ context.Context, name string) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, ok := n.answers[name]
	if !ok {
		return nil, errors.New("no such name")
	}
	return answers, nil
}

// loopbackPolicy trusts 127.0.0.0/8, where every server of these tests is.
func loopbackPolicy(n *names) *netguard.Policy {
	return &netguard.Policy{TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Resolver: n}
}

// decisions records what a guard emits, as "allowed origin" or "reason origin".
type decisions struct {
	mu   sync.Mutex
	list []string
}

func (r *decisions) add(_ context.Context, d netguard.Decision, phase urlPhase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, string(phase)+" "+string(d.Reason)+" "+d.Origin)
}

func (r *decisions) want(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.list, want) {
		t.Errorf("decisions\n\t%s\nwant\n\t%s", strings.Join(r.list, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// seen records the requests that reached a server.
type seen struct {
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func (s *seen) note(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	s.bodies = append(s.bodies, string(body))
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *seen) only(t *testing.T) *http.Request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) != 1 {
		t.Fatalf("%d requests arrived, want 1", len(s.requests))
	}
	return s.requests[0]
}

// guardOf makes a guard that the test closes.
func guardOf(t *testing.T, cfg httpConfig) *httpGuard {
	t.Helper()
	g, err := newHTTPGuard(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Close()
		g.pins.mu.Lock()
		defer g.pins.mu.Unlock()
		if len(g.pins.live) != 0 {
			t.Errorf("%d transports are left after Close", len(g.pins.live))
		}
	})
	return g
}

// header makes a declared header.
func header(name, value string) httpHeader {
	return httpHeader{Name: redact.NewRaw(name), Value: redact.NewRaw(value)}
}

// serve starts a server on loopback.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// named returns the server's URL under a name.
func named(t *testing.T, s *httptest.Server, host string) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	// As text: net/url would escape a name that is not ASCII.
	return u.Scheme + "://" + net.JoinHostPort(host, u.Port())
}

// do makes a request with a body unless body is empty.
func do(t *testing.T, g *httpGuard, method, rawURL, body string) (*http.Response, error) {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, rawURL, r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", "the-session")
	req.Header.Set("Referer", "https://secret.example/")
	return g.Client().Do(req)
}

// get makes a request and returns the body.
func get(t *testing.T, g *httpGuard, rawURL string) string {
	t.Helper()
	resp, err := do(t, g, http.MethodGet, rawURL, "")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// wantFailure checks the reason, and that the text is made of origin and reason.
func wantFailure(t *testing.T, err error, reason string) {
	t.Helper()
	own := httpErrorOf(err)
	if own == nil {
		t.Fatalf("error %v is not the guard's, want %s", err, reason)
	}
	if string(own.Reason) != reason {
		t.Errorf("reason %s, want %s (cause: %v)", own.Reason, reason, own.cause)
	}
	verb := "failed"
	if own.Refused {
		verb = "refused"
	}
	want := "request to " + own.Origin + " " + verb + ": " + reason
	if own.Origin == "" {
		want = "request " + verb + ": " + reason
	}
	if own.Error() != want {
		t.Errorf("text %q, want %q", own.Error(), want)
	}
}

// authority is a certificate authority of one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert, key, pool}
}

// issue makes a server certificate for names.
func (a *authority) issue(t *testing.T, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveTLS starts a TLS server on loopback, with HTTP/2.
func (a *authority) serveTLS(t *testing.T, handler http.HandlerFunc, names ...string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.issue(t, names...)}}
	s.Config.ErrorLog = quietLog
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}
