package redact

import "strings"

// Least lengths of what the screen takes for a credential.
const (
	leastHex      = 16 // hex digits in a row, at least one of them a digit
	leastScramble = 16 // letters and digits in a row
	leastJWT      = 12 // base64 text that begins like a JSON object
)

// LooksLikeCredential reports whether a text has the shape of a credential or
// holds one: a vendor's prefix, a JSON web token, a PEM block, a UUID, 16 or
// more hex digits, scrambled letters and digits, a password in a URL, or what
// follows Bearer. It only ever withholds more: a secret without a shape
// (hunter2) is withheld by its position.
func LooksLikeCredential(s string) bool {
	if len(s) < 8 {
		return false
	}
	for i := range len(s) {
		if s[i] >= 0x7f || s[i] < ' ' {
			s = onlyPlain(s)
			break
		}
	}
	if strings.Contains(s, "-----BEGIN ") || passwordInURL(s) || schemeCredential(s) {
		return true
	}
	for i := 0; i < len(s); {
		if !isTokenByte(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && isTokenByte(s[end]) {
			end++
		}
		if tokenIsCredential(s[i:end]) {
			return true
		}
		i = end
	}
	return false
}

// onlyPlain drops what could be put between the characters of a credential to
// get it past the screen.
func onlyPlain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f {
			return -1
		}
		return c
	}, s)
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isTokenByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// tokenIsCredential judges a run of letters, digits, dashes and underscores.
func tokenIsCredential(token string) bool {
	for i := range len(token) {
		if i > 0 && isAlnum(token[i-1]) {
			continue
		}
		if beginsLikeCredential(token[i:]) {
			return true
		}
	}
	return scrambledRuns(token)
}

// beginsLikeCredential judges a token from the start of one of its parts.
func beginsLikeCredential(t string) bool {
	for _, p := range vendorPrefixes[t[0]] {
		if rest, ok := strings.CutPrefix(t, p.prefix); ok && len(rest) >= p.least && hasDigitOrUpper(rest) {
			return true
		}
	}
	return strings.HasPrefix(t, "eyJ") && len(t) >= leastJWT || isUUID(t)
}

func hasDigitOrUpper(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// isUUID reports whether t begins with a UUID (RFC 9562) that ends there or at
// no letter or digit.
func isUUID(t string) bool {
	const size = 36
	if len(t) < size || len(t) > size && isAlnum(t[size]) {
		return false
	}
	for i := range size {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (t[i] == '-') || !dash && !isHex(t[i]) {
			return false
		}
	}
	return true
}

// run is what is known of letters and digits in a row.
type run struct {
	length, segments             int
	lower, upper, digit, onlyHex bool
}

// scrambledRuns judges each run of letters and digits in a token, and the token
// as a whole: base64url puts dashes and underscores into a key.
func scrambledRuns(token string) bool {
	var whole run
	for i := 0; i < len(token); {
		if !isAlnum(token[i]) {
			i++
			continue
		}
		end := i
		for end < len(token) && isAlnum(token[end]) {
			end++
		}
		r := measure(token[i:end])
		if r.credential() {
			return true
		}
		whole.add(r)
		i = end
	}
	return whole.lower && whole.upper && whole.digit && whole.length >= leastScramble+4 && whole.length < whole.segments*5/2
}

func (r *run) add(o run) {
	r.length += o.length
	r.segments += o.segments
	r.lower, r.upper, r.digit = r.lower || o.lower, r.upper || o.upper, r.digit || o.digit
}

// credential: words are long stretches of one kind of character (a capital and
// the small letters behind it count as one); keys change kind about every
// second character.
func (r run) credential() bool {
	switch {
	case r.onlyHex && r.digit && r.length >= leastHex:
		return true
	case r.length < leastScramble:
		return false
	case r.digit && r.length >= leastScramble+4 && r.length < r.segments*4:
		return true
	}
	return r.length < r.segments*3
}

// measure counts the stretches of one kind of character.
func measure(s string) run {
	r := run{length: len(s), onlyHex: true}
	last := byte(0)
	for i := range len(s) {
		c := s[i]
		kind := byte('d')
		switch {
		case c >= 'a' && c <= 'z':
			kind, r.lower = 'l', true
		case c >= 'A' && c <= 'Z':
			kind, r.upper = 'u', true
		default:
			r.digit = true
		}
		r.onlyHex = r.onlyHex && isHex(c)
		capital := kind == 'l' && last == 'u' && (i < 2 || !isUpper(s[i-2]))
		if kind != last && !capital {
			r.segments++
		}
		last = kind
	}
	return r
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// passwordInURL finds "://user:password@".
func passwordInURL(s string) bool {
	for {
		_, rest, found := strings.Cut(s, "://")
		if !found {
			return false
		}
		authority := rest
		if end := strings.IndexAny(rest, "/?# \t"); end >= 0 {
			authority = rest[:end]
		}
		if at := strings.LastIndexByte(authority, '@'); at > 0 && strings.IndexByte(authority[:at], ':') >= 0 {
			return true
		}
		s = rest
	}
}

// authSchemes are the words of an Authorization header in front of a credential
// (IANA HTTP Authentication Scheme Registry, and what services made up).
var authSchemes = []string{"bearer ", "basic ", "token ", "apikey ", "digest "}

// schemeCredential finds "Bearer something".
func schemeCredential(s string) bool {
	lower := strings.ToLower(s)
	for _, scheme := range authSchemes {
		at := strings.Index(lower, scheme)
		if at < 0 || at > 0 && isAlnum(lower[at-1]) {
			continue
		}
		value := strings.TrimLeft(s[at+len(scheme):], " ")
		if end := strings.IndexAny(value, " \t\"'"); end >= 0 {
			value = value[:end]
		}
		if len(value) >= 8 && !strings.HasPrefix(value, "$") && hasDigitOrUpper(value) {
			return true
		}
	}
	return false
}
