package review

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Prefix stands in front of a token's digits.
const Prefix = "mcp-review:"

// Token names a record: "mcp-review:" and 64 lowercase hex digits, the SHA-256 of
// the record's statement. The zero Token names none.
type Token struct{ hex string }

// ParseToken reads a token in its one form. Codes: token_malformed, without
// repeating what was given.
func ParseToken(s string) (Token, error) {
	digits, found := strings.CutPrefix(s, Prefix)
	if found && len(digits) == hex.EncodedLen(sha256.Size) && strings.Trim(digits, "0123456789abcdef") == "" {
		return Token{digits}, nil
	}
	return Token{}, fault.New(fault.TokenMalformed, "a token is %q and 64 lowercase hex digits; %s", Prefix, oddity(s, found, digits)).
		WithHint("copy the whole last line that evolve review printed")
}

// oddity says what is wrong without quoting it.
func oddity(s string, found bool, digits string) string {
	switch {
	case strings.ContainsAny(s, " \t\r\n"):
		return "this one holds spaces or a line break"
	case strings.ToLower(s) != s:
		return "this one has capital letters"
	case !found:
		return "this one begins otherwise"
	case strings.Trim(digits, "0123456789abcdef") != "":
		return "this one holds other characters"
	case len(digits) < hex.EncodedLen(sha256.Size):
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

// trailerLine is one line of a trailer block, as git-interpret-trailers(1)
// writes them.
var trailerLine = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)$`)

// TrailerTokens lists the tokens in MCP-Review trailers of commit messages, in
// order, each once. Only the last paragraph of a message counts, only if it is
// not the subject and holds nothing but trailers, and only a well-formed token.
func TrailerTokens(messages []string) []Token {
	var out []Token
	seen := map[Token]bool{}
	for _, m := range messages {
		for _, t := range trailersOf(m) {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

func trailersOf(message string) []Token {
	message = strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n"))
	cut := strings.LastIndex(message, "\n\n")
	if cut < 0 {
		return nil
	}
	var out []Token
	for _, line := range strings.Split(strings.TrimSpace(message[cut:]), "\n") {
		m := trailerLine.FindStringSubmatch(line)
		switch {
		case m == nil && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")):
			// a continuation line of the trailer above
		case m == nil:
			return nil
		case strings.EqualFold(m[1], "MCP-Review"):
			if t, err := ParseToken(strings.TrimSpace(m[2])); err == nil {
				out = append(out, t)
			}
		}
	}
	return out
}
