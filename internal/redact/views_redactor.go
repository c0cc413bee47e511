package redact

import (
	"encoding/binary"
	"errors"
	"strings"
)

// LeastSecret is the shortest secret, in bytes, that a Redactor looks for, once
// white space is left out. What is shorter occurs everywhere by chance.
const LeastSecret = 4

// mark stands for what was redacted.
const mark = string(Redacted)

// ErrRedaction says that a text could not be made free of secrets. Show
// FailedView in its place.
var ErrRedaction = errors.New("redaction failed")

// Redactor removes known secrets from text that a server wrote: as they are, in
// the common encodings (base64 in both alphabets and at every offset, hex, URL
// and JSON escapes), and broken by white space, control characters or terminal
// colours anywhere. It is immutable and safe for concurrent use; the zero value
// knows no secret.
type Redactor struct {
	// needles by their first four bytes; filter holds one bit for each such
	// prefix, so that most of a text costs one look at each byte.
	needles map[uint32][]string
	filter  [filterWords]uint64
	all     []string
}

const (
	prefixBytes = 4
	filterBits  = 1 << 16
	filterWords = filterBits / 64
)

// NewRedactor knows the given secrets. Those shorter than LeastSecret are left
// out.
func NewRedactor(secrets ...Raw) *Redactor {
	r := &Redactor{needles: map[uint32][]string{}}
	seen := map[string]bool{}
	for _, s := range secrets {
		value := s.Reveal()
		if len(squeeze(value)) < LeastSecret {
			continue
		}
		for _, form := range forms(value) {
			form = squeeze(form)
			if len(form) < LeastSecret || seen[form] {
				continue
			}
			seen[form] = true
			r.add(form)
		}
	}
	return r
}

// Idle reports whether there is nothing to redact.
func (r *Redactor) Idle() bool { return len(r.all) == 0 }

// With returns a redactor that knows more secrets too.
func (r *Redactor) With(secrets ...Raw) *Redactor {
	out := NewRedactor(secrets...)
	for _, n := range r.all {
		out.add(n)
	}
	return out
}

func (r *Redactor) add(needle string) {
	p := binary.BigEndian.Uint32([]byte(needle[:prefixBytes]))
	r.needles[p] = append(r.needles[p], needle)
	bit := hashPrefix(p)
	r.filter[bit/64] |= 1 << (bit % 64)
	r.all = append(r.all, needle)
}

func hashPrefix(p uint32) uint32 { return p * 2654435761 >> 16 } // Knuth's multiplicative hash

// forms lists how a value can stand in a text.
func forms(value string) []string {
	out := append([]string{value}, encodings(value)...)
	const leastLine = 8
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= leastLine && len(line) < len(value) {
			out = append(out, line)
		}
	}
	return out
}

// squeeze leaves out what is skipped when a text is searched.
func squeeze(s string) string {
	var b strings.Builder
	for i := nextByte(s, 0); i < len(s); i = nextByte(s, i+1) {
		b.WriteByte(s[i])
	}
	return b.String()
}

// nextByte returns the first position from i on that is not skipped: white
// space, control characters, and terminal sequences (ECMA-48 CSI) are.
func nextByte(s string, i int) int {
	for i < len(s) && (s[i] <= ' ' || s[i] == 0x7f) {
		if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '[' {
			i += 2
			for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
				i++
			}
		}
		i++
	}
	return i
}

// Redact returns the text without secrets.
func (r *Redactor) Redact(text string) (string, error) { return r.RedactWindow(text, false, false) }

// RedactWindow is Redact for a part of a longer text: where it was cut, what
// may be the rest of a secret that the edge cut goes too.
func (r *Redactor) RedactWindow(text string, cutFront, cutBack bool) (string, error) {
	if len(r.all) == 0 {
		return text, nil
	}
	spans := r.find(text)
	if cutFront {
		if end := r.fragmentAtFront(text); end > 0 {
			spans = append([]span{{0, end}}, spans...)
		}
	}
	if cutBack {
		if start := r.fragmentAtBack(text); start < len(text) {
			spans = append(spans, span{start, len(text)})
		}
	}
	if len(spans) == 0 {
		return text, nil
	}
	out := replace(text, spans)
	if len(r.find(out)) > 0 {
		return "", ErrRedaction // the mark, or what it brought together, is a secret
	}
	return out, nil
}

// span is a part of a text, from start to before end.
type span struct{ start, end int }

// find lists where needles stand, by where they start.
func (r *Redactor) find(text string) []span {
	var (
		out    []span
		starts [prefixBytes]int // of the last bytes that were not skipped
		last   uint32
		n      int
	)
	for i := nextByte(text, 0); i < len(text); i = nextByte(text, i+1) {
		last = last<<8 | uint32(text[i])
		starts[n%prefixBytes] = i
		n++
		if n < prefixBytes {
			continue
		}
		bit := hashPrefix(last)
		if r.filter[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		start := starts[n%prefixBytes]
		for _, needle := range r.needles[last] {
			if end := match(text, start, needle); end > 0 {
				out = append(out, span{start, end})
			}
		}
	}
	return out
}

// match returns where the needle ends that starts at start, or 0.
func match(text string, start int, needle string) int {
	i := start
	for n := range len(needle) {
		if i = nextByte(text, i); i >= len(text) || text[i] != needle[n] {
			return 0
		}
		i++
	}
	return i
}

// fragmentAtFront returns the end of the longest end of a needle that the text
// begins with.
func (r *Redactor) fragmentAtFront(text string) int {
	longest := 0
	for _, needle := range r.all {
		for at := 1; at+LeastSecret <= len(needle); at++ {
			if end := match(text, 0, needle[at:]); end > 0 {
				longest = max(longest, end)
				break
			}
		}
	}
	return longest
}

// fragmentAtBack returns the start of the longest beginning of a needle that
// the text ends with.
func (r *Redactor) fragmentAtBack(text string) int {
	first := len(text)
	tail := squeezedTail(text, r.all)
	for _, needle := range r.all {
		for n := min(len(needle)-1, len(tail.text)); n >= LeastSecret; n-- {
			if strings.HasSuffix(tail.text, needle[:n]) {
				first = min(first, tail.positions[len(tail.text)-n])
				break
			}
		}
	}
	return first
}

// squeezed is a text without what is skipped, and where each byte stood.
type squeezed struct {
	text      string
	positions []int
}

func squeezedTail(text string, needles []string) squeezed {
	longest := 0
	for _, n := range needles {
		longest = max(longest, len(n))
	}
	var b strings.Builder
	var at []int
	for i := nextByte(text, 0); i < len(text); i = nextByte(text, i+1) {
		b.WriteByte(text[i])
		at = append(at, i)
	}
	s := b.String()
	cut := max(0, len(s)-longest)
	return squeezed{s[cut:], at[cut:]}
}

// replace puts the mark in the place of spans, which are in order of their
// starts and may overlap.
func replace(text string, spans []span) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(spans); {
		start, end := max(spans[i].start, done), spans[i].end
		for i++; i < len(spans) && spans[i].start <= end; i++ {
			end = max(end, spans[i].end)
		}
		if end <= done {
			continue
		}
		b.WriteString(text[done:start])
		b.WriteString(mark)
		done = end
	}
	b.WriteString(text[done:])
	return b.String()
}
