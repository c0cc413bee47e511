package redact

import (
	"strings"
	"testing"
)

func TestShowByPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    Position
		in   string
		want Shown
		v    Verdict
	}{
		{Command, "npx", "npx", Passed},
		{Command, "npx -y x", Withheld, BadGrammar},
		{Command, "sh\x1b[2Kx", `sh\u{1b}[2Kx`, Passed},
		{Command, "", Withheld, BadGrammar},
		{Command, "\xff", Withheld, BadGrammar},
		{Directory, "../../..", "../../..", Passed},
		{Directory, "tools\u2066/x", `tools\u{2066}/x`, Passed},
		{EnvName, "\u0410PI_TOKEN", `\u{410}PI_TOKEN`, Passed},
		{EnvName, "API TOKEN", Withheld, BadGrammar},
		{EnvName, "A\u00a0B", Withheld, BadGrammar},
		{Key, join("gh", "p_2H0O5JD8iLOa786Tx7T21c86hgCKmkR4eRFp"), Withheld, IsCredential},
		{Key, "autoApprove", "autoApprove", Passed},
		{HostName, "mcp.acme.test", "mcp.acme.test", Passed},
		{HostName, "d41d8cd98f00b204e980.mcp.test", Withheld, IsCredential},
		{Image, "acme/x-mcp@sha256:" + strings.Repeat("ab", 32), Shown("acme/x-mcp@sha256:" + strings.Repeat("ab", 32)), Passed},
		{Image, "acme/x-mcp@sha1:" + strings.Repeat("ab1", 12), Withheld, IsCredential},
		{Package, "@acme/docs-mcp@^1.4.2", "@acme/docs-mcp@^1.4.2", Passed},
		{Package, "acme mcp", Withheld, BadGrammar},
		{Filter, "search_*", "search_*", Passed},
		{Capability, "mcp.call:docs", "mcp.call:docs", Passed},
	} {
		if got, v := Show(c.p, NewRaw(c.in)); got != c.want || v != c.v {
			t.Errorf("Show(%d, %q) = %q, %d; want %q, %d", c.p, c.in, got, v, c.want, c.v)
		}
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	f := NewFingerprinter([]byte(strings.Repeat("k", KeyBytes)))
	v := NewRaw("4711-22")
	a := f.Value("f", "args", 2, v)
	if !strings.HasPrefix(string(a), "<value #") || !strings.HasSuffix(string(a), " 1-7>") || len(a) != len("<value #12345678 1-7>") {
		t.Fatalf("Value = %q", a)
	}
	if b := f.Value("f", "args", 2, NewRaw("4711-22")); a != b {
		t.Errorf("equal values differ: %q, %q", a, b)
	}
	for _, other := range []Shown{
		f.Value("g", "args", 2, v), f.Value("f", "env", 2, v), f.Value("f", "args", 3, v),
		f.Value("f", "args", 2, NewRaw("4711-23")),
		NewFingerprinter([]byte(strings.Repeat("l", KeyBytes))).Value("f", "args", 2, v),
	} {
		if other == a {
			t.Errorf("%q where another fingerprint is due", other)
		}
	}
	if got := (Fingerprinter{}).Value("f", "args", 2, v); got != "<value 1-7>" {
		t.Errorf("without a key: %q", got)
	}
	if got := f.Class("absolute path", "f", "args", 0, NewRaw("/")); !strings.HasPrefix(string(got), "<absolute path #") {
		t.Errorf("Class = %q", got)
	}
}

func TestLengthClass(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 1: "1-7", 7: "1-7", 8: "8-15", 15: "8-15", 16: "16-31", 31: "16-31", 32: "32-63", 63: "32-63", 64: "64+", 1 << 20: "64+"} {
		if got := LengthClass(n); got != want {
			t.Errorf("LengthClass(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzShow(f *testing.F) {
	f.Add(0, "API_TOKEN")
	f.Add(4, "sh\x1b[2K")
	f.Fuzz(func(t *testing.T, p int, s string) {
		if p < 0 || p >= len(grammars) {
			return
		}
		got, v := Show(Position(p), NewRaw(s))
		if strings.IndexFunc(string(got), func(c rune) bool { return c < ' ' || c > '~' }) >= 0 {
			t.Fatalf("Show(%d, %q) = %q", p, s, got)
		}
		if (v != Passed) != (got == Withheld) {
			t.Fatalf("Show(%d, %q) = %q, %d", p, s, got, v)
		}
	})
}
