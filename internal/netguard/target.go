package netguard

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURLBytes is the longest URL that is read. Common servers stop at 8 KiB.
const MaxURLBytes = 16 << 10

// Target is a URL that was read strictly. Its zero value is no URL. Formatting
// it prints the origin only.
type Target struct {
	Scheme string // http or https
	// Host is a canonical name without a trailing dot, or an address without
	// brackets.
	Host string
	// Addr is set if Host is an address.
	Addr netip.Addr
	Port uint16

	// private is behind a pointer so that fmt, which prints unexported fields
	// of a struct that holds a Target, prints an address.
	private *private
}

// private is the part of a URL that is never shown.
type private struct {
	user       *url.Userinfo
	path       string // escaped, with its leading slash; may be empty
	query      string
	forceQuery bool
}

func privateOf(u *url.URL) *private {
	return &private{user: u.User, path: u.EscapedPath(), query: u.RawQuery, forceQuery: u.ForceQuery}
}

// Read reads an absolute http or https URL. On success the reason is Allowed;
// else it is InvalidURL, UnsupportedScheme or MissingHostname and the Target is
// zero.
//
// It refuses what parsers are known to read differently: controls, spaces,
// backslashes and bytes that are not UTF-8 anywhere; a percent sign in the
// authority; zones; port 0; empty labels. At last net/url must find the same
// authority.
func Read(raw string) (Target, Reason) {
	if len(raw) > MaxURLBytes || !plainText(raw) {
		return Target{}, InvalidURL
	}
	scheme, rest, reason := cutScheme(raw)
	if reason != Allowed {
		return Target{}, reason
	}
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return Target{}, MissingHostname
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	t, hostport, reason := readAuthority(scheme, authority)
	if reason != Allowed {
		return Target{}, reason
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host != hostport || u.Opaque != "" || !strings.EqualFold(u.Scheme, scheme) {
		return Target{}, InvalidURL
	}
	t.private = privateOf(u)
	return t, Allowed
}

// ReadParsed reads a URL that net/url has parsed. Its Host must be what was
// written: a percent sign in it is refused, as in Read.
func ReadParsed(u *url.URL) (Target, Reason) {
	if u == nil {
		return Target{}, InvalidURL
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return Target{}, UnsupportedScheme
	}
	if u.Opaque != "" || u.Host == "" {
		return Target{}, MissingHostname
	}
	if !plainText(u.Host) || strings.ContainsAny(u.Host, "/?#@") {
		return Target{}, InvalidURL
	}
	t, _, reason := readAuthority(u.Scheme, u.Host)
	if reason != Allowed {
		return Target{}, reason
	}
	t.private = privateOf(u)
	return t, Allowed
}

// Resolve reads the value of a Location header against t. Only a value that
// names a host itself can leave t's origin.
func (t Target) Resolve(location string) (Target, Reason) {
	if len(location) > MaxURLBytes || !plainText(location) {
		return Target{}, InvalidURL
	}
	if strings.HasPrefix(location, "//") {
		return Read(t.Scheme + ":" + location)
	}
	ref, err := url.Parse(location)
	if err != nil || ref.Scheme != "" || ref.Host != "" || ref.User != nil {
		return Read(location) // absolute, or nothing that can be read
	}
	next := t
	next.private = privateOf(t.URL().ResolveReference(ref))
	return next, Allowed
}

// URL returns the URL to request: the canonical authority, the path and query
// as they were written, and neither userinfo nor fragment.
func (t Target) URL() *url.URL {
	u := &url.URL{Scheme: t.Scheme, Host: t.Authority()}
	if t.private == nil {
		return u
	}
	u.RawQuery, u.ForceQuery = t.private.query, t.private.forceQuery
	if p, err := url.PathUnescape(t.private.path); err == nil {
		u.Path, u.RawPath = p, t.private.path // net/url ignores RawPath where it adds nothing
	}
	return u
}

// User returns the userinfo of the URL, which is a credential, or nil.
func (t Target) User() *url.Userinfo {
	if t.private == nil {
		return nil
	}
	return t.private.user
}

// Authority returns the canonical host, in brackets if it is IPv6, and the port
// unless it is the scheme's own.
func (t Target) Authority() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.Port == defaultPort(t.Scheme) {
		return host
	}
	return host + ":" + strconv.Itoa(int(t.Port))
}

// Origin returns scheme, "://" and Authority, or "" for the zero Target. Two
// targets have one origin exactly if these are equal.
func (t Target) Origin() string {
	if t.Scheme == "" {
		return ""
	}
	return t.Scheme + "://" + t.Authority()
}

// String returns the origin.
func (t Target) String() string { return t.Origin() }

// GoString returns the origin.
func (t Target) GoString() string { return t.Origin() }

// plainText reports whether s is UTF-8 without controls, spaces and backslashes:
// some parsers strip them, some take a backslash for a slash.
func plainText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r == ' ' || r == '\\' || unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// cutScheme splits off the scheme (RFC 3986 3.1), in lower case.
func cutScheme(raw string) (scheme, rest string, reason Reason) {
	scheme, rest, ok := strings.Cut(raw, ":")
	if !ok || scheme == "" {
		return "", "", InvalidURL
	}
	for i, r := range scheme {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-", r)) {
			// The grammar also has a dot, but then it is rather a host and a port.
			return "", "", InvalidURL
		}
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return "", "", UnsupportedScheme
	}
	return scheme, rest, Allowed
}

// readAuthority reads [userinfo@]host[:port] and also returns the part after
// the last "@" as it was written.
func readAuthority(scheme, authority string) (Target, string, Reason) {
	if strings.Contains(authority, "%") {
		return Target{}, "", InvalidURL // also every zone
	}
	hostport := authority[strings.LastIndexByte(authority, '@')+1:]
	host, port, ok := splitPort(hostport)
	if !ok {
		return Target{}, "", InvalidURL
	}
	if host == "" {
		return Target{}, "", MissingHostname
	}
	t := Target{Scheme: scheme}
	if t.Port, ok = readPort(port, scheme); !ok {
		return Target{}, "", InvalidURL
	}
	if t.Host, t.Addr, ok = canonicalHost(host); !ok {
		return Target{}, "", InvalidURL
	}
	return t, hostport, Allowed
}

// splitPort splits host and port; an IPv6 host keeps its brackets.
func splitPort(hostport string) (host, port string, ok bool) {
	host, rest := hostport, ""
	if strings.HasPrefix(hostport, "[") {
		end := strings.IndexByte(hostport, ']')
		if end < 0 {
			return "", "", false
		}
		host, rest = hostport[:end+1], hostport[end+1:]
	} else if i := strings.IndexByte(hostport, ':'); i >= 0 {
		host, rest = hostport[:i], hostport[i:]
	}
	if rest == "" {
		return host, "", true
	}
	port, ok = strings.CutPrefix(rest, ":")
	return host, port, ok && !strings.Contains(port, ":")
}

func readPort(s, scheme string) (uint16, bool) {
	if s == "" {
		return defaultPort(scheme), true
	}
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
		if n = n*10 + int(r-'0'); n > 65535 {
			return 0, false
		}
	}
	return uint16(n), n != 0
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}
