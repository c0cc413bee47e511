package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func guardOf(values ...string) *Guard {
	g := &Guard{}
	for _, v := range values {
		g.Withhold(NewRaw(v))
	}
	return g
}

func TestAnAtomThatRepeatsAValueIsWithheld(t *testing.T) {
	t.Parallel()
	g := guardOf("hunter2-prod", "docker", "docs-server", "short")
	for atom, want := range map[string]bool{
		"acme-hunter2-prod-mcp":        true,
		"docker":                       false,
		"dockerish":                    false, // values under 8 bytes occur by chance
		"agent/mcp/docs-server.yaml":   false, // equals a part
		"mcp.call:docs-server":         false,
		"agent/mcp/docs-servers2.yaml": true,
		"":                             false,
	} {
		if got := g.Repeats(atom); got != want {
			t.Errorf("Repeats(%q) = %v", atom, got)
		}
	}
}

func TestTheLastGuardFindsValuesAndTheirEncodings(t *testing.T) {
	t.Parallel()
	const secret = "Winter-2026+pass/word!"
	g := guardOf(secret, "docs-server", "hunter2!", "multi\nline SecretPart9x8y7z6w5v4u")
	if g.Repeats("docs-server") {
		t.Fatal("an equal atom is withheld")
	}
	for _, leak := range []string{
		"--password=" + secret,
		"hunter2!", "xhunter2!x",
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.URLEncoding.EncodeToString([]byte("u:" + secret + "\n")),
		base64.StdEncoding.EncodeToString([]byte("x" + secret + "trailing")),
		hex.EncodeToString([]byte("__" + secret)),
		strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"Winter-2026%2Bpass%2Fword%21",
		"SecretPart9x8y7z6w5v4u",
	} {
		if !g.Finds(leak) {
			t.Errorf("%q is not found", leak)
		}
	}
	for _, fine := range []string{
		"", "Winter", "docs-server", "mcp.call:docs-server",
		base64.StdEncoding.EncodeToString([]byte("hunter2!")), // too short to tell from chance
	} {
		if g.Finds(fine) {
			t.Errorf("%q is found", fine)
		}
	}
}

func TestOwnWordsAreNoLeak(t *testing.T) {
	t.Parallel()
	g := guardOf("streamable_http", "redacted", "ble_http")
	g.Own("streamable_http")
	g.Own("<redacted>")
	for _, s := range []string{"streamable_http", "<redacted>"} {
		if g.Finds(s) {
			t.Errorf("%q is found", s)
		}
	}
}

func TestTheZeroGuardFindsNothing(t *testing.T) {
	t.Parallel()
	var g Guard
	g.Own("anything at all")
	if g.Repeats("anything at all") || g.Finds("anything at all") {
		t.Error("a value was found that nobody withheld")
	}
}

// FuzzGuard: whatever surrounds a value or its encoding, it is found.
func FuzzGuard(f *testing.F) {
	f.Add("correct horse battery", "before", "behind")
	f.Add("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", "\x00", "==")
	f.Fuzz(func(t *testing.T, secret, before, behind string) {
		if len(secret) < leastEncoded || len(secret) > maxNeedle {
			return
		}
		g := guardOf(secret)
		all := before + secret + behind
		for _, form := range []string{
			secret, all,
			"<" + base64.StdEncoding.EncodeToString([]byte(all)) + ">",
			"=" + base64.RawURLEncoding.EncodeToString([]byte(all)),
			"x" + hex.EncodeToString([]byte(all)),
			strings.ToUpper(hex.EncodeToString([]byte(all))),
			url.QueryEscape(all), url.PathEscape(all),
		} {
			if !g.Finds(form) {
				t.Fatalf("%q is not found in %q", secret, form)
			}
		}
		if quoted, err := json.Marshal(all); utf8.ValidString(all) && err == nil && !g.Finds(string(quoted)) {
			t.Fatalf("%q is not found in %s", secret, quoted)
		}
		if shown := string(Escape(all)); !strings.Contains(all, "\\") && !g.Finds(shown) {
			t.Fatalf("%q is not found in %s", secret, shown)
		}
	})
}
