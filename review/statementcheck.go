package review

import (
	"slices"
	"strings"
)

// idDigits are the lengths of object ids by object format.
var idDigits = map[string]int{"sha1": 40, "sha256": 64}

// isID reports whether s is an object id of the format. What a statement names
// as a commit is later given to Git.
func isID(format, s string) bool {
	return len(s) == idDigits[format] && len(s) > 0 && isHex(s) && strings.Trim(s, "0") != ""
}

// Limits of a statement's texts, in bytes.
const (
	maxRepository = 255
	maxRef        = 1024
	maxPrincipal  = 255
	maxReason     = 500
)

// whole reports whether every field has its form. Rules about the host and the
// move come later (verify.go).
func (s *Statement) whole() bool {
	p := &s.body.Predicate
	subject := s.body.Subject
	for _, ok := range []bool{
		s.body.Type == statementType,
		s.body.PredicateType == reviewType,
		p.Version == predicateVersion,
		len(subject) == 1 && subject[0].Name == p.Ref,
		len(subject) == 1 && len(subject[0].Digest) == 1 && subject[0].Digest["gitCommit"] == p.Head,
		len(p.Repository) <= maxRepository && oneLine(p.Repository),
		validRef(p.Ref),
		p.Base == Absent || isID(p.ObjectFormat, p.Base),
		isID(p.ObjectFormat, p.Head),
		isID(p.ObjectFormat, p.HeadTree),
		p.SurfaceRules > 0,
		len(p.Salt) == 2*saltBytes && isHex(p.Salt),
		wholeChange(p.Change),
		isPrincipal(p.Reviewer),
		s.expires.After(s.issued),
		CheckReason(p.Reason) == nil,
		p.ReportDigest == "" || oneLine(p.ReportDigest) && len(p.ReportDigest) <= maxRepository,
		isDigest(p.PolicyDigest),
	} {
		if !ok {
			return false
		}
	}
	return true
}

// validRef reports whether a statement may name a ref: JSON cannot hold bytes
// that are no UTF-8, and two names must not read alike.
func validRef(ref string) bool {
	return strings.HasPrefix(ref, "refs/") && len(ref) <= maxRef && oneLine(ref)
}

// wholeChange reports whether a change names at least one item, each once, in
// the order of their keys, and each with a difference.
func wholeChange(lines []itemLine) bool {
	for _, l := range lines {
		if !l.whole() {
			return false
		}
	}
	sorted := slices.IsSortedFunc(lines, compareLines)
	unique := len(slices.CompactFunc(slices.Clone(lines), func(a, b itemLine) bool { return compareLines(a, b) == 0 })) == len(lines)
	return len(lines) > 0 && sorted && unique
}

func (l itemLine) whole() bool {
	side := func(s string) bool { return s == Absent || isDigest(s) }
	return wireIsPlain(l.Core) && wireIsPlain(l.Path) && l.Kind != "" && oneLine(string(l.Kind)) &&
		side(l.Before) && side(l.After) && l.Before != l.After
}
