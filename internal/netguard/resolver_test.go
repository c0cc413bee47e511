package netguard

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer is a name server on loopback that records its questions.
type dnsServer struct {
	conn    net.PacketConn
	answers map[string]dnsAnswer // by "TYPE name."

	mu    sync.Mutex
	asked []string
}

type dnsAnswer struct {
	code  dnsmessage.RCode
	addrs []string
}

func startDNS(t *testing.T, answers map[string]dnsAnswer) *dnsServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{conn: conn, answers: answers}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve()
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

func (s *dnsServer) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		key := q.Type.String()[len("Type"):] + " " + q.Name.String()
		s.mu.Lock()
		s.asked = append(s.asked, key)
		s.mu.Unlock()
		answer, ok := s.answers[key]
		if !ok {
			answer.code = dnsmessage.RCodeNameError
		}
		m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true, RCode: answer.code}
		m.Additionals = nil
		for _, text := range answer.addrs {
			addr := netip.MustParseAddr(text)
			var body dnsmessage.ResourceBody = &dnsmessage.AAAAResource{AAAA: addr.As16()}
			if addr.Is4() {
				body = &dnsmessage.AResource{A: addr.As4()}
			}
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1}, Body: body})
		}
		if out, err := m.Pack(); err == nil {
			_, _ = s.conn.WriteTo(out, from)
		}
	}
}

func (s *dnsServer) resolver() Resolver {
	return goResolver{&net.Resolver{PreferGo: true, StrictErrors: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "udp", s.conn.LocalAddr().String())
		}}}
}

// TestResolver resolves over a real socket. One failed half of the question
// fails the whole, except where there is simply no such record.
func TestResolver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers map[string]dnsAnswer
		want    []string
		reason  Reason
	}{
		{"both kinds", map[string]dnsAnswer{"A x.test.": {addrs: []string{"192.0.2.1", "192.0.2.2"}}, "AAAA x.test.": {addrs: []string{"2001:db8::1"}}},
			[]string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, Allowed},
		{"IPv4 alone", map[string]dnsAnswer{"A x.test.": {addrs: []string{"192.0.2.1"}}, "AAAA x.test.": {}}, []string{"192.0.2.1"}, Allowed},
		{"IPv6 alone", map[string]dnsAnswer{"A x.test.": {}, "AAAA x.test.": {addrs: []string{"2001:db8::1"}}}, []string{"2001:db8::1"}, Allowed},
		{"IPv4 in an IPv6 record", map[string]dnsAnswer{"A x.test.": {}, "AAAA x.test.": {addrs: []string{"::ffff:192.0.2.1"}}}, nil, DNSFailure},
		{"IPv6 fails", map[string]dnsAnswer{"A x.test.": {addrs: []string{"192.0.2.1"}}, "AAAA x.test.": {code: dnsmessage.RCodeServerFailure}}, nil, DNSFailure},
		{"IPv4 fails", map[string]dnsAnswer{"A x.test.": {code: dnsmessage.RCodeRefused}, "AAAA x.test.": {addrs: []string{"2001:db8::1"}}}, nil, DNSFailure},
		{"no such name", nil, nil, DNSFailure},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := startDNS(t, c.answers)
			p := &Policy{Resolver: server.resolver()}
			addrs, reason := p.resolve(t.Context(), "x.test")
			if reason != c.reason {
				t.Fatalf("reason %s, want %s", reason, c.reason)
			}
			var got []string
			for _, a := range addrs {
				got = append(got, a.Unmap().String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("addresses %q, want %q", got, c.want)
			}
			server.mu.Lock()
			defer server.mu.Unlock()
			for _, key := range server.asked {
				if key != "A x.test." && key != "AAAA x.test." {
					t.Errorf("asked %q: the name is not absolute", key)
				}
			}
		})
	}
}

func TestResolverObeysTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := (&Policy{}).Decide(ctx, "https://docs.example.test/")
	if d.Allowed || d.Reason != DNSFailure {
		t.Errorf("%v %s", d.Allowed, d.Reason)
	}
}

// TestAnswersInAnyOrder: neither the verdict nor what is recorded depends on
// the order of DNS answers.
func TestAnswersInAnyOrder(t *testing.T) {
	t.Parallel()
	answers := []string{"8.8.8.8", "10.0.0.1", "192.0.2.1", "169.254.169.254", "2606:4700::1"}
	var first Decision
	for i := range answers {
		turned := append(slices.Clone(answers[i:]), answers[:i]...)
		p := &Policy{Resolver: &fakeDNS{answers: map[string][]string{"x.example": turned}}}
		d := p.Decide(t.Context(), "https://x.example/")
		if i == 0 {
			first = d
		}
		if d.Allowed || d.Reason != MetadataAddress || d.Class != metadata {
			t.Errorf("%v: %s %s", turned, d.Reason, d.Class)
		}
		if !slices.Equal(d.Audit().ResolvedAddresses, first.Audit().ResolvedAddresses) {
			t.Errorf("%v: recorded %v", turned, d.Audit().ResolvedAddresses)
		}
	}
}

// anyName answers every name alike.
type anyName []string

func (a anyName) LookupHost(context.Context, string) ([]string, error) { return a, nil }

func TestTooManyAnswersAreRefused(t *testing.T) {
	t.Parallel()
	answers := anyName(slices.Repeat([]string{"8.8.8.8"}, maxAnswers))
	if d := (&Policy{Resolver: answers}).Decide(t.Context(), "https://docs.example/"); !d.Allowed {
		t.Errorf("%d answers: %s", len(answers), d.Reason)
	}
	answers = append(answers, "8.8.8.8")
	if d := (&Policy{Resolver: answers}).Decide(t.Context(), "https://docs.example/"); d.Reason != DNSFailure {
		t.Errorf("%d answers: %s", len(answers), d.Reason)
	}
}
