package netguard

import (
	"net/netip"
	"slices"
)

// Reason says why a URL was allowed or refused. The values are stable: they
// are shown, recorded and matched by hosts.
type Reason string

// The reasons.
const (
	// Allowed: every address of the host may be reached.
	Allowed Reason = "allowed"

	// InvalidURL: the URL is malformed, or two readers could disagree on it.
	InvalidURL Reason = "invalid_url"
	// UnsupportedScheme: neither http nor https.
	UnsupportedScheme Reason = "unsupported_scheme"
	// MissingHostname: no host in the URL.
	MissingHostname Reason = "missing_hostname"

	// MetadataHostname: the name of a metadata service; not resolved.
	MetadataHostname Reason = "metadata_hostname"
	// PrivateHostname: localhost or a name below it, and the host trusts no
	// loopback address; not resolved.
	PrivateHostname Reason = "private_hostname"

	// DNSFailure: the name does not exist, a query for it failed, or it has too
	// many addresses.
	DNSFailure Reason = "dns_failure"
	// DNSNoAddresses: the name exists and has no address.
	DNSNoAddresses Reason = "dns_no_addresses"
	// DNSInvalidAddress: the resolver gave something that is no plain address.
	DNSInvalidAddress Reason = "dns_invalid_address"

	// MetadataAddress: a metadata service, or link-local, where they live.
	MetadataAddress Reason = "metadata_address"
	// PrivateAddress: private, shared, loopback or unique-local, and in no
	// network that the host trusts.
	PrivateAddress Reason = "private_address"
	// NonRoutableAddress: multicast, reserved, documentation, translation and
	// other special-purpose ranges. No setting opens them.
	NonRoutableAddress Reason = "non_routable_address"

	// SchemeDowngrade: a redirect from https to http.
	SchemeDowngrade Reason = "scheme_downgrade"
	// TooManyRedirects: more than MaxRedirects hops.
	TooManyRedirects Reason = "too_many_redirects"
	// CrossOriginBody: a redirect to another origin for a request with a body.
	CrossOriginBody Reason = "cross_origin_body"
)

// Class is the kind of address a decision turned on, as in the column cls of
// data/ranges.json ("loopback", "metadata", "teredo", ...), "public", or the
// Reason itself where no address was judged.
type Class string

// Classes that code decides on. The table holds the others.
const (
	Public   Class = "public"
	metadata Class = "metadata"
	isatap   Class = "isatap"
)

// Decision is the verdict on one URL. Its zero value refuses. It holds no
// userinfo, path, query or fragment.
type Decision struct {
	Allowed bool
	Reason  Reason
	Class   Class
	// Origin is scheme, canonical host, and port unless it is the scheme's
	// own. It is empty if the URL could not be read.
	Origin string
	// CanonicalHost is a lower-case ASCII name without a trailing dot, or an
	// address without brackets. It is empty if the URL could not be read.
	CanonicalHost string
	Port          uint16
	// Addresses are all addresses that were judged, IPv4-mapped ones as IPv4,
	// without duplicates, in the resolver's order. A connection may only go to
	// one of these, and only if Allowed.
	Addresses []netip.Addr
}

// Audit is the part of a Decision that is recorded and shown.
type Audit struct {
	Allowed           bool     `json:"allowed"`
	Reason            Reason   `json:"reason"`
	Target            string   `json:"target"`
	ResolvedAddresses []string `json:"resolved_addresses"`
}

// Audit returns the view for records and previews: origin and judged
// addresses, in a fixed order, and nothing more of the URL.
func (d Decision) Audit() Audit {
	a := Audit{Allowed: d.Allowed, Reason: d.Reason, Target: d.Origin, ResolvedAddresses: []string{}}
	sorted := slices.Clone(d.Addresses)
	slices.SortFunc(sorted, netip.Addr.Compare)
	for _, addr := range sorted {
		a.ResolvedAddresses = append(a.ResolvedAddresses, addr.String())
	}
	return a
}

// refuse returns a decision against t for a reason that needed no address.
func refuse(t Target, r Reason) Decision {
	return Decision{Reason: r, Class: Class(r), Origin: t.Origin(), CanonicalHost: t.Host, Port: t.Port}
}
