package redact

import (
	"encoding/binary"
	"slices"
)

// windowBytes is the length of the beginnings by which needles are found.
const windowBytes = 8

// maxNeedle is how much of a withheld value is searched for. What is shown is
// never much longer, and the beginning of a secret is a leak too.
const maxNeedle = 64

// index finds values by their first 8 bytes, and among those by their length, so
// that a search costs a bounded number of looks at each byte, however many values
// there are and however alike they are.
type index map[uint64]*bucket

// bucket is the values that begin alike. There are at most maxNeedle lengths.
type bucket struct {
	lengths []int
	values  map[string]bool
}

// add takes a value of at least windowBytes and at most maxNeedle bytes.
func (x index) add(value string) {
	w := binary.LittleEndian.Uint64([]byte(value[:windowBytes]))
	b := x[w]
	if b == nil {
		b = &bucket{values: map[string]bool{}}
		x[w] = b
	}
	b.values[value] = true
	if !slices.Contains(b.lengths, len(value)) {
		b.lengths = append(b.lengths, len(value))
	}
}

// each calls f for every value in text until it returns false.
func (x index) each(text string, f func(start int, value string) bool) {
	if len(x) == 0 || len(text) < windowBytes {
		return
	}
	var w uint64
	for i := range len(text) {
		w = w>>8 | uint64(text[i])<<56
		if i < windowBytes-1 {
			continue
		}
		b := x[w]
		if b == nil {
			continue
		}
		start := i - windowBytes + 1
		for _, n := range b.lengths {
			if start+n > len(text) || !b.values[text[start:start+n]] {
				continue
			}
			if !f(start, text[start:start+n]) {
				return
			}
		}
	}
}

// Needles are texts of 8 bytes or more that are looked for in others, as many as
// there may be. Of longer ones the first 64 bytes count, of shorter ones nothing.
// The zero value is empty and ready.
type Needles struct{ index index }

// Add adds a text to look for.
func (n *Needles) Add(text string) {
	if len(text) < windowBytes {
		return
	}
	if n.index == nil {
		n.index = index{}
	}
	n.index.add(text[:min(len(text), maxNeedle)])
}

// In reports whether a text holds one of them.
func (n *Needles) In(text string) bool {
	found := false
	n.index.each(text, func(int, string) bool {
		found = true
		return false
	})
	return found
}
