package redact

import (
	"fmt"
	"log/slog"
	"strings"
)

// placeholder is what every formatting method of Raw prints.
const placeholder = "<raw>"

// Raw is text that came from a declaration and has not been judged. Every way
// of formatting it (fmt, JSON, slog, text) prints a constant; only Reveal
// returns the text. The text is behind a pointer so that fmt's reflection over
// unexported fields prints an address and never the text.
type Raw struct{ p *string }

// NewRaw wraps s.
func NewRaw(s string) Raw { return Raw{&s} }

// Reveal returns the text. Call it where a decision is made about the text or
// where a process or request is built, never where something is printed.
func (r Raw) Reveal() string {
	if r.p == nil {
		return ""
	}
	return *r.p
}

// Set reports whether r was given a text, which may be empty.
func (r Raw) Set() bool { return r.p != nil }

// Len is the length of the text in bytes.
func (r Raw) Len() int { return len(r.Reveal()) }

// Equal reports whether both hold the same text.
func (r Raw) Equal(o Raw) bool { return r.Set() == o.Set() && r.Reveal() == o.Reveal() }

// Compare orders by the text, bytewise.
func (r Raw) Compare(o Raw) int { return strings.Compare(r.Reveal(), o.Reveal()) }

// String returns a constant.
func (Raw) String() string { return placeholder }

// GoString returns a constant.
func (Raw) GoString() string { return placeholder }

// Format prints a constant for every verb and flag.
func (Raw) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(placeholder)) }

// MarshalText returns a constant.
func (Raw) MarshalText() ([]byte, error) { return []byte(placeholder), nil }

// LogValue returns a constant.
func (Raw) LogValue() slog.Value { return slog.StringValue(placeholder) }

// Shown is text from a repository that may be printed: it passed the grammar
// of its position and the credential screen, or is an escaped form, a class or
// a fingerprint. It is always printable ASCII (0x20 to 0x7e) without line
// breaks. The last guard searches every Shown in a report before output.
type Shown string
