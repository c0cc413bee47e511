package safetext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable ASCII, the only bytes that a result holds.
const (
	firstPrintable = 0x20
	lastPrintable  = 0x7e
)

// Terminal returns s with every character outside printable ASCII written as
// \u{hex}, and every byte that is no UTF-8 as \x{hex}. Line breaks are escaped
// too: one value stays on one line and cannot imitate the next.
//
// A backslash stays as it is, so applying Terminal twice changes nothing more;
// text that already spells an escape cannot be told from one of ours.
func Terminal(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x{` + strconv.FormatUint(uint64(s[i]), 16) + `}`)
		case r < firstPrintable || r > lastPrintable:
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		default:
			b.WriteByte(byte(r))
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < firstPrintable || s[i] > lastPrintable {
			return false
		}
	}
	return true
}
