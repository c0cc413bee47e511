package securitydiff

import (
	"fmt"
	"strings"

	"golang.org/x/net/idna"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// urlView is a URL taken apart. Only scheme, host, port and the names of query
// parameters may be shown; the rest is compared and withheld.
type urlView struct {
	scheme, host, port string
	shownHost          redact.Shown
	userinfo           string
	segments           []string
	query              []queryPart
	fragment           string
	odd                bool // it could not be taken apart
}

type queryPart struct {
	name, value string
	bare        bool // no "=": the whole part may be the secret
}

var urlForm = pattern.New(`^([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#]*)@)?(\[[^\]/?#]*\]|[^:/?#]*)(?::([0-9]*))?(/[^?#]*)?(?:\?([^#]*))?(?:#(.*))?$`)

// readURL takes a URL apart without judging it; the runtime's policy does.
func (v *viewer) readURL(raw string) urlView {
	m := urlForm.FindStringSubmatch(raw)
	if m == nil {
		v.withhold(raw)
		return urlView{odd: true}
	}
	u := urlView{scheme: strings.ToLower(m[1]), userinfo: m[2], host: m[3], port: m[4], fragment: m[7]}
	u.shownHost = showHost(u.host)
	for _, s := range strings.Split(strings.Trim(m[5], "/"), "/") {
		if s != "" {
			u.segments = append(u.segments, s)
		}
	}
	if m[6] != "" {
		for _, part := range strings.FieldsFunc(m[6], func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, has := strings.Cut(part, "=")
			u.query = append(u.query, queryPart{name, value, !has})
		}
	}
	v.withholdURL(u)
	return u
}

func (v *viewer) withholdURL(u urlView) {
	v.withhold(u.userinfo)
	_, password, _ := strings.Cut(u.userinfo, ":")
	v.withhold(password)
	for _, s := range u.segments {
		v.withhold(s)
	}
	for _, q := range u.query {
		v.withhold(q.value)
		if q.bare {
			v.withhold(q.name)
		}
	}
	v.withhold(u.fragment)
}

// showHost shows a host so that look-alike letters are evident: as punycode.
func showHost(host string) redact.Shown {
	if !isASCII(host) {
		if ascii, err := idna.Punycode.ToASCII(host); err == nil {
			host = ascii
		}
	}
	shown, _ := show(redact.HostName, host)
	return shown
}

// authority is host and port as they may be shown.
func (u urlView) authority() redact.Shown {
	if u.port != "" {
		return u.shownHost + ":" + redact.Shown(u.port)
	}
	return u.shownHost
}

// shown is the URL for a summary.
func (u urlView) shown() redact.Shown {
	if u.odd {
		return "<URL withheld>"
	}
	out := []redact.Shown{redact.Shown(u.scheme), "://"}
	if u.userinfo != "" {
		out = append(out, "<redacted>@")
	}
	out = append(out, u.authority())
	if n := len(u.segments); n > 0 {
		out = append(out, redact.Shown("/<"+segmentCount(n)+">"))
	}
	for i, q := range u.query {
		sep := redact.Shown("&")
		if i == 0 {
			sep = "?"
		}
		out = append(out, sep, queryShown(q))
	}
	if u.fragment != "" {
		out = append(out, "#<redacted>")
	}
	return joined(out)
}

// joined puts parts together in one step: a hostile URL has many.
func joined(parts []redact.Shown) redact.Shown {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(string(p))
	}
	return redact.Shown(b.String())
}

func segmentCount(n int) string {
	if n == 1 {
		return "1 segment"
	}
	return fmt.Sprintf("%d segments", n)
}

func queryShown(q queryPart) redact.Shown {
	if q.bare {
		return redact.Redacted
	}
	name, _ := show(redact.QueryName, q.name)
	return name + "=<redacted>"
}

// hasSecret reports whether any part of the URL may hold a secret.
func (u urlView) hasSecret() bool {
	if u.userinfo != "" || u.fragment != "" {
		return true
	}
	for _, s := range u.segments {
		if redact.LooksLikeCredential(s) {
			return true
		}
	}
	for _, q := range u.query {
		if q.bare && redact.LooksLikeCredential(q.name) || redact.SecretName(q.name) && q.value != "" || redact.LooksLikeCredential(q.value) {
			return true
		}
	}
	return false
}
