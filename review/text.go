package review

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// oneLine reports whether s is UTF-8 on one line, without control characters.
func oneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// ShellWord writes a ref or path into a command that a person may copy: quoted
// for a POSIX shell unless it holds plain characters only, and escaped.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/+-", r)
	}
	if s != "" && !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return safetext.Terminal("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
}

// brief abbreviates an id for a sentence or a command; decisions use the whole.
func brief(id gitrepo.ID) string {
	const digits = 12
	return string(id[:min(digits, len(id))])
}
