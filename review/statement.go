package review

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// The types of a statement (in-toto Attestation Framework, Statement v1).
const (
	statementType  = "https://in-toto.io/Statement/v1"
	reviewType     = "https://github.com/evolve-mcp/evolve/review/v1"
	revocationType = "https://github.com/evolve-mcp/evolve/revocation/v1"
)

// maxStatement bounds a statement in bytes: a change of every file of the largest
// surface fits.
const maxStatement = 16 << 20

// Absent stands for a ref that does not exist, and an item that is not there.
const Absent = "absent"

// Statement is what a reviewer signed.
type Statement struct{ body statementBody }

type statementBody struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	Version      int        `json:"version"`
	Repository   string     `json:"repository"`
	Ref          string     `json:"ref"`
	ObjectFormat string     `json:"objectFormat"`
	Base         string     `json:"base"` // a commit id, or "absent"
	Head         string     `json:"head"`
	HeadTree     string     `json:"headTree"`
	SurfaceRules int        `json:"surfaceRules"`
	Salt         string     `json:"salt"` // 32 random bytes in hex
	Items        []itemLine `json:"items"`
	Reviewer     string     `json:"reviewer"`
	IssuedAt     time.Time  `json:"issuedAt"`
	ExpiresAt    time.Time  `json:"expiresAt"`
	Reason       string     `json:"reason"`
	// For information only: nothing is decided on them.
	ReportDigest string `json:"reportDigest"`
	PolicyDigest string `json:"policyDigest"`
}

// itemLine is one surface item that differs.
type itemLine struct {
	Core   string        `json:"core"`
	Kind   decl.ItemKind `json:"kind"`
	Path   string        `json:"path"`
	Before string        `json:"before"` // salted digest, or "absent"
	After  string        `json:"after"`
}

const predicateVersion = 1

// saltBytes is the size of a statement's random salt: 256 bits.
const saltBytes = 32

// encodeStatement is the one encoding of a statement or revocation.
func encodeStatement(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var errNotCanonical = errors.New("the statement is not in the one form that evolve writes")

// decodeStatement reads a statement. Doubled keys, keys in other letter case,
// unknown keys and other spellings of a value do not encode to the same bytes,
// and are refused.
func decodeStatement(data []byte) (*Statement, error) {
	s := &Statement{}
	if err := decodeCanonical(data, &s.body); err != nil {
		return nil, err
	}
	p := &s.body.Predicate
	switch {
	case s.body.Type != statementType, s.body.PredicateType != reviewType, p.Version != predicateVersion:
		return nil, errNotCanonical
	case len(s.body.Subject) != 1 || s.body.Subject[0].Digest["gitCommit"] != p.Head:
		return nil, errNotCanonical
	case len(p.Salt) != hex.EncodedLen(saltBytes) || len(p.Items) == 0:
		return nil, errNotCanonical
	}
	return s, nil
}

func decodeCanonical(data []byte, into any) error {
	if len(data) > maxStatement {
		return errNotCanonical
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errNotCanonical
	}
	again, err := encodeStatement(into)
	if err != nil || !bytes.Equal(again, data) {
		return errNotCanonical
	}
	return nil
}

// Ref is the full name of the ref that was reviewed for.
func (s *Statement) Ref() string { return s.body.Predicate.Ref }

// Base is the commit the change was compared with, or "absent".
func (s *Statement) Base() string { return s.body.Predicate.Base }

// Head is the reviewed commit.
func (s *Statement) Head() gitrepo.ID { return gitrepo.ID(s.body.Predicate.Head) }

// Reviewer is the principal who signed.
func (s *Statement) Reviewer() string { return s.body.Predicate.Reviewer }

// IssuedAt is when the record was made, by the reviewer's clock.
func (s *Statement) IssuedAt() time.Time { return s.body.Predicate.IssuedAt }

// ExpiresAt is when the token stops being good.
func (s *Statement) ExpiresAt() time.Time { return s.body.Predicate.ExpiresAt }

// Reason is what the reviewer wrote; free text, to be escaped.
func (s *Statement) Reason() string { return s.body.Predicate.Reason }

// Keys are the items that the change names.
func (s *Statement) Keys() []decl.ItemKey {
	out := make([]decl.ItemKey, 0, len(s.body.Predicate.Items))
	for _, i := range s.body.Predicate.Items {
		out = append(out, decl.ItemKey{Core: unwirePath(i.Core), Kind: i.Kind, Path: unwirePath(i.Path)})
	}
	return out
}

// itemLines writes a change with salted digests, in the order of its keys.
func itemLines(salt string, deltas []decl.Delta) []itemLine {
	out := make([]itemLine, 0, len(deltas))
	for _, d := range deltas {
		out = append(out, itemLine{
			Core: wirePath(d.Key.Core), Kind: d.Key.Kind, Path: wirePath(d.Key.Path),
			Before: saltedDigest(salt, "before", d.Key, d.Before), After: saltedDigest(salt, "after", d.Key, d.After),
		})
	}
	return out
}

// names reports whether the statement names exactly this change.
func (s *Statement) names(deltas []decl.Delta) bool {
	return slices.Equal(s.body.Predicate.Items, itemLines(s.body.Predicate.Salt, deltas))
}

// saltedDigest hides an item's digest from who holds only the record: without
// the salt a short file could be guessed from it.
func saltedDigest(salt, side string, key decl.ItemKey, d decl.Digest) string {
	if d == (decl.Digest{}) {
		return Absent
	}
	h := sha256.New()
	for _, part := range []string{"evolve item v1", salt, side, key.Core, string(key.Kind), key.Path, string(d[:])} {
		_, _ = h.Write([]byte{byte(len(part) >> 24), byte(len(part) >> 16), byte(len(part) >> 8), byte(len(part))})
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hexMark stands in front of a path that JSON cannot hold as it is.
const hexMark = "hex:"

// wirePath writes a path so that two paths never read alike: Git allows bytes
// that are no UTF-8.
func wirePath(p string) string {
	if utf8.ValidString(p) && !strings.HasPrefix(p, hexMark) {
		return p
	}
	return hexMark + hex.EncodeToString([]byte(p))
}

func unwirePath(p string) string {
	digits, ok := strings.CutPrefix(p, hexMark)
	if !ok {
		return p
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return p
	}
	return string(raw)
}
