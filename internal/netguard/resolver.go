package netguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
)

// maxAnswers bounds the addresses of one name: all are judged, recorded and
// possibly dialled. The largest round-robin names in use have a few dozen.
const maxAnswers = 256

// Resolver looks up all addresses of a name.
type Resolver interface {
	// LookupHost returns the addresses of a canonical name as text, IPv4 and
	// IPv6. An empty answer means that the name has no address. Any query that
	// failed must fail the whole lookup.
	LookupHost(ctx context.Context, name string) ([]string, error)
}

// SystemResolver resolves as the system is configured (hosts file, resolver
// configuration), in Go: C libraries read some names as addresses.
var SystemResolver Resolver = goResolver{&net.Resolver{PreferGo: true, StrictErrors: true}}

type goResolver struct{ r *net.Resolver }

// LookupHost queries A and AAAA. Only "no such record" may be missing from one
// of them. A name with a dot is absolute: search domains are not applied.
func (g goResolver) LookupHost(ctx context.Context, name string) ([]string, error) {
	if strings.Contains(name, ".") {
		name += "."
	}
	type answer struct {
		addrs []netip.Addr
		err   error
	}
	lookup := func(network string) answer {
		addrs, err := g.r.LookupNetIP(ctx, network, name)
		return answer{addrs, err}
	}
	six := make(chan answer, 1)
	go func() { six <- lookup("ip6") }()
	answers := [2]answer{lookup("ip4"), <-six}

	var out []string
	var missing error
	for _, a := range answers {
		var dns *net.DNSError
		switch {
		case a.err == nil:
		case errors.As(a.err, &dns) && dns.IsNotFound && !dns.IsTimeout && !dns.IsTemporary:
			missing = a.err
		default:
			return nil, a.err
		}
		for _, addr := range a.addrs {
			out = append(out, addr.Unmap().String())
		}
	}
	if len(out) == 0 {
		return nil, missing // both are missing: no such name, as far as net can tell
	}
	return out, nil
}

// resolve returns every address of name, or why there is none.
func (p *Policy) resolve(ctx context.Context, name string) ([]netip.Addr, Reason) {
	r := p.Resolver
	if r == nil {
		r = SystemResolver
	}
	answers, err := r.LookupHost(ctx, name)
	if err != nil || len(answers) > maxAnswers {
		return nil, DNSFailure
	}
	if len(answers) == 0 {
		return nil, DNSNoAddresses
	}
	addrs := make([]netip.Addr, 0, len(answers))
	for _, text := range answers {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return nil, DNSInvalidAddress
		}
		addrs = append(addrs, addr)
	}
	return addrs, Allowed
}
