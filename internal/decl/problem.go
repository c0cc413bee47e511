package decl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// The problem codes. Each has a line in problemStates.
const (
	FileTooLarge     ProblemCode = "file_too_large"
	EncodingInvalid  ProblemCode = "encoding_invalid"
	ControlCharacter ProblemCode = "control_character"
	YAMLSyntax       ProblemCode = "yaml_syntax"
	MultiDocument    ProblemCode = "multi_document"
	DuplicateKey     ProblemCode = "duplicate_key"
	TooDeep          ProblemCode = "too_deep"
	AliasBomb        ProblemCode = "alias_bomb"
	ForeignTag       ProblemCode = "foreign_tag"

	EmptyFile       ProblemCode = "empty_file"
	YAMLDirective   ProblemCode = "yaml_directive"
	YAMLAlias       ProblemCode = "yaml_alias"
	MergeKey        ProblemCode = "merge_key"
	YAMLTag         ProblemCode = "yaml_tag"
	KeyNotString    ProblemCode = "key_not_string"
	UnknownKey      ProblemCode = "unknown_key"
	WrongType       ProblemCode = "wrong_type"
	AmbiguousScalar ProblemCode = "ambiguous_scalar"
	ValueMissing    ProblemCode = "value_missing"
	ValueInvalid    ProblemCode = "value_invalid"

	EntryNotRegular   ProblemCode = "entry_not_regular"
	ServerIDInvalid   ProblemCode = "server_id_invalid"
	ServerIDDuplicate ProblemCode = "server_id_duplicate"
	FoldingName       ProblemCode = "folding_name"
	BackslashName     ProblemCode = "backslash_name"
	AgentYML          ProblemCode = "agent_yml"
	RootInvalid       ProblemCode = "mcp_root_invalid"
	RootNotDirectory  ProblemCode = "mcp_root_not_directory"
	BoundNotRegular   ProblemCode = "bound_not_regular"
	AttributeConverts ProblemCode = "attribute_converts"
	SurfaceTooLarge   ProblemCode = "surface_too_large"
)

// problemStates says what a problem makes of the file that has it. The worst
// one of a file decides.
var problemStates = map[ProblemCode]State{
	FileTooLarge:     StateUnparseable,
	EncodingInvalid:  StateUnparseable,
	ControlCharacter: StateUnparseable,
	YAMLSyntax:       StateUnparseable,
	MultiDocument:    StateUnparseable,
	DuplicateKey:     StateUnparseable,
	TooDeep:          StateUnparseable,
	AliasBomb:        StateUnparseable,
	ForeignTag:       StateUnparseable,

	EmptyFile:       StateInvalid,
	YAMLDirective:   StateInvalid,
	YAMLAlias:       StateInvalid,
	MergeKey:        StateInvalid,
	YAMLTag:         StateInvalid,
	KeyNotString:    StateInvalid,
	UnknownKey:      StateInvalid,
	WrongType:       StateInvalid,
	AmbiguousScalar: StateInvalid,
	ValueMissing:    StateInvalid,
	ValueInvalid:    StateInvalid,

	EntryNotRegular:   StateUnsupported,
	ServerIDInvalid:   StateInvalid,
	ServerIDDuplicate: StateInvalid,
	FoldingName:       StateInvalid,
	BackslashName:     StateInvalid,
	AgentYML:          StateInvalid,
	RootInvalid:       StateInvalid,
	RootNotDirectory:  StateInvalid,
	BoundNotRegular:   StateInvalid,
	AttributeConverts: StateInvalid,
	SurfaceTooLarge:   StateInvalid,
}

// String is "path:line: field: code: message", with the parts that are known
// and the path escaped for a terminal.
func (p Problem) String() string {
	s := string(shownPath(p.Path))
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	if p.Field != "" {
		s += ": " + string(p.Field)
	}
	return s + ": " + string(p.Code) + ": " + p.Message
}

// shownPath is what may be printed of a path in the repository: whoever names a
// file can put a credential into its name.
func shownPath(p string) redact.Shown {
	if p == "" {
		return "."
	}
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if part == "" {
			continue // in front of an absolute path
		}
		shown, _ := redact.Show(redact.FilePath, redact.NewRaw(part))
		parts[i] = string(shown)
	}
	return redact.Shown(strings.Join(parts, "/"))
}

// stateOf is the worst state that problems make of a file.
func stateOf(problems []Problem) State {
	worst := StateValid
	for _, p := range problems {
		switch problemStates[p.Code] {
		case StateUnsupported:
			return StateUnsupported
		case StateUnparseable:
			worst = StateUnparseable
		case StateInvalid:
			if worst == StateValid {
				worst = StateInvalid
			}
		}
	}
	return worst
}

func sortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
}
