package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// KeyBytes is the length of a fingerprint key.
const KeyBytes = 32

// shownBytes is how much of a fingerprint is shown, as twice as many hex digits.
const shownBytes = 4

// Fingerprinter makes what stands for a withheld value: a keyed fingerprint, so
// that a reviewer sees whether two are equal, and a length class. A plain hash
// of a short value could be reversed by guessing. The zero value has no key and
// makes length classes only.
type Fingerprinter struct{ key []byte }

// NewFingerprinter takes a random key of KeyBytes, which the host keeps. A key
// of another length is not used: then no fingerprint is shown.
func NewFingerprinter(key []byte) Fingerprinter {
	if len(key) != KeyBytes {
		return Fingerprinter{}
	}
	return Fingerprinter{append([]byte(nil), key...)}
}

// Value returns "<value #3f9a61c2 8-15>". Fingerprints of different files,
// fields or indexes cannot be compared.
func (f Fingerprinter) Value(file, field string, index int, raw Raw) Shown {
	return f.Class("value", file, field, index, raw)
}

// Class is Value with a word of ours in place of "value", such as "absolute
// path".
func (f Fingerprinter) Class(class, file, field string, index int, raw Raw) Shown {
	s := "<" + class + " "
	if f.key != nil {
		s += "#" + hex.EncodeToString(f.sum(file, field, index, raw.Reveal())[:shownBytes]) + " "
	}
	return Shown(s + LengthClass(raw.Len()) + ">")
}

// sum is HMAC-SHA256 over length-framed parts behind a name of this use.
func (f Fingerprinter) sum(file, field string, index int, text string) []byte {
	h := hmac.New(sha256.New, f.key)
	var n [8]byte
	for _, part := range []string{"evolve fingerprint v1", file, field, text} {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	binary.BigEndian.PutUint64(n[:], uint64(int64(index))) //nolint:gosec // any fixed encoding of the index will do
	h.Write(n[:])
	return h.Sum(nil)
}
