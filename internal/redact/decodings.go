package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Least lengths of a run that could be an encoding of leastEncoded bytes.
const (
	leastBase64Run = leastEncoded * 4 / 3
	leastHexRun    = leastEncoded * 2
)

// decodings calls f with what a text holds in a common encoding: base64 (both
// alphabets, at every offset), hex, URL-encoding, JSON and terminal escapes. It
// is the text that is decoded, not the values that are encoded: nearly no text
// of a report could be an encoding at all, so this costs next to nothing.
func decodings(text string, f func(decoded string)) {
	runs(text, isBase64, leastBase64Run, func(run string) {
		std := strings.NewReplacer("-", "+", "_", "/").Replace(run)
		for offset := range 4 {
			part := std[offset:]
			if len(part)%4 == 1 {
				part = part[:len(part)-1]
			}
			if b, err := base64.RawStdEncoding.DecodeString(part); err == nil {
				f(string(b))
			}
		}
	})
	runs(text, isHex, leastHexRun, func(run string) {
		for offset := range 2 {
			part := run[offset:]
			if b, err := hex.DecodeString(part[:len(part)&^1]); err == nil {
				f(string(b))
			}
		}
	})
	if strings.IndexByte(text, '%') >= 0 {
		plain := unescape(text, '%')
		f(plain)
		f(strings.ReplaceAll(plain, "+", " "))
		// A plus sign that was encoded itself is not a space.
		f(unescape(strings.ReplaceAll(text, "+", " "), '%'))
	} else if strings.IndexByte(text, '+') >= 0 {
		f(strings.ReplaceAll(text, "+", " "))
	}
	if strings.IndexByte(text, '\\') >= 0 {
		f(unescape(text, '\\'))
	}
}

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' }

func runs(text string, in func(byte) bool, least int, f func(run string)) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && in(text[i]) {
			i++
		}
		if i-start >= least {
			f(text[start:i])
		}
	}
}

// unescape resolves every escape that begins with mark, and leaves what is none.
func unescape(s string, mark byte) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == mark {
			if decoded, size := escapeAt(s[i:], mark); size > 0 {
				b.WriteString(decoded)
				i += size
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// simpleEscapes are the escapes of JSON that are one letter.
const simpleEscapes = "n\nt\tr\rb\bf\f\"\"\\\\//"

// escapeAt reads one escape: %41, \n, \x41, \u0041, \x{41}, \u{41}.
func escapeAt(s string, mark byte) (decoded string, size int) {
	if mark == '%' {
		return hexEscape(s, 1, 2, true)
	}
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case 'x', 'u':
		if len(s) > 2 && s[2] == '{' {
			end := strings.IndexByte(s, '}')
			if end < 0 {
				return "", 0
			}
			decoded, size = hexEscape(s[:end], 3, end-3, s[1] == 'x')
			if size > 0 {
				size++
			}
			return decoded, size
		}
		if s[1] == 'x' {
			return hexEscape(s, 2, 2, true)
		}
		return hexEscape(s, 2, 4, false)
	}
	for i := 0; i < len(simpleEscapes); i += 2 {
		if simpleEscapes[i] == s[1] {
			return simpleEscapes[i+1 : i+2], 2
		}
	}
	return "", 0
}

// hexEscape reads digits hex digits at start, as a byte or a character.
func hexEscape(s string, start, digits int, asByte bool) (decoded string, size int) {
	if digits < 1 || digits > 6 || len(s) < start+digits {
		return "", 0
	}
	n, err := strconv.ParseUint(s[start:start+digits], 16, 32)
	switch {
	case err != nil:
		return "", 0
	case asByte && n < 0x100:
		return string([]byte{byte(n)}), start + digits
	case n > utf8.MaxRune:
		return "", 0
	}
	return string(rune(n)), start + digits
}
