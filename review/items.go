package review

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// itemLine is one surface item that differs.
type itemLine struct {
	Core   string        `json:"core"`
	Kind   decl.ItemKind `json:"kind"`
	Path   string        `json:"path"`
	Before string        `json:"before"` // salted digest, or "absent"
	After  string        `json:"after"`
}

func (l itemLine) key() decl.ItemKey {
	return decl.ItemKey{Core: unwire(l.Core), Kind: l.Kind, Path: unwire(l.Path)}
}

func compareLines(a, b itemLine) int { return decl.CompareKeys(a.key(), b.key()) }

// itemLines writes a change with salted digests, in the order of its keys.
func itemLines(salt string, deltas []decl.Delta) []itemLine {
	out := make([]itemLine, 0, len(deltas))
	for _, d := range deltas {
		out = append(out, itemLine{
			Core: wire(d.Key.Core), Kind: d.Key.Kind, Path: wire(d.Key.Path),
			Before: saltedDigest(salt, "before", d.Key, d.Before), After: saltedDigest(salt, "after", d.Key, d.After),
		})
	}
	slices.SortFunc(out, compareLines)
	return out
}

// names reports whether the statement names exactly this change.
func (s *Statement) names(deltas []decl.Delta) bool {
	return slices.Equal(s.body.Predicate.Change, itemLines(s.body.Predicate.Salt, deltas))
}

// saltedDigest hides an item's digest from who sees it elsewhere without the
// salt: the digest of a short file could be found by guessing. It is SHA-256 over
// a name of this use and the parts, each behind its length.
func saltedDigest(salt, side string, key decl.ItemKey, d decl.Digest) string {
	if d == (decl.Digest{}) {
		return Absent
	}
	h := sha256.New()
	for _, part := range []string{"evolve review item v1", salt, side, key.Core, string(key.Kind), key.Path, string(d[:])} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hexMark stands in front of a path that JSON cannot hold as it is.
const hexMark = "hex:"

// wire writes a path so that two paths never read alike: Git allows bytes that
// are no UTF-8.
func wire(p string) string {
	if utf8.ValidString(p) && !strings.HasPrefix(p, hexMark) {
		return p
	}
	return hexMark + hex.EncodeToString([]byte(p))
}

// unwire undoes wire. What wire does not write comes back as it is.
func unwire(p string) string {
	digits, marked := strings.CutPrefix(p, hexMark)
	raw, err := hex.DecodeString(digits)
	if !marked || err != nil {
		return p
	}
	return string(raw)
}

// wireIsPlain reports whether wire writes p like this.
func wireIsPlain(p string) bool { return wire(unwire(p)) == p }
