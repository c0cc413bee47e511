package runtime

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
	"golang.org/x/net/http/httpguts"
)

// httpHeader is one declared header with its references resolved.
type httpHeader struct{ Name, Value redact.Raw }

// httpHeaderError is a declared header that cannot be sent.
type httpHeaderError struct {
	// Name is as declared: judge it before showing it.
	Name redact.Raw
	// Problem is a sentence in our own words, without name and value.
	Problem string
}

// Error returns the problem; the name is not part of it.
func (e *httpHeaderError) Error() string { return "a declared header cannot be sent: " + e.Problem }

// refusedHeaders belong to the connection, not to a declaration: they frame the
// message (RFC 9112 6), steer the hop (RFC 9110 7.6), or name another host.
var refusedHeaders = map[string]bool{
	"Accept-Encoding": true, "Connection": true, "Content-Encoding": true, "Content-Length": true, "Expect": true,
	"Host": true, "Keep-Alive": true, "Mcp-Session-Id": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// protocolHeaders keep the value that the protocol library gave them, since it
// depends on the request. Declarations copied from a curl command have some.
var protocolHeaders = map[string]bool{
	"Accept": true, "Content-Type": true, "Last-Event-Id": true, "Mcp-Protocol-Version": true,
	"Mcp-Method": true, "Mcp-Name": true,
}

// crossOriginHeaders are all that follows a redirect to another origin. It is a
// list of what is kept, since whatever else a request has may be a secret.
var crossOriginHeaders = []string{"Accept", "Mcp-Protocol-Version"}

// userAgent is sent unless the declaration has its own. It names no version.
const userAgent = "evolve"

// declaredHeaders checks the headers of a declaration. Userinfo becomes an
// Authorization header, as in net/http, unless one is declared.
func declaredHeaders(headers []httpHeader, user *url.Userinfo) (http.Header, error) {
	out := http.Header{}
	for _, h := range headers {
		name, value := h.Name.Reveal(), h.Value.Reveal()
		key := http.CanonicalHeaderKey(name)
		problem := ""
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			problem = "its name is not an HTTP header name"
		case !httpguts.ValidHeaderFieldValue(value):
			problem = "its value has a control character"
		case refusedHeaders[key]:
			problem = key + " belongs to the connection"
		case out[key] != nil:
			problem = "its name is given twice, in different case"
		}
		if problem != "" {
			return nil, &httpHeaderError{Name: h.Name, Problem: problem}
		}
		out[key] = []string{strings.TrimSpace(value)}
	}
	if user != nil && out["Authorization"] == nil {
		password, _ := user.Password()
		pair := user.Username() + ":" + password
		out["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}
	}
	return out, nil
}

// ownHeaders returns the headers of a request to the declaration's own origin.
func (g *httpGuard) ownHeaders(from http.Header) http.Header {
	h := baseHeaders(from)
	for key, values := range g.declared {
		if !protocolHeaders[key] || h[key] == nil {
			h[key] = values
		}
	}
	return h
}

// baseHeaders returns a copy of a caller's headers, without those that steer
// the connection.
func baseHeaders(from http.Header) http.Header {
	h := from.Clone()
	if h == nil {
		h = http.Header{}
	}
	for key := range refusedHeaders {
		if key != "Mcp-Session-Id" && key != "Content-Encoding" {
			delete(h, key)
		}
	}
	delete(h, "Referer")
	h["Accept-Encoding"] = []string{"gzip"} // and so net/http leaves decoding to us
	if h["User-Agent"] == nil {
		h["User-Agent"] = []string{userAgent}
	}
	return h
}

// foreignHeaders returns what is left of h for another origin: no credentials,
// no declared header, no session.
func (g *httpGuard) foreignHeaders(h http.Header) http.Header {
	kept := http.Header{}
	for _, key := range crossOriginHeaders {
		if g.declared[key] == nil && h[key] != nil {
			kept[key] = h[key]
		}
	}
	return baseHeaders(kept)
}

// withoutBody removes what describes a body that is no longer sent.
func withoutBody(h http.Header) http.Header {
	h = h.Clone()
	for _, key := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Digest"} {
		delete(h, key)
	}
	return h
}
