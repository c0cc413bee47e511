package netguard

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestTargetKeepsWhatIsRequested(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, want string }{
		{"https://docs.example", "https://docs.example"},
		{"https://docs.example/mcp", "https://docs.example/mcp"},
		{"https://DOCS.example.:443/mcp?a=b%20c&d#frag", "https://docs.example/mcp?a=b%20c&d"},
		{"http://u:p@docs.example:8080/a%2Fb/%E2%98%83?", "http://docs.example:8080/a%2Fb/%E2%98%83?"},
		{"http://127.1:80/x;y=1", "http://127.0.0.1/x;y=1"},
		{"http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
		{"http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"},
		{"http://docs.example//double//slash", "http://docs.example//double//slash"},
	} {
		target, reason := Read(c.raw)
		if got := target.URL().String(); reason != Allowed || got != c.want {
			t.Errorf("%s: %s %s, want %s", c.raw, reason, got, c.want)
		}
	}
}

func TestResolveLeavesAnOriginOnlyByName(t *testing.T) {
	t.Parallel()
	from, reason := Read("https://docs.example:8443/a/b?q=1")
	if reason != Allowed {
		t.Fatal(reason)
	}
	for _, c := range []struct {
		location, want string
		reason         Reason
	}{
		{"", "https://docs.example:8443/a/b?q=1", Allowed},
		{"/next", "https://docs.example:8443/next", Allowed},
		{"next?x", "https://docs.example:8443/a/next?x", Allowed},
		{"../../../up", "https://docs.example:8443/up", Allowed},
		{"?only", "https://docs.example:8443/a/b?only", Allowed},
		{"#frag", "https://docs.example:8443/a/b?q=1", Allowed},
		{"/.//evil.example/", "https://docs.example:8443//evil.example/", Allowed},
		{"/@evil.example/", "https://docs.example:8443/@evil.example/", Allowed},
		{"//two.example/x", "https://two.example/x", Allowed},
		{"http://u:p@two.example/x", "http://two.example/x", Allowed},
		{"///evil.example/", "", MissingHostname},
		{"https:evil.example", "", MissingHostname},
		{`/\evil.example`, "", InvalidURL},
		{`\\evil.example`, "", InvalidURL},
		{"\t//evil.example", "", InvalidURL},
		{"https://evil.example\r\nX: y", "", InvalidURL},
		{"//b%C3%BCcher.example/", "", InvalidURL},
		{"//\xff.example/", "", InvalidURL},
		{"javascript:alert(1)", "", UnsupportedScheme},
		{"evil.example:80/", "", InvalidURL},
		{"/" + strings.Repeat("a", MaxURLBytes), "", InvalidURL},
	} {
		next, reason := from.Resolve(c.location)
		if reason != c.reason {
			t.Errorf("%q: %s, want %s", c.location, reason, c.reason)
		} else if reason == Allowed && next.URL().String() != c.want {
			t.Errorf("%q: %s, want %s", c.location, next.URL(), c.want)
		}
	}
}

func TestReadParsedReadsAsRead(t *testing.T) {
	t.Parallel()
	for _, c := range loadCases(t) {
		want, reason := Read(c.URL)
		u, err := url.Parse(c.URL)
		if err != nil || reason == InvalidURL {
			continue // net/url has decoded some of what Read refuses
		}
		got, gotReason := ReadParsed(u)
		if gotReason != reason || got.Origin() != want.Origin() || got.URL().String() != want.URL().String() {
			t.Errorf("%s: %s %s, want %s %s", c.URL, gotReason, got.URL(), reason, want.URL())
		}
	}
	for _, u := range []*url.URL{
		nil,
		{},
		{Scheme: "https"},
		{Scheme: "ftp", Host: "a.example"},
		{Scheme: "https", Opaque: "//a.example"},
		{Scheme: "https", Host: "a.example/b"},
		{Scheme: "https", Host: "u@a.example"},
		{Scheme: "https", Host: "a.example\r\nx"},
		{Scheme: "http", Host: "[fe80::1%eth0]"},
	} {
		if target, reason := ReadParsed(u); reason == Allowed {
			t.Errorf("%v: read as %s", u, target)
		}
	}
}

func TestTargetShowsItsOriginOnly(t *testing.T) {
	t.Parallel()
	target, _ := Read("https://user:hunter2@docs.example/hunter2?hunter2#hunter2")
	inside := struct{ hidden Target }{target}
	shown, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(target), fmt.Sprintf("%v %+v %#v %s %q", target, target, target, target, target),
		fmt.Sprintf("%v %+v %#v", inside, inside, inside), string(shown),
	} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("shown: %s", text)
		}
	}
	if pw, _ := target.User().Password(); pw != "hunter2" {
		t.Errorf("the userinfo is lost")
	}
}

// FuzzRead looks for a URL whose host two readers could disagree on.
func FuzzRead(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add(c.URL)
		for _, location := range c.Redirects {
			f.Add(location)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, reason := Read(raw)
		if reason != Allowed {
			if target != (Target{}) {
				t.Fatalf("%q: refused, but a target is returned", raw)
			}
			checkResolve(t, raw)
			return
		}
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatalf("%q: net/url refuses what was read", raw)
		}
		// What net/url calls the host has this very canonical form.
		if host, _, ok := canonicalHost(bracketed(u)); !ok || host != target.Host {
			t.Fatalf("%q: read %q, net/url reads %q", raw, target.Host, u.Hostname())
		}
		// The canonical URL is a fixed point, for both readers.
		canonical := target.URL().String()
		again, reason := Read(canonical)
		if reason != Allowed && len(canonical) <= MaxURLBytes {
			t.Fatalf("%q: its canonical form %q is refused: %s", raw, canonical, reason)
		}
		if reason == Allowed && again.URL().String() != canonical {
			t.Fatalf("%q: %q reads again as %q", raw, canonical, again.URL())
		}
		v, err := url.Parse(canonical)
		if err != nil || v.Hostname() != target.Host || v.User != nil || v.Fragment != "" {
			t.Fatalf("%q: net/url reads %q otherwise", raw, canonical)
		}
		if target.Addr.IsValid() {
			if addr, err := netip.ParseAddr(v.Hostname()); err != nil || addr != target.Addr {
				t.Fatalf("%q: address %s, host %q", raw, target.Addr, v.Hostname())
			}
		} else if _, err := netip.ParseAddr(target.Host); err == nil {
			t.Fatalf("%q: host %q is an address and was not judged as one", raw, target.Host)
		}
	})
}

// bracketed returns the host of u as it is written in an authority.
func bracketed(u *url.URL) string {
	if strings.HasPrefix(u.Host, "[") {
		return "[" + u.Hostname() + "]"
	}
	return u.Hostname()
}

// checkResolve takes a text as a Location: without a host of its own it must
// stay at the origin.
func checkResolve(t *testing.T, location string) {
	from, _ := Read("https://from.example/a/b")
	next, reason := from.Resolve(location)
	if reason != Allowed {
		return
	}
	ref, err := url.Parse(location)
	if err != nil {
		t.Fatalf("%q: resolved, but net/url refuses it", location)
	}
	if ref.Host == "" && next.Origin() != from.Origin() {
		t.Fatalf("%q: names no host and leads to %s", location, next.Origin())
	}
	if at := next.URL(); at.Host != next.Authority() || at.User != nil {
		t.Fatalf("%q: leads to %s", location, at)
	}
}
