package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Limits of an exposed name. OpenAI takes ^[a-zA-Z0-9_-]{1,64}$, Gemini wants a
// letter or an underscore first, Anthropic takes 128 characters.
const (
	maxName    = 64
	nameDigits = 8 // hex digits of the hash behind a changed name
)

// exposedName is the name under which a model sees a tool: <server>__<tool> in
// the characters that every provider takes. A name that mapping or cutting
// changed ends in "-" and 8 hex digits of SHA-256(server, NUL, tool), so that
// two tools that were mapped to one text stay two. The result is never parsed.
func exposedName(server, tool string) string {
	whole := server + "__" + tool
	mapped := strings.Map(func(r rune) rune {
		if plainNameChar(r) {
			return r
		}
		return '_'
	}, whole)
	if !isLetter(mapped[0]) {
		mapped = "s" + mapped
	}
	if mapped == whole && len(mapped) <= maxName && !looksHashed(mapped) {
		return mapped
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	suffix := "-" + hex.EncodeToString(sum[:nameDigits/2])
	return mapped[:min(len(mapped), maxName-len(suffix))] + suffix
}

// looksHashed reports whether a name already ends like one that was changed. It
// counts as changed itself, or a server could choose another tool's name.
func looksHashed(name string) bool {
	at := len(name) - nameDigits - 1
	return at >= 0 && name[at] == '-' && strings.Trim(name[at+1:], "0123456789abcdef") == ""
}

func plainNameChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// glob matches a whole name, case and all; "*" stands for any text, also none.
func glob(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, last)
}

// exposes applies a declaration's filters: exclude wins, an empty include means
// all.
func (d Declaration) exposes(tool string) bool {
	for _, f := range d.d.Exclude {
		if glob(f.Reveal(), tool) {
			return false
		}
	}
	for _, f := range d.d.Include {
		if glob(f.Reveal(), tool) {
			return true
		}
	}
	return len(d.d.Include) == 0
}
