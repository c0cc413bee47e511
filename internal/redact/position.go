package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Position is a place in a declaration whose text may be shown if it passes the
// grammar of that place and the credential screen.
type Position int

// The positions.
const (
	Key        Position = iota // a field name, a tool's name
	EnvName                    // the name of an environment variable, also within ${NAME}
	HeaderName                 // a header's name (RFC 9110, without the rare marks)
	QueryName                  // the name of a query parameter
	Command                    // a program, by name or path
	Directory                  // cwd
	OptionName                 // -x, --word, /word
	HostName                   // a host in ASCII, or an address
	Capability                 // mcp.call:docs, mcp.*
	Filter                     // a tool filter, with *
	FilePath                   // a path in the repository
	Package                    // what a package runner is given: @scope/name@1.2.3
	Image                      // a container image, with tag or digest
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// grammar is what a text of one position may be made of. It may not be empty.
type grammar struct {
	maximum int    // bytes
	first   string // characters that it may begin with
	rest    string // characters that may follow
}

// grammars is the table of positions.
var grammars = [...]grammar{
	Key:        {64, letters + digits + "_$", letters + digits + "_.-"},
	EnvName:    {128, letters + "_", letters + digits + "_.()-"},
	HeaderName: {64, letters + digits, letters + digits + "-_."},
	QueryName:  {64, letters + "_$", letters + digits + "_.$[]-"},
	Command:    {200, letters + digits + "_@~./\\$%", letters + digits + `_@~./\:+()[]{}$%-`},
	Directory:  {400, letters + digits + "_@~./\\$%", letters + digits + `_@~./\:+()[]{}$%-`},
	OptionName: {64, "-/", letters + digits + "_.-"},
	HostName:   {255, letters + digits + "[:", letters + digits + ".-:[]_"},
	Capability: {128, letters + digits + "*", letters + digits + "._:*/-"},
	Filter:     {128, letters + digits + "_*", letters + digits + "_.*/:-"},
	FilePath:   {1024, letters + digits + "_@~./+()[]{}$,=#-", letters + digits + "_@~./+()[]{}$,=# &'!%-"},
	Package:    {214, letters + digits + "@._", letters + digits + "@._/[],=<>~^:+*-"},
	Image:      {255, letters + digits, letters + digits + "._/:@-"},
}

// Verdict is why a text may be shown or not.
type Verdict int

// The verdicts.
const (
	Passed       Verdict = iota
	BadGrammar           // it breaks the grammar of its position
	IsCredential         // it has the shape of a credential
)

// Show returns what may be printed of a text at a position: the text itself,
// escaped, if it passes the position's grammar and the credential screen, else
// Withheld. Characters that are not printable ASCII pass in the place of a
// letter, since they come out as escapes; Look says which they are.
func Show(p Position, r Raw) (Shown, Verdict) {
	text := r.Reveal()
	if !inGrammar(grammars[p], text) {
		return Withheld, BadGrammar
	}
	if LooksLikeCredential(screened(p, text)) {
		return Withheld, IsCredential
	}
	return Escape(text), Passed
}

// Name returns what may be printed of a field's or an entry's name.
func Name(r Raw) Shown {
	s, _ := Show(Key, r)
	return s
}

func inGrammar(g grammar, text string) bool {
	if text == "" || len(text) > g.maximum || !utf8.ValidString(text) {
		return false
	}
	allowed := g.first
	for _, c := range text {
		switch {
		case c >= utf8.RuneSelf || c < ' ' || c == 0x7f:
			if unicode.IsSpace(c) && c > ' ' {
				return false // a separator that is no letter to any eye
			}
		case strings.IndexByte(allowed, byte(c)) < 0:
			return false
		}
		allowed = g.rest
	}
	return true
}

// screened is the part of a text that the screen judges. The digest of an image
// names public content and has the shape of a key.
func screened(p Position, text string) string {
	if p != Image {
		return text
	}
	const mark, size = "@sha256:", 64
	at := strings.Index(text, mark)
	if at < 0 || len(text)-at-len(mark) != size || strings.Trim(text[at+len(mark):], digits+"abcdef") != "" {
		return text
	}
	return text[:at]
}
