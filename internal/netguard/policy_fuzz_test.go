package netguard

import (
	"encoding/json"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzURLPolicy decides on a URL, then on a redirect from it, with any answers
// of a resolver. What is allowed must be public by net's own words and have the
// address that a plain dialer would read; what is shown must be an origin.
func FuzzURLPolicy(f *testing.F) {
	for _, c := range loadCases(f) {
		location := "/"
		if len(c.Redirects) > 0 {
			location = c.Redirects[0]
		}
		answers := ""
		for _, some := range c.DNS {
			answers = strings.Join(some, ",")
		}
		f.Add(c.URL, location, answers, false)
	}
	f.Add("https://docs.example/hunter2?hunter2#hunter2", "//user:hunter2@[64:ff9b::a9fe:a9fe]/", "8.8.8.8,10.0.0.1", true)
	f.Fuzz(func(t *testing.T, raw, location, answers string, body bool) {
		dns := anyName(strings.Split(answers, ","))
		p := &Policy{Resolver: dns}
		first := p.Decide(t.Context(), raw)
		checkDecision(t, raw, first)
		from, reason := Read(raw)
		if (reason == Allowed) != (first.Origin != "") {
			t.Fatalf("%q: read %q, decided on %q", raw, from, first.Origin)
		}
		if !first.Allowed {
			return
		}
		next, d := p.Redirect(t.Context(), Hop{From: from, Location: location, Number: 1, HasBody: body})
		checkDecision(t, location, d)
		if d.Allowed != (next.Origin() != "") || d.Allowed && next.Origin() != d.Origin {
			t.Fatalf("%q -> %q: decided on %q, leads to %q", raw, location, d.Origin, next)
		}
		if d.Allowed && (from.Scheme == "https" && next.Scheme == "http" || body && from.Origin() != next.Origin()) {
			t.Fatalf("%q -> %q: allowed, body %v", raw, location, body)
		}
		// A host that trusts a network opens nothing but addresses in it.
		trusting := &Policy{Resolver: dns, TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
		for _, addr := range trusting.Decide(t.Context(), raw).Addresses {
			if _, reason := trusting.judge(addr); reason == Allowed && !trusting.trusts(addr) && !public(addr) {
				t.Fatalf("%s is allowed by a trust in another network", addr)
			}
		}
	})
}

func checkDecision(t *testing.T, raw string, d Decision) {
	t.Helper()
	if d.Allowed != (d.Reason == Allowed) || d.Allowed && len(d.Addresses) == 0 {
		t.Fatalf("%q: %+v", raw, d)
	}
	for i, addr := range d.Addresses {
		if d.Allowed && !public(addr) || addr.Is4In6() || slices.Contains(d.Addresses[:i], addr) {
			t.Fatalf("%q: allowed %v at %v", raw, d.Allowed, d.Addresses)
		}
	}
	if d.Origin != "" {
		u, err := url.Parse(d.Origin)
		if err != nil || u.Scheme+"://"+u.Host != d.Origin || u.Hostname() != d.CanonicalHost || u.User != nil {
			t.Fatalf("%q: shown as %q, host %q", raw, d.Origin, d.CanonicalHost)
		}
	}
	// A literal is dialled as net reads it: never by a name.
	if addr, err := netip.ParseAddr(d.CanonicalHost); err == nil && len(d.Addresses) > 0 && d.Addresses[0] != addr.Unmap() {
		t.Fatalf("%q: host %s, addresses %v", raw, d.CanonicalHost, d.Addresses)
	}
	shown, err := json.Marshal(d.Audit())
	if err != nil || d.Origin == "" && strings.Contains(string(shown), "://") {
		t.Fatalf("%q: shown as %s", raw, shown)
	}
}

// public says what the standard library knows of an address: a plain second
// opinion, which allows more than the table.
func public(addr netip.Addr) bool {
	ip := net.IP(addr.AsSlice())
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() &&
		!ip.IsMulticast() && !ip.IsUnspecified() && addr.Zone() == ""
}
