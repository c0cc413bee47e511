package netguard

import (
	"net/netip"
	"strings"
	"testing"
)

// everything is the widest trust that a host can state.
var everything = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// TestEveryRow judges the first and the last address of each row: without
// trust none is allowed, and with all trust only the injectable ones.
func TestEveryRow(t *testing.T) {
	t.Parallel()
	tables := loadTables()
	if n := len(tables.ranges) + len(tables.metadata) + 1; n != 79 {
		t.Errorf("%d rows, want 79", n)
	}
	strict, trusting := &Policy{}, &Policy{TrustedNetworks: everything}
	for _, r := range append(tables.ranges, tables.metadata...) {
		if r.verdict == decode {
			continue
		}
		for _, addr := range []netip.Addr{r.prefix.Addr(), lastOf(r.prefix)} {
			if class, reason := strict.judge(addr); reason == Allowed {
				t.Errorf("%s: %s is allowed as %s", r.prefix, addr, class)
			}
			class, reason := trusting.judge(addr)
			if reason == Allowed && r.verdict != injectable {
				t.Errorf("%s: trust opens %s as %s", r.prefix, addr, class)
			}
			if most := tables.lookup(addr); most.prefix == r.prefix && most.verdict == injectable && reason != Allowed {
				t.Errorf("%s: trust does not open %s (%s)", r.prefix, addr, reason)
			}
		}
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

// TestFormsOfOneAddress: no way of writing an address changes its verdict for
// the better.
func TestFormsOfOneAddress(t *testing.T) {
	t.Parallel()
	p := &Policy{TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	for _, v4 := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "8.8.8.8", "100.64.0.1", "0.0.0.0", "224.0.0.1"} {
		addr := netip.MustParseAddr(v4)
		_, plain := p.judge(addr)
		if _, mapped := p.judge(netip.AddrFrom16(addr.As16())); mapped != plain {
			t.Errorf("%s: %s, mapped %s", v4, plain, mapped)
		}
		b := wellKnown.Addr().As16()
		a4 := addr.As4()
		copy(b[12:], a4[:])
		_, translated := p.judge(netip.AddrFrom16(b))
		if (translated == Allowed) != (v4 == "8.8.8.8") {
			t.Errorf("%s: translated %s", v4, translated)
		}
	}
	if _, reason := p.judge(netip.MustParseAddr("2606:4700::1%eth0")); reason != DNSInvalidAddress {
		t.Errorf("a zone is %s", reason)
	}
	if _, reason := p.judge(netip.Addr{}); reason != DNSInvalidAddress {
		t.Errorf("no address is %s", reason)
	}
	trusting := &Policy{TrustedNetworks: everything}
	if class, reason := trusting.judge(netip.MustParseAddr("fd00:1::5efe:a00:1")); reason == Allowed {
		t.Errorf("trust opens a tunnel (%s)", class)
	}
}

// TestNetworkNAT64 uses the examples of RFC 6052 2.4 and 192.0.2.33, which is
// documentation space and so refused; and a public address in its place.
func TestNetworkNAT64(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prefix, doc, public string }{
		{"2a00:db8::/32", "2a00:db8:c000:221::", "2a00:db8:808:808::"},
		{"2a00:db8:100::/40", "2a00:db8:1c0:2:21::", "2a00:db8:108:808:8::"},
		{"2a00:db8:122::/48", "2a00:db8:122:c000:2:2100::", "2a00:db8:122:808:8:800::"},
		{"2a00:db8:122:300::/56", "2a00:db8:122:3c0:0:221::", "2a00:db8:122:308:8:808::"},
		{"2a00:db8:122:344::/64", "2a00:db8:122:344:c0:2:2100::", "2a00:db8:122:344:8:808:800::"},
		{"2a00:db8:122:344::/96", "2a00:db8:122:344::192.0.2.33", "2a00:db8:122:344::8.8.8.8"},
	} {
		p := &Policy{NAT64: []netip.Prefix{netip.MustParsePrefix(c.prefix)}}
		if class, reason := p.judge(netip.MustParseAddr(c.doc)); reason != NonRoutableAddress || class != "documentation" {
			t.Errorf("%s: %s is %s %s", c.prefix, c.doc, class, reason)
		}
		if class, reason := p.judge(netip.MustParseAddr(c.public)); reason != Allowed {
			t.Errorf("%s: %s is %s %s", c.prefix, c.public, class, reason)
		}
		if _, reason := (&Policy{}).judge(netip.MustParseAddr(c.doc)); reason != Allowed {
			t.Errorf("%s is public to a host that names no prefix, got %s", c.doc, reason)
		}
	}
	odd := &Policy{NAT64: []netip.Prefix{netip.MustParsePrefix("2a00:db8::/120")}}
	if _, reason := odd.judge(netip.MustParseAddr("2a00:db8::8")); reason != NonRoutableAddress {
		t.Errorf("a prefix of no known length gives %s", reason)
	}
	local := &Policy{NAT64: []netip.Prefix{netip.MustParsePrefix("64:ff9b:1::/96")}, TrustedNetworks: everything}
	if _, reason := local.judge(netip.MustParseAddr("64:ff9b:1::8.8.8.8")); reason != NonRoutableAddress {
		t.Errorf("naming a prefix opened it: %s", reason)
	}
}

func TestBrokenDataIsNoticed(t *testing.T) {
	t.Parallel()
	good := string(rangesJSON)
	for name, ranges := range map[string]string{
		"not JSON":           "[",
		"unknown verdict":    strings.Replace(good, `"injectable"`, `"injectible"`, 1),
		"no prefix":          strings.Replace(good, `"10.0.0.0/8"`, `"10.0.0.0"`, 1),
		"bits after it":      strings.Replace(good, `"10.0.0.0/8"`, `"10.0.0.1/8"`, 1),
		"no rule at the end": strings.Replace(good, outsideGlobalUnicast, "3000::/4", 1),
	} {
		if _, err := parseTables([]byte(ranges), metadataNamesJSON); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := parseTables(rangesJSON, []byte("[]")); err == nil {
		t.Error("no metadata names: accepted")
	}
}
