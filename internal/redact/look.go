package redact

import (
	"strings"
	"unicode"
)

// Looks says what a text holds that an eye or a terminal would misread.
type Looks struct {
	Control   bool // control characters but tab and line breaks
	Bidi      bool // characters that reorder a line (Unicode UAX #9)
	Invisible bool // characters without a glyph
	LookAlike bool // letters that are drawn like Latin ones
}

// Look inspects a text.
func Look(s string) Looks {
	var l Looks
	for _, c := range s {
		switch {
		case c == '\t' || c == '\n' || c == '\r' || c >= ' ' && c < 0x7f:
		case c < ' ' || c >= 0x7f && c <= 0x9f:
			l.Control = true
		case isBidi(c):
			l.Bidi = true
		case unicode.Is(unicode.Cf, c) || c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0 ||
			c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef:
			l.Invisible = true
		case IsLookAlike(c):
			l.LookAlike = true
		}
	}
	return l
}

// isBidi: the explicit directional formatting characters of UAX #9.
func isBidi(c rune) bool {
	return c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == 0x200e || c == 0x200f || c == 0x061c
}

// lookAlikes are the Cyrillic, Greek, Armenian and Latin Extended letters that
// common fonts draw like a basic Latin letter (a selection of Unicode UTS #39,
// confusables.txt).
const lookAlikes = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0432\u043a\u043c\u043d\u0442" +
	"\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u04ae\u0474\u050c\u051c" +
	"\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5\u03c7\u03f2" +
	"\u0555\u0585\u0570\u0578\u057d\u0566\u0261\u0131\u0251\u1d04\u1d0f\u1d20\u1d21\u1d22"

// IsLookAlike reports whether a letter outside ASCII is drawn like one inside.
func IsLookAlike(c rune) bool {
	return strings.ContainsRune(lookAlikes, c) ||
		c >= 0xff01 && c <= 0xff5e || // full width forms
		c >= 0x1d400 && c <= 0x1d7ff // mathematical letters and digits
}
