package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encodings lists the common forms of a value: base64 (both alphabets, at the
// three offsets it can have within other text), hex, URL-encoding, JSON and
// terminal escapes. Package users show texts of any size, so it is the few
// secrets that are encoded, not the text that is decoded.
func encodings(v string) []string {
	out := []string{hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v)))}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			out = append(out, base64At(enc, v, offset))
		}
	}
	percent := percentAll(v)
	out = append(out, jsonEscapes(v)...)
	return append(out, url.QueryEscape(v), url.PathEscape(v), percent, string(Escape(v)),
		lowerPercent(percent), lowerPercent(url.QueryEscape(v)), lowerPercent(url.PathEscape(v)))
}

// base64At is the part of the base64 of a value that does not depend on what
// stands before and behind it, if offset bytes stand before it.
func base64At(enc *base64.Encoding, v string, offset int) string {
	const bits, sextet = 8, 6
	full := enc.EncodeToString([]byte(strings.Repeat("\x00", offset) + v))
	start := (offset*bits + sextet - 1) / sextet
	end := (offset + len(v)) * bits / sextet
	return full[start:end]
}

func percentAll(v string) string {
	var b strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&b, "%%%02X", v[i])
	}
	return b.String()
}

// lowerPercent writes percent escapes with small hex digits.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// jsonEscapes are the ways in which encoders of JSON write a text: Go's, which
// escapes what HTML would read; most others', which do not; those that escape
// slashes, or everything beyond ASCII, or that and what HTML would read, with
// small or capital digits; every character; and JSON within JSON.
func jsonEscapes(v string) []string {
	plain := jsonEscape(v, false)
	out := []string{jsonEscape(v, true), plain, jsonEscape(plain, false)}
	for _, format := range []string{`\u%04x`, `\u%04X`} {
		ascii := jsonUnits(plain, format, func(c rune) bool { return c >= utf8.RuneSelf })
		html := jsonUnits(strings.ReplaceAll(plain, `\"`, `"`), format, func(c rune) bool {
			return c >= utf8.RuneSelf || strings.ContainsRune("<>&'+\"`", c)
		})
		out = append(out, ascii, strings.ReplaceAll(ascii, "/", `\/`), jsonEscape(ascii, false), html, jsonEscape(html, false),
			jsonUnits(v, format, func(rune) bool { return true }))
	}
	return out
}

func jsonEscape(v string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	text := ""
	if enc.Encode(v) == nil {
		text = strings.TrimSuffix(b.String(), "\n")
	}
	if len(text) < 2 {
		return v
	}
	return text[1 : len(text)-1]
}

// jsonUnits writes the characters that escape names as escapes of UTF-16 units
// (RFC 8259, section 7), in the given format.
func jsonUnits(s, format string, escape func(rune) bool) string {
	var b strings.Builder
	for _, c := range s {
		if !escape(c) {
			b.WriteRune(c)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			fmt.Fprintf(&b, format, unit)
		}
	}
	return b.String()
}
