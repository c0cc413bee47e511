package redact

import (
	"strings"
)

// Least lengths, in bytes, of withheld values that are searched for: as they
// are, and in an encoding. Shorter ones occur everywhere by chance.
const (
	leastPlain   = 8
	leastEncoded = 12
)

// Guard remembers every value that is withheld while a report is built. Its
// zero value is ready. Stage one asks, before an atom is shown, whether it
// Repeats such a value. Stage two searches the finished report with Finds. A
// Guard is not safe for concurrent use.
type Guard struct {
	// public are withheld values that equal a text which is shown for its own
	// sake: a password "docker" must not hide the command docker.
	public  map[string]bool
	needles Needles
}

// Withhold adds values that must not be shown, of both sides of a comparison,
// before anything is. Parts of them that are no plain names count as values
// themselves.
func (g *Guard) Withhold(values ...Raw) {
	if g.public == nil {
		g.public = map[string]bool{}
	}
	for _, v := range values {
		g.needles.Add(v.Reveal())
		for _, part := range valueParts(v.Reveal()) {
			g.needles.Add(part)
		}
	}
}

// partSeparators cut a value that holds several things: a command line, a
// header, JSON, a PEM block.
const partSeparators = " \t\r\n\"'`=:,;@/?&#{}[]()<>|$"

// valueParts are the parts of a value that count as values themselves: what has
// a credential's shape, and what is no plain name. It begins with "-" in
// ${NAME:-default}.
func valueParts(s string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(partSeparators, c) }) {
		part = strings.TrimPrefix(part, "-")
		if len(part) >= leastPlain && len(part) < len(s) && (!plainName(part) || LooksLikeCredential(part)) {
			out = append(out, part)
		}
	}
	return out
}

// plainName: words in small letters, as in the names of hosts and programs.
func plainName(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-_.~") == ""
}

// Repeats reports whether an atom that is about to be shown holds a withheld
// value of 8 bytes or more that it does not equal. A part of the atom between
// separators (a path's segment, a package's name) counts as equal: it is shown
// for its own sake, and so is not searched for later.
func (g *Guard) Repeats(atom string) bool {
	repeats := false
	var equal []string
	g.needles.index.each(atom, func(start int, value string) bool {
		if bounded(atom, start, start+len(value)) && !LooksLikeCredential(value) {
			equal = append(equal, value)
			return true
		}
		repeats = true
		return false
	})
	if repeats {
		return true
	}
	for _, value := range equal {
		g.public[value] = true
	}
	return false
}

// Own says that a text is ours and may appear in a report although a withheld
// value happens to equal it or a part of it.
func (g *Guard) Own(text string) {
	g.needles.index.each(text, func(_ int, value string) bool {
		g.public[value] = true
		return true
	})
}

// atomSeparators part the atoms of a shown text.
const atomSeparators = "/\\@:.=,*${}[]()<> "

func bounded(s string, start, end int) bool {
	before := start == 0 || strings.IndexByte(atomSeparators, s[start-1]) >= 0
	after := end == len(s) || strings.IndexByte(atomSeparators, s[end]) >= 0
	return before && after
}

// Finds reports whether a text of a finished report holds a withheld value, as
// it is or, from 12 bytes, in a common encoding. Values that were shown for
// their own sake do not count.
func (g *Guard) Finds(text string) bool {
	if len(g.needles.index) == 0 || len(text) < leastPlain {
		return false
	}
	found := g.holds(text, leastPlain)
	if !found && len(text) >= leastEncoded {
		decodings(text, func(decoded string) { found = found || g.holds(decoded, leastEncoded) })
	}
	return found
}

func (g *Guard) holds(text string, least int) bool {
	found := false
	g.needles.index.each(text, func(_ int, value string) bool {
		found = len(value) >= least && !g.public[value]
		return !found
	})
	return found
}
