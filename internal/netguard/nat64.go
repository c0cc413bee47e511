package netguard

import "net/netip"

// embedded returns the IPv4 address that an address of a NAT64 prefix carries
// (RFC 6052 2.2): after the prefix, skipping the eighth byte, which is reserved.
func embedded(addr netip.Addr, prefix netip.Prefix) (netip.Addr, bool) {
	if !addr.Is6() || !prefix.Contains(addr) {
		return netip.Addr{}, false
	}
	b := addr.As16()
	var v4 [4]byte
	at := prefix.Bits() / 8
	for i := range v4 {
		if at == 8 {
			at++
		}
		v4[i] = b[at]
		at++
	}
	return netip.AddrFrom4(v4), true
}

// validNAT64 reports whether RFC 6052 2.2 knows the prefix's length.
func validNAT64(p netip.Prefix) bool {
	if !p.Addr().Is6() || p.Addr().Is4In6() {
		return false
	}
	switch p.Bits() {
	case 32, 40, 48, 56, 64, 96:
		return true
	}
	return false
}
