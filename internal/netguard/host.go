package netguard

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Limits of a name in DNS (RFC 1035 2.3.4), without the trailing dot.
const (
	maxNameBytes  = 253
	maxLabelBytes = 63
)

// maxHostBytes bounds what is mapped, since mapping takes time that grows with
// the square of a label. A name of 253 bytes has less than this in UTF-8.
const maxHostBytes = 4 * maxNameBytes

// profile is UTS #46 as browsers use it: non-transitional, Bidi and joiner
// rules on, hyphens free (r3---sn-x is a name in use). The order matters:
// MapForLookup turns label validation on, which resets the hyphen and joiner
// checks, so it stands first.
var profile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false), // nameGrammar is stricter, but allows "_"
)

// capitalSharpS is mapped to "ss" by older tables and to "ß" by newer ones, so
// two programs can read two hosts.
const capitalSharpS = "\u1e9e"

// canonicalHost brings the host of an authority into one form: a lower-case
// ASCII name without a trailing dot, or an address.
func canonicalHost(host string) (string, netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", netip.Addr{}, false
		}
		return addr.String(), addr, true
	}
	if len(host) > maxHostBytes || strings.Contains(host, capitalSharpS) {
		return "", netip.Addr{}, false
	}
	name, err := profile.ToASCII(host)
	if err != nil {
		return "", netip.Addr{}, false
	}
	if again, err := profile.ToASCII(name); err != nil || again != name {
		return "", netip.Addr{}, false
	}
	name = strings.TrimSuffix(name, ".")
	if !nameGrammar(name) {
		return "", netip.Addr{}, false
	}
	if !endsInNumber(name) {
		return name, netip.Addr{}, true
	}
	addr, ok := parseIPv4(name)
	return addr.String(), addr, ok
}

// nameGrammar reports whether name is made of labels of a-z 0-9 - _.
func nameGrammar(name string) bool {
	if len(name) > maxNameBytes {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabelBytes {
			return false
		}
		for _, r := range label {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
				return false
			}
		}
	}
	return true
}

// endsInNumber reports whether a name must be an IPv4 address (URL Standard,
// "ends in a number checker"): its last label is all digits or reads as a
// hexadecimal number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// parseIPv4 reads the forms that inet_aton takes (URL Standard, "IPv4 parser"):
// one to four parts, each decimal, octal or hexadecimal, the last filling the
// bytes that are left.
func parseIPv4(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	last := len(parts) - 1
	var sum uint64
	for i, part := range parts {
		limit, shift := uint64(256), 8*(3-i)
		if i == last {
			limit, shift = 1<<(8*(4-last)), 0
		}
		n, ok := parsePart(part)
		if !ok || n >= limit {
			return netip.Addr{}, false
		}
		sum |= n << shift
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

func parsePart(s string) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		if hex == "" {
			return 0, true // "0x" is zero
		}
		s, base = hex, 16
	} else if len(s) > 1 && s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
