package review

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Prefix stands in front of a token's digits.
const Prefix = "mcp-review:"

// tokenDigits is the number of hex digits of a token.
const tokenDigits = 2 * sha256.Size

// Token names a record: "mcp-review:" and 64 lowercase hex digits, the SHA-256 of
// the record's statement. The zero Token names none, and is refused as malformed.
type Token struct{ hex string }

// ParseToken reads a token in its one form. Codes: token_malformed, without
// repeating what was given.
func ParseToken(s string) (Token, error) {
	digits, found := strings.CutPrefix(s, Prefix)
	if found && isDigest(digits) {
		return Token{digits}, nil
	}
	return Token{}, malformed(oddity(s, found, digits))
}

func malformed(oddity string) *fault.Fault {
	return fault.New(fault.TokenMalformed, "a token is %q and %d lowercase hex digits; %s", Prefix, tokenDigits, oddity).
		WithHint("copy the whole last line that evolve review printed")
}

// oddity says what is wrong without quoting it.
func oddity(s string, found bool, digits string) string {
	switch {
	case s == "":
		return "this one is empty"
	case strings.ContainsAny(s, " \t\r\n"):
		return "this one holds spaces or a line break"
	case strings.ToLower(s) != s:
		return "this one has capital letters"
	case !found:
		return "this one begins otherwise"
	case !isHex(digits):
		return "this one holds other characters"
	case len(digits) < tokenDigits:
		return "this one is cut short"
	}
	return "this one is too long"
}

// tokenOf is the token of a statement's bytes.
func tokenOf(statement []byte) Token {
	sum := sha256.Sum256(statement)
	return Token{hex.EncodeToString(sum[:])}
}

// String is the token as it is named everywhere.
func (t Token) String() string { return Prefix + t.hex }

// Hex is the token's digits, which name its record's ref.
func (t Token) Hex() string { return t.hex }

// short is enough of a token for a person to tell it by.
func (t Token) short() string {
	const digits = 12
	return Prefix + t.hex[:min(digits, len(t.hex))] + "..."
}

// isHex reports whether s holds nothing but lowercase hex digits.
func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// isDigest reports whether s is a SHA-256 in lowercase hex.
func isDigest(s string) bool { return len(s) == tokenDigits && isHex(s) }
