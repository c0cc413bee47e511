package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

const digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseToken(t *testing.T) {
	good, err := ParseToken(Prefix + digits)
	if err != nil || good.String() != Prefix+digits || good.Hex() != digits {
		t.Fatalf("%v, %v", good, err)
	}
	for name, s := range map[string]string{
		"empty":             "",
		"prefix alone":      Prefix,
		"digits alone":      digits,
		"63 digits":         Prefix + digits[1:],
		"65 digits":         Prefix + digits + "0",
		"capital digits":    Prefix + strings.ToUpper(digits),
		"capital prefix":    "MCP-REVIEW:" + digits,
		"leading space":     " " + Prefix + digits,
		"trailing space":    Prefix + digits + " ",
		"line break":        Prefix + digits + "\n",
		"CRLF":              Prefix + digits + "\r\n",
		"NUL":               Prefix + digits[:63] + "\x00",
		"no hex":            Prefix + "g" + digits[1:],
		"full-width digits": Prefix + "０" + digits[3:],
		"an escape":         Prefix + "\x1b[31m" + digits,
		"a short one":       "secret-that-must-not-be-echoed",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseToken(s)
			if len(s) > len(Prefix) {
				wantCode(t, err, fault.TokenMalformed, s)
			} else {
				wantCode(t, err, fault.TokenMalformed)
			}
		})
	}
}

// TestTrailerTokens holds the trailers that are read against Git's own reading:
// what we take, Git takes.
func TestTrailerTokens(t *testing.T) {
	a, b := Prefix+digits, Prefix+strings.Repeat("a", 64)
	repo := gittest.New(t)
	for name, c := range map[string]struct {
		message string
		want    []string
	}{
		"one":                          {"Subject\n\nMCP-Review: " + a + "\n", []string{a}},
		"any letter case of its name":  {"Subject\n\nmcp-review: " + a + "\n", []string{a}},
		"two, and others":              {"Subject\n\nBody\n\nMCP-Review: " + b + "\nSigned-off-by: A <a@b>\nMCP-Review: " + a, []string{b, a}},
		"twice the same":               {"S\n\nMCP-Review: " + a + "\nMCP-Review: " + a, []string{a}},
		"CRLF":                         {"S\r\n\r\nMCP-Review: " + a + "\r\n", []string{a}},
		"blank lines of spaces":        {"S\n \t\nMCP-Review: " + a + "\n  \n", []string{a}},
		"beside a cherry-pick's line":  {"S\n\nMCP-Review: " + a + "\n(cherry picked from commit 0123)\n", []string{a}},
		"beside a folded trailer":      {"S\n\nNote: long\n and longer\nMCP-Review: " + a + "\n", []string{a}},
		"spaces before the colon":      {"S\n\nMCP-Review : " + a + "\n", []string{a}},
		"the subject is none":          {"MCP-Review: " + a + "\n", nil},
		"not in the middle":            {"S\n\nMCP-Review: " + a + "\n\nThe end.\n", nil},
		"not within prose":             {"S\n\nsee\nMCP-Review: " + a + "\n", nil},
		"not in another trailer":       {"S\n\nSee-MCP-Review: " + a + "\n", nil},
		"malformed":                    {"S\n\nMCP-Review: " + strings.ToUpper(a) + "\nMCP-Review: " + a[:70] + "\n", nil},
		"with something behind":        {"S\n\nMCP-Review: " + a + " (mine)\n", nil},
		"with something folded behind": {"S\n\nMCP-Review: " + a + "\n and more\n", nil},
		"empty":                        {"", nil},
		"blank":                        {"\n\n \n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, token := range TrailerTokens([]string{c.message}) {
				got = append(got, token.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v", got)
			}
			git := repo.GitInput(c.message, "interpret-trailers", "--parse", "--no-divider")
			for _, token := range got {
				if !strings.Contains(strings.ToLower(git), "mcp-review: "+token) {
					t.Errorf("Git reads %q", git)
				}
			}
		})
	}
	if got := TrailerTokens([]string{"S\n\nMCP-Review: " + b, "S\n\nMCP-Review: " + a, "S\n\nMCP-Review: " + b}); len(got) != 2 || got[0].String() != b {
		t.Errorf("of several messages: %v", got)
	}
}
