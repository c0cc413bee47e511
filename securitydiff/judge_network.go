package securitydiff

import (
	"context"
	"errors"
	"net/netip"
	"strings"

	"github.com/evolve-mcp/evolve/internal/netguard"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// isMetadata reports whether a host is a cloud metadata service, which hands out
// credentials to whoever asks from the machine: by its address in any notation,
// or by its published name. Nothing is looked up.
func isMetadata(ctx context.Context, host string) bool {
	policy := netguard.Policy{Resolver: offline{}}
	d := policy.Decide(ctx, "http://"+host)
	return d.Reason == netguard.MetadataAddress || d.Reason == netguard.MetadataHostname
}

// offline is a resolver that knows no name.
type offline struct{}

var errOffline = errors.New("a report looks nothing up")

// LookupHost implements netguard.Resolver.
func (offline) LookupHost(context.Context, string) ([]string, error) { return nil, errOffline }

// judgeNetwork: where the server is, and what is sent there.
func judgeNetwork(ctx context.Context, v *verdicts, before, after *view, args []argPair) {
	if after.d.URL.Len() > 0 {
		judgeURL(ctx, v, before, after)
	}
	for _, p := range args {
		if p.after != nil && (p.before == nil || p.before.raw != p.after.raw) {
			judgeArgNetwork(ctx, v, p)
		}
	}
}

func judgeURL(ctx context.Context, v *verdicts, before, after *view) {
	u := after.url
	var old *urlView
	if before != nil && before.d.URL.Len() > 0 {
		old = &before.url
	}
	if old == nil || !strings.EqualFold(old.host, u.host) || old.port != u.port && port(*old) != port(u) {
		v.add("new-network-origin", High, "url.host")
		if old != nil && carriesCredential(before) && carriesCredential(after) {
			v.add("credential-to-new-origin", Critical, "url.host")
		}
	}
	if u.scheme == "http" && (old == nil || old.scheme != "http") && !isLoopback(u.host) {
		v.add("plaintext-transport", High, "url.scheme")
	}
	if isMetadata(ctx, u.host) {
		v.add("metadata-target", Critical, "url.host")
	}
}

func port(u urlView) string {
	switch {
	case u.port != "":
		return u.port
	case u.scheme == "https":
		return "443"
	}
	return "80"
}

func carriesCredential(w *view) bool {
	if w.url.hasSecret() {
		return true
	}
	for _, h := range w.headers {
		if h.kind != valueEmpty && (h.kind != valueLiteral || secretLiteral(h) || redact.SecretName(h.name)) {
			return true
		}
	}
	return false
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}

// judgeArgNetwork: URLs among the arguments, and addresses to listen on.
func judgeArgNetwork(ctx context.Context, v *verdicts, p argPair) {
	a := *p.after
	field := argField(p.j, p.after)
	if m := urlForm.FindStringSubmatch(a.value); m != nil && a.kind != argScript {
		old := ""
		if p.before != nil {
			if o := urlForm.FindStringSubmatch(p.before.value); o != nil {
				old = o[3]
			}
		}
		if !strings.EqualFold(old, m[3]) {
			v.add("new-network-origin", High, field)
		}
		if strings.EqualFold(m[1], "http") && !isLoopback(m[3]) {
			v.add("plaintext-transport", High, field)
		}
		if isMetadata(ctx, m[3]) {
			v.add("metadata-target", Critical, field)
		}
	}
	value := a.value
	if value == "" {
		_, value, _ = strings.Cut(a.raw, "=")
	}
	host := strings.TrimSuffix(value, ":"+lastColon(value))
	if isListenOption(a.option) && (allInterfaces[value] || allInterfaces[host]) {
		v.add("listen-all-interfaces", High, field)
	}
	if a.kind != argOption && allInterfaces[a.raw] {
		v.add("listen-all-interfaces", High, field)
	}
}

func lastColon(s string) string {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		return s[i+1:]
	}
	return s
}

var allInterfaces = set("0.0.0.0 :: [::] * 0")

func isListenOption(option string) bool {
	name := strings.TrimLeft(option, "-")
	for _, w := range []string{"host", "bind", "listen", "address", "addr", "ip", "interface", "hostname"} {
		if name == w || strings.HasSuffix(name, "-"+w) {
			return true
		}
	}
	return false
}
