package netguard

import "testing"

func TestRedirectRules(t *testing.T) {
	t.Parallel()
	public := []string{"93.184.216.34"}
	for _, c := range []struct {
		name, from, location string
		hop                  int
		body                 bool
		want                 Reason
		asked                int
	}{
		{"a body may move within an origin", "https://a.example/x", "/y", 1, true, Allowed, 1},
		{"and to the same origin written otherwise", "https://a.example/x", "https://A.example.:443/y", 1, true, Allowed, 1},
		{"but not to another host", "https://a.example/x", "https://b.example/", 1, true, CrossOriginBody, 1},
		{"nor to another port", "https://a.example/x", "https://a.example:8443/", 1, true, CrossOriginBody, 1},
		{"nor to another scheme", "http://a.example/x", "https://a.example/", 1, true, CrossOriginBody, 1},
		{"without a body it may", "https://a.example/x", "https://b.example/", 1, false, Allowed, 1},
		{"never down to http", "https://a.example/x", "http://a.example/", 1, false, SchemeDowngrade, 1},
		{"ten hops", "https://a.example/x", "/y", MaxRedirects, false, Allowed, 1},
		{"and not eleven", "https://a.example/x", "/y", MaxRedirects + 1, false, TooManyRedirects, 1},
		{"an address outweighs the rules", "https://a.example/x", "http://10.0.0.1/", 11, true, PrivateAddress, 0},
		{"a target that cannot be read", "https://a.example/x", "https://b.example:0/", 1, false, InvalidURL, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dns := &fakeDNS{answers: map[string][]string{"a.example": public, "b.example": public}}
			p := &Policy{Resolver: dns}
			from, _ := Read(c.from)
			next, d := p.Redirect(t.Context(), Hop{From: from, Location: c.location, Number: c.hop, HasBody: c.body})
			if d.Reason != c.want || d.Allowed != (c.want == Allowed) {
				t.Errorf("%v %s, want %s", d.Allowed, d.Reason, c.want)
			}
			if (next.Origin() != "") != d.Allowed {
				t.Errorf("target %q with allowed %v", next, d.Allowed)
			}
			if len(dns.asked) != c.asked {
				t.Errorf("asked %q", dns.asked)
			}
			if c.asked > 0 && len(d.Audit().ResolvedAddresses) == 0 {
				t.Error("a refusal by rule does not record the judged addresses")
			}
		})
	}
}
