package netguard

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"sync"
)

//go:embed data/ranges.json
var rangesJSON []byte

//go:embed data/metadata_names.json
var metadataNamesJSON []byte

// verdict is what the table says of a range.
type verdict string

const (
	denyAlways verdict = "deny_always"
	injectable verdict = "injectable" // the host may name networks in it
	decode     verdict = "decode"     // judged by the IPv4 address inside
)

// row is one range of the table.
type row struct {
	prefix  netip.Prefix
	class   Class
	verdict verdict
}

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	wellKnown     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052 2.1
)

// outsideGlobalUnicast is the table's one row that is no prefix: IPv6 that is
// named nowhere else and lies outside the global unicast space.
const outsideGlobalUnicast = "!2000::/3"

// tables is the embedded data, parsed once.
type tables struct {
	metadata    []row // the floor: judged before everything else
	ranges      []row // longest prefix first
	unallocated row
	names       []string
}

// loadTables parses the embedded data. That it parses is tested, so a failure
// is a build that nobody tested.
var loadTables = sync.OnceValue(func() *tables {
	t, err := parseTables(rangesJSON, metadataNamesJSON)
	if err != nil {
		panic("netguard: embedded data: " + err.Error())
	}
	return t
})

func parseTables(ranges, names []byte) (*tables, error) {
	var rows []struct {
		Prefix  string  `json:"prefix"`
		Class   Class   `json:"cls"`
		Verdict verdict `json:"verdict"`
	}
	if err := json.Unmarshal(ranges, &rows); err != nil {
		return nil, err
	}
	t := &tables{}
	if err := json.Unmarshal(names, &t.names); err != nil {
		return nil, err
	}
	for _, r := range rows {
		switch r.Verdict {
		case denyAlways, injectable, decode:
		default:
			return nil, fmt.Errorf("%s: unknown verdict %q", r.Prefix, r.Verdict)
		}
		if r.Prefix == outsideGlobalUnicast {
			t.unallocated = row{class: r.Class, verdict: r.Verdict}
			continue
		}
		prefix, err := netip.ParsePrefix(r.Prefix)
		if err != nil || prefix != prefix.Masked() {
			return nil, fmt.Errorf("%q is no canonical prefix", r.Prefix)
		}
		entry := row{prefix, r.Class, r.Verdict}
		if r.Class == metadata {
			t.metadata = append(t.metadata, entry)
		} else {
			t.ranges = append(t.ranges, entry)
		}
	}
	if t.unallocated.class == "" || len(t.metadata) == 0 || len(t.names) == 0 {
		return nil, fmt.Errorf("incomplete")
	}
	slices.SortStableFunc(t.ranges, func(a, b row) int { return b.prefix.Bits() - a.prefix.Bits() })
	return t, nil
}

// lookup returns the row of an address that is neither zoned nor IPv4-mapped:
// metadata first, then the longest prefix, then the rule for what is left.
func (t *tables) lookup(addr netip.Addr) row {
	for _, r := range t.metadata {
		if r.prefix.Contains(addr) {
			return r
		}
	}
	for _, r := range t.ranges {
		if r.prefix.Contains(addr) {
			return r
		}
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return t.unallocated
	}
	if isISATAP(addr) {
		return row{class: isatap, verdict: denyAlways}
	}
	return row{class: Public}
}

// isISATAP reports whether the interface identifier embeds an IPv4 address as
// in RFC 5214 6.1: 0000:5efe or 0200:5efe before it. Such an address can lead
// into a private network through a tunnel.
func isISATAP(addr netip.Addr) bool {
	if !addr.Is6() {
		return false
	}
	b := addr.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// reason is the refusal that belongs to a row. Link-local counts as metadata:
// that is where such services live.
func (r row) reason() Reason {
	switch {
	case r.class == Public:
		return Allowed
	case r.class == metadata || r.class == "link_local":
		return MetadataAddress
	case r.verdict == injectable:
		return PrivateAddress
	default:
		return NonRoutableAddress
	}
}
