package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// The types of a statement (in-toto Attestation Framework, Statement v1).
const (
	statementType  = "https://in-toto.io/Statement/v1"
	reviewType     = "https://github.com/evolve-mcp/evolve/review/v1"
	revocationType = "https://github.com/evolve-mcp/evolve/revocation/v1"
)

// predicateVersion is the version of what a predicate holds.
const predicateVersion = 1

// maxStatement bounds a statement in bytes: a change of every file of the largest
// surface fits.
const maxStatement = 16 << 20

// Absent stands for a ref that does not exist, and for an item that is not there.
const Absent = "absent"

// saltBytes is the size of a statement's random salt: 256 bits.
const saltBytes = 32

// Statement is what a reviewer signed. One that was read is whole: every field
// has its form (statementcheck.go).
type Statement struct {
	body            statementBody
	issued, expires time.Time
}

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

// predicate is the review itself. Times are RFC 3339, in UTC and whole seconds.
type predicate struct {
	Version      int        `json:"version"`
	Repository   string     `json:"repository"` // evolve.repository, may be empty
	Ref          string     `json:"ref"`        // full name
	ObjectFormat string     `json:"object_format"`
	Base         string     `json:"base"` // a commit id, or "absent"
	Head         string     `json:"head"`
	HeadTree     string     `json:"head_tree"`
	SurfaceRules int        `json:"surface_rules"`
	Salt         string     `json:"salt"` // saltBytes random bytes in hex
	Change       []itemLine `json:"change"`
	Reviewer     string     `json:"reviewer"`
	IssuedAt     string     `json:"issued_at"`
	ExpiresAt    string     `json:"expires_at"`
	Reason       string     `json:"reason"`
	// For information only: nothing is decided on them.
	ReportDigest string `json:"report_digest"`
	PolicyDigest string `json:"policy_digest"`
}

// Ref is the full name of the ref that was reviewed for.
func (s *Statement) Ref() string { return s.body.Predicate.Ref }

// Base is the commit the change was compared with, or "absent".
func (s *Statement) Base() string { return s.body.Predicate.Base }

// Head is the reviewed commit.
func (s *Statement) Head() gitrepo.ID { return gitrepo.ID(s.body.Predicate.Head) }

// Reviewer is the principal who signed.
func (s *Statement) Reviewer() string { return s.body.Predicate.Reviewer }

// IssuedAt is when the record was made, by the reviewer's clock; in UTC and whole
// seconds.
func (s *Statement) IssuedAt() time.Time { return s.issued }

// ExpiresAt is when the token stops being good; in UTC and whole seconds.
func (s *Statement) ExpiresAt() time.Time { return s.expires }

// Reason is what the reviewer wrote; free text, to be escaped.
func (s *Statement) Reason() string { return s.body.Predicate.Reason }

// Keys are the items that the change names.
func (s *Statement) Keys() []decl.ItemKey {
	out := make([]decl.ItemKey, 0, len(s.body.Predicate.Change))
	for _, line := range s.body.Predicate.Change {
		out = append(out, line.key())
	}
	return out
}

// encode writes a statement or revocation in the one form that evolve writes:
// fields in the order of their struct, two spaces of indentation, no escapes that
// JSON does not ask for but those of U+2028 and U+2029, a line break at the end.
func encode(v any) ([]byte, error) {
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

// decode reads what encode wrote, and nothing else: doubled keys, keys in another
// letter case, unknown keys, other spellings of a value, other spaces and what
// follows the end do not encode to the same bytes.
func decode(data []byte, into any) error {
	if len(data) > maxStatement {
		return errNotCanonical
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errNotCanonical // the library's text may quote the statement
	}
	again, err := encode(into)
	if err != nil || !bytes.Equal(again, data) {
		return errNotCanonical
	}
	return nil
}

// decodeStatement reads a review.
func decodeStatement(data []byte) (*Statement, error) {
	s := &Statement{}
	if err := decode(data, &s.body); err != nil {
		return nil, err
	}
	var ok1, ok2 bool
	s.issued, ok1 = readStamp(s.body.Predicate.IssuedAt)
	s.expires, ok2 = readStamp(s.body.Predicate.ExpiresAt)
	if !ok1 || !ok2 || !s.whole() {
		return nil, errNotCanonical
	}
	return s, nil
}

// stamp writes a time as a statement holds it.
func stamp(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

func readStamp(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	return t.UTC(), err == nil && strings.HasSuffix(s, "Z") && stamp(t) == s
}
