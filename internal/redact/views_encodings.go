package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
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
	return append(out, url.QueryEscape(v), url.PathEscape(v), percent, jsonEscape(v), jsonUnicode(v), string(Escape(v)),
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

func jsonEscape(v string) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) < 2 {
		return v
	}
	return string(b[1 : len(b)-1])
}

func jsonUnicode(v string) string {
	var b strings.Builder
	for _, c := range v {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}
