package runtime

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

var secretHeaders = []httpHeader{
	header("Authorization", "Bearer hunter2"),
	header("Cookie", "sid=hunter2"),
	header("X-Api-Key", "hunter2"),
	header("User-Agent", "hunter2"),
	header("accept", "hunter2"), // the protocol's own value stands
}

// A redirect to another port or name loses every credential, and does not get
// them back on the way home.
func TestHTTPRedirectDropsCredentials(t *testing.T) {
	t.Parallel()
	var home, port, name seen
	var homeURL, nameURL string
	byName := serve(t, func(w http.ResponseWriter, r *http.Request) {
		name.note(r)
		http.Redirect(w, r, homeURL+"/end", http.StatusFound)
	})
	byPort := serve(t, func(w http.ResponseWriter, r *http.Request) {
		port.note(r)
		w.Header().Set("Location", strings.Replace(nameURL, "http://", "http://attacker:pw@", 1)+"/x")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		home.note(r)
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/again", http.StatusMovedPermanently)
		case "/again":
			http.Redirect(w, r, byPort.URL+"/?from=home", http.StatusSeeOther)
		default:
			_, _ = io.WriteString(w, "home")
		}
	})
	dns := &names{}
	dns.set("two.test", "127.0.0.1")
	homeURL, nameURL = server.URL, named(t, byName, "two.test")

	var made decisions
	g := guardOf(t, httpConfig{URL: strings.Replace(homeURL, "http://", "http://user:hunter2@", 1) + "/start",
		Headers: secretHeaders, Policy: loopbackPolicy(dns), OnDecision: made.add})
	if strings.Contains(g.URL(), "hunter2") {
		t.Errorf("the URL for the library holds userinfo")
	}
	if body := get(t, g, g.URL()); body != "home" {
		t.Errorf("body %q", body)
	}
	made.want(t, "request allowed "+homeURL, "request allowed "+homeURL, "request allowed "+byPort.URL,
		"request allowed "+nameURL, "request allowed "+homeURL)

	for _, r := range home.requests[:2] {
		for key, want := range map[string]string{"Authorization": "Bearer hunter2", "Cookie": "sid=hunter2", "X-Api-Key": "hunter2",
			"User-Agent": "hunter2", "Mcp-Session-Id": "the-session", "Accept": "application/json, text/event-stream", "Referer": ""} {
			if got := r.Header.Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", r.URL.Path, key, got, want)
			}
		}
	}
	for where, r := range map[string]*http.Request{"port": port.only(t), "name": name.only(t), "home again": home.requests[2]} {
		for key, values := range r.Header {
			switch key {
			case "Accept-Encoding", "User-Agent":
			default:
				t.Errorf("%s: %s: %q arrived", where, key, values)
			}
		}
		if dump := fmt.Sprint(r.Header); strings.Contains(dump, "hunter2") || strings.Contains(dump, "attacker") {
			t.Errorf("%s: a credential arrived: %s", where, dump)
		}
	}
}

func TestHTTPUserinfoIsSentAsAHeader(t *testing.T) {
	t.Parallel()
	var got seen
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.note(r) })
	g := guardOf(t, httpConfig{URL: strings.Replace(server.URL, "http://", "http://ann:pa:ss@", 1), Policy: loopbackPolicy(nil)})
	get(t, g, g.URL())
	if user, pw, ok := got.only(t).BasicAuth(); !ok || user != "ann" || pw != "pa:ss" {
		t.Errorf("arrived as %q %q", user, pw)
	}
}

// What may follow a redirect, and what is decided, recorded and refused.
func TestHTTPRedirectRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, method, body string
		status             int
		location           string // "other" is another server, "self" this one
		reason             string // "" if the redirect is followed
		wantMethod         string
		wantBody           string
		recorded           string // the last decision, with the origin replaced
	}{
		{"a GET to another origin", "GET", "", 302, "other/x", "", "GET", "", "allowed other"},
		{"a DELETE without a body too", "DELETE", "", 307, "other/x", "", "DELETE", "", "allowed other"},
		{"a body within the origin is sent again", "POST", "secret", 307, "/x", "", "POST", "secret", "allowed self"},
		{"and again for 308", "POST", "secret", 308, "self/x", "", "POST", "secret", "allowed self"},
		{"303 asks for a GET", "POST", "secret", 303, "/x", "", "GET", "", "allowed self"},
		{"as 302 does by custom", "POST", "secret", 302, "/x", "", "GET", "", "allowed self"},
		{"a body to another origin", "POST", "secret", 307, "other/x", "cross_origin_body", "", "", "cross_origin_body other"},
		{"not even when it would be dropped", "POST", "secret", 303, "other/x", "cross_origin_body", "", "", "cross_origin_body other"},
		{"metadata", "GET", "", 302, "http://169.254.169.254/secret", "metadata_address", "", "", "metadata_address http://169.254.169.254"},
		{"a form of loopback that is not trusted", "GET", "", 302, "http://[::1]/secret", "private_address", "", "", "private_address http://[::1]"},
		{"another scheme", "GET", "", 302, "file:///etc/passwd", "unsupported_scheme", "", "", "unsupported_scheme "},
		{"a backslash", "GET", "", 302, `/\evil.test/secret`, "invalid_url", "", "", "invalid_url "},
		{"an unknown name", "GET", "", 302, "https://nx.test/secret", "dns_failure", "", "", "dns_failure https://nx.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var first, second, elsewhere seen
			other := serve(t, func(_ http.ResponseWriter, r *http.Request) { elsewhere.note(r) })
			var self string
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/x" {
					second.note(r)
					return
				}
				first.note(r)
				location := strings.Replace(strings.Replace(c.location, "other", other.URL, 1), "self", self, 1)
				w.Header().Set("Location", location)
				w.WriteHeader(c.status)
			})
			self = server.URL
			var made decisions
			g := guardOf(t, httpConfig{URL: server.URL, Headers: secretHeaders, Policy: loopbackPolicy(&names{}), OnDecision: made.add})
			resp, err := do(t, g, c.method, server.URL+"/start", c.body)
			last := made.list[len(made.list)-1]
			last = strings.Replace(strings.Replace(last, other.URL, "other", 1), self, "self", 1)
			if last != "request "+c.recorded || len(made.list) != 2 {
				t.Errorf("recorded %q", made.list)
			}
			if c.reason != "" {
				wantFailure(t, err, c.reason)
				if second.count()+elsewhere.count() != 0 {
					t.Error("the refused target was asked")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			end := &second
			if strings.HasPrefix(c.location, "other") {
				end = &elsewhere
			}
			r := end.only(t)
			if r.Method != c.wantMethod || end.bodies[0] != c.wantBody {
				t.Errorf("arrived as %s %q", r.Method, end.bodies[0])
			}
		})
	}
}

func TestHTTPRedirectNeverLeavesTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	var got seen
	plain := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.note(r) })
	dns := &names{}
	dns.set("docs.test", "127.0.0.1")
	secure := ca.serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, named(t, plain, "docs.test"), http.StatusFound)
	}, "docs.test")
	var made decisions
	g := guardOf(t, httpConfig{URL: named(t, secure, "docs.test"), Policy: loopbackPolicy(dns), RootCAs: ca.pool, OnDecision: made.add})
	_, err := do(t, g, http.MethodGet, g.URL(), "")
	wantFailure(t, err, "scheme_downgrade")
	made.want(t, "request allowed "+named(t, secure, "docs.test"), "request scheme_downgrade "+named(t, plain, "docs.test"))
	if got.count() != 0 {
		t.Error("the plain server was asked")
	}
}

func TestHTTPRedirectsEnd(t *testing.T) {
	t.Parallel()
	var got seen
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		http.Redirect(w, r, r.URL.Path+"n", http.StatusFound)
	})
	var made decisions
	g := guardOf(t, httpConfig{URL: server.URL, Policy: loopbackPolicy(nil), OnDecision: made.add})
	_, err := do(t, g, http.MethodGet, g.URL()+"/", "")
	wantFailure(t, err, "too_many_redirects")
	if n := got.count(); n != 11 {
		t.Errorf("%d requests, want the first and 10 hops", n)
	}
	if n := len(made.list); n != 12 || made.list[11] != "request too_many_redirects "+server.URL {
		t.Errorf("recorded %q", made.list)
	}
}

// A status with a Location that is no redirect, and a redirect without one,
// belong to the caller.
func TestHTTPOtherStatusesArePassedOn(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/created" {
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(http.StatusCreated)
			return
		}
		w.WriteHeader(http.StatusFound)
	})
	g := guardOf(t, httpConfig{URL: server.URL, Policy: loopbackPolicy(nil)})
	for path, status := range map[string]int{"/created": 201, "/found": 302} {
		resp, err := do(t, g, http.MethodGet, server.URL+path, "")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func TestHTTPDeclaredHeadersAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		headers []httpHeader
		problem string
	}{
		{[]httpHeader{header("X Y", "hunter2")}, "its name is not an HTTP header name"},
		{[]httpHeader{header("", "hunter2")}, "its name is not an HTTP header name"},
		{[]httpHeader{header("X-Y", "hunter2\r\nHost: evil")}, "its value has a control character"},
		{[]httpHeader{header("host", "hunter2")}, "Host belongs to the connection"},
		{[]httpHeader{header("transfer-encoding", "hunter2")}, "Transfer-Encoding belongs to the connection"},
		{[]httpHeader{header("MCP-Session-Id", "hunter2")}, "Mcp-Session-Id belongs to the connection"},
		{[]httpHeader{header("X-Y", "a"), header("x-y", "hunter2")}, "its name is given twice, in different case"},
	} {
		_, err := newHTTPGuard(httpConfig{URL: "https://docs.test/", Headers: c.headers})
		want := "a declared header cannot be sent: " + c.problem
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "hunter2") {
			t.Error("the value is shown")
		}
	}
}

// A request to another origin that the caller makes itself (an authorization
// server) has the caller's headers and none that are declared.
func TestHTTPDeclaredHeadersStayHome(t *testing.T) {
	t.Parallel()
	var got seen
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.note(r) })
	g := guardOf(t, httpConfig{URL: "http://127.0.0.1:1/", Headers: secretHeaders, Policy: loopbackPolicy(nil)})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL, nil)
	req.Header.Set("Authorization", "Basic client")
	resp, err := g.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	r := got.only(t)
	if r.Header.Get("Authorization") != "Basic client" || strings.Contains(fmt.Sprint(r.Header), "hunter2") {
		t.Errorf("arrived %v", r.Header)
	}
}
