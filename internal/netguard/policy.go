package netguard

import (
	"context"
	"net/netip"
	"slices"
	"strings"
)

// Policy is what a host allows. The zero Policy allows public addresses and
// resolves with the system's configuration. A Policy must not be changed while
// it is used.
type Policy struct {
	// TrustedNetworks are networks whose private, shared, loopback and
	// unique-local addresses may be reached. They open no other range,
	// whatever they contain. Write IPv4 networks as IPv4: an IPv4-mapped prefix
	// matches nothing.
	TrustedNetworks []netip.Prefix
	// NAT64 are the network's own translation prefixes (RFC 6052, lengths 32,
	// 40, 48, 56, 64 and 96). An address in one is refused unless the IPv4
	// address inside is public. They open nothing. A prefix of another length
	// refuses every address in it.
	NAT64 []netip.Prefix
	// Resolver resolves names; nil is SystemResolver.
	Resolver Resolver
}

// Decide reads rawURL, resolves its host once, and judges every answer. What
// cannot be read, resolved or judged is refused.
func (p *Policy) Decide(ctx context.Context, rawURL string) Decision {
	t, reason := Read(rawURL)
	if reason != Allowed {
		return refuse(Target{}, reason)
	}
	return p.DecideTarget(ctx, t)
}

// DecideTarget judges a URL that was read already.
func (p *Policy) DecideTarget(ctx context.Context, t Target) Decision {
	switch {
	case t.Host == "":
		return refuse(t, MissingHostname)
	case t.Addr.IsValid():
		return p.judgeAll(t, []netip.Addr{t.Addr})
	case slices.Contains(loadTables().names, t.Host):
		return refuse(t, MetadataHostname)
	case t.Host == "localhost" || strings.HasSuffix(t.Host, ".localhost"):
		return p.decideLocalhost(t)
	}
	addrs, reason := p.resolve(ctx, t.Host)
	if reason != Allowed {
		return refuse(t, reason)
	}
	return p.judgeAll(t, addrs)
}

// loopback is what localhost and the names below it mean (RFC 6761 6.3).
var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// decideLocalhost answers without DNS, which could say anything. Both addresses
// count, since a client could use either.
func (p *Policy) decideLocalhost(t Target) Decision {
	if !slices.ContainsFunc(loopback, p.trusts) {
		return refuse(t, PrivateHostname)
	}
	return p.judgeAll(t, loopback)
}

// judgeAll judges every address. One that is refused refuses the target; the
// gravest is reported, so that the order of answers changes nothing.
func (p *Policy) judgeAll(t Target, addrs []netip.Addr) Decision {
	d := Decision{Origin: t.Origin(), CanonicalHost: t.Host, Port: t.Port}
	for _, addr := range addrs {
		addr = addr.Unmap()
		if slices.Contains(d.Addresses, addr) {
			continue
		}
		d.Addresses = append(d.Addresses, addr)
		class, reason := p.judge(addr)
		if d.Reason == "" || graver(reason, class, d) {
			d.Class, d.Reason = class, reason
		}
	}
	if d.Reason == "" {
		return refuse(t, DNSNoAddresses)
	}
	d.Allowed = d.Reason == Allowed
	return d
}

// gravity orders the reasons that an address can have.
var gravity = map[Reason]int{Allowed: 0, PrivateAddress: 1, NonRoutableAddress: 2, MetadataAddress: 3, DNSInvalidAddress: 4}

// graver reports whether an address says more than what d holds so far: a worse
// reason, or another class than public for the same reason.
func graver(reason Reason, class Class, d Decision) bool {
	if gravity[reason] != gravity[d.Reason] {
		return gravity[reason] > gravity[d.Reason]
	}
	return d.Class == Public && class != Public
}

// judge decides on one address, in this order: a zone; IPv4-mapped; metadata;
// translation prefixes; the longest prefix of the table, with what the host
// trusts; everything outside global unicast.
func (p *Policy) judge(addr netip.Addr) (Class, Reason) {
	if !addr.IsValid() || addr.Zone() != "" {
		return Class(DNSInvalidAddress), DNSInvalidAddress
	}
	addr = addr.Unmap()
	t := loadTables()
	r := t.lookup(addr)
	if r.class == metadata {
		return r.class, r.reason()
	}
	for _, prefix := range p.NAT64 {
		if !prefix.Contains(addr) {
			continue
		}
		if !validNAT64(prefix) {
			return "nat64", NonRoutableAddress
		}
		if inner, _ := embedded(addr, prefix); t.lookup(inner).class != Public {
			r = t.lookup(inner)
			return r.class, r.reason()
		}
	}
	if inner, ok := embedded(addr, wellKnown); ok {
		// It must not carry anything but global addresses (RFC 6052 3.1), so
		// what the host trusts does not matter here.
		r = t.lookup(inner)
		return r.class, r.reason()
	}
	if r.verdict == injectable && p.trusts(addr) && !isISATAP(addr) {
		return r.class, Allowed
	}
	return r.class, r.reason()
}

// trusts reports whether the host names a network that holds addr.
func (p *Policy) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p.TrustedNetworks, func(n netip.Prefix) bool { return n.Contains(addr) })
}
