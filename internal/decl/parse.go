package decl

import (
	"github.com/evolve-mcp/evolve/internal/redact"
)

// Limits of one declaration or agent.yaml.
const (
	MaxFileBytes = 256 << 10
	MaxDepth     = 16
)

// ProblemCode names one way a file or a surface breaks the rules. The codes are
// stable and are printed.
type ProblemCode string

// State is how far one side of a declaration could be read.
type State string

// The states.
const (
	// StateValid: parsed, and every rule holds.
	StateValid State = "valid"
	// StateInvalid: it is YAML, but breaks the schema.
	StateInvalid State = "invalid_schema"
	// StateUnparseable: not the strict YAML subset at all.
	StateUnparseable State = "unparseable"
	// StateUnsupported: the entry is no regular file.
	StateUnsupported State = "unsupported_entry"
)

// Problem is one broken rule, in our own words. It never holds a value.
type Problem struct {
	Path string // from the repository's root; print it escaped
	Line int    // 1-based; 0 if the whole file is meant
	// Field is a dotted path of field names, such as env.API_TOKEN or args[2],
	// whose parts from the file passed the screen.
	Field redact.Shown
	Code  ProblemCode
	// Message is one sentence that says what is wrong and what to write.
	Message string
}

// File is one declaration file of a surface, readable or not.
type File struct {
	Path     string
	ServerID string // "" if the name is no server id
	Mode     Mode
	State    State
	// Decl is set exactly when State is StateValid.
	Decl     *Declaration
	Problems []Problem
	// Outline is what a refusal can still say: names, never values. It is
	// filled for every parseable tree, valid or not.
	Outline Outline
	// HasBOM says that the file began with a UTF-8 byte order mark.
	HasBOM bool
	// SHA256 is the digest of the bytes; zero for an unsupported entry.
	SHA256 [32]byte
}

// Outline lists what names a file holds, without values.
type Outline struct {
	Keys    []redact.Raw // top-level keys, in file order
	Env     []redact.Raw // names under env
	Headers []redact.Raw // names under headers
	// Values are all scalar values of the file, for the last guard only.
	Values []redact.Raw
}
