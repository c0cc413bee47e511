package securitydiff

import (
	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// problemFindings maps a broken rule to the finding it raises. A code that is
// missing here raises unreadable-declaration (unparseable) or invalid-declaration.
var problemFindings = map[decl.ProblemCode]struct {
	id       string
	severity Severity
}{
	decl.AmbiguousScalar: {"ambiguous-scalar", Low},
	decl.DuplicateKey:    {"duplicate-key", High},
	decl.MultiDocument:   {"multi-document", High},
	decl.AliasBomb:       {"resource-bomb", High},
	decl.TooDeep:         {"resource-bomb", High},
	decl.FileTooLarge:    {"resource-bomb", High},
	decl.ForeignTag:      {"yaml-tag", Critical},
	decl.YAMLTag:         {"yaml-tag", High},
	decl.YAMLAlias:       {"yaml-alias", High},
	decl.MergeKey:        {"yaml-alias", High},
	decl.UnknownKey:      {"unknown-key", Medium},
	decl.EmptyFile:       {"invalid-declaration", Medium},
	decl.EntryNotRegular: {"symlink", High},

	decl.EncodingInvalid:  {"unreadable-declaration", High},
	decl.ControlCharacter: {"unreadable-declaration", High},
	decl.YAMLSyntax:       {"unreadable-declaration", High},
}

// relaxingKeys are keys of other hosts that mean "do not ask".
var relaxingKeys = set("autoApprove auto_approve alwaysAllow always_allow trust autoapprove alwaysallow trusted yolo")

// judgeProblems: what a file that is no valid declaration is told for.
func judgeProblems(v *verdicts, f *decl.File) {
	for _, p := range f.Problems {
		field := p.Field
		found, known := problemFindings[p.Code]
		switch {
		case !known:
			v.add("invalid-declaration", High, field)
		case p.Code == decl.UnknownKey:
			severity := Medium
			if misspelled(f, p) || relaxingKeys[string(p.Field)] {
				severity = High
			}
			v.add("unknown-key", severity, field)
			if relaxingKeys[string(p.Field)] {
				v.add("approval-relaxed", High, field)
			}
		default:
			v.add(found.id, found.severity, field)
		}
	}
}

func misspelled(f *decl.File, p decl.Problem) bool {
	for _, key := range f.Outline.Keys {
		if redact.Name(key) == p.Field {
			return decl.Nearest(key.Reveal(), decl.FieldNames()) != ""
		}
	}
	return false
}
