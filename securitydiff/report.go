package securitydiff

import (
	"github.com/evolve-mcp/evolve/internal/redact"
)

// Schema names the JSON form of a Report.
const Schema = "evolve.report/v1"

// Severity is how much a finding should worry a reviewer.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// ChangeKind is what happened to one item.
type ChangeKind string

// The kinds of change.
const (
	Added      ChangeKind = "added"
	Removed    ChangeKind = "removed"
	Modified   ChangeKind = "modified"
	Renamed    ChangeKind = "renamed"    // same content, other path: another server id
	Formatting ChangeKind = "formatting" // bytes differ, effective meaning does not
)

// Subject is what a change is about.
type Subject string

// The subjects. Only a declaration has summaries.
const (
	SubjectDeclaration Subject = "declaration"
	SubjectAgent       Subject = "agent"      // agent.yaml's nodes, the MCP root
	SubjectLaunched    Subject = "launched"   // files that a declaration launches
	SubjectRunner      Subject = "runner"     // files that a package runner reads by itself
	SubjectAttributes  Subject = "attributes" // .gitattributes on the way to a bound path
)

// Report is the secret-safe comparison of two surfaces. It holds nothing that
// may not be printed: text from the repository appears only as redact.Shown,
// everything else is ours. Marshalled, it is an evolve.report/v1 document.
type Report struct {
	Schema string `json:"schema"` // always Schema
	// Base and Head are commit ids; Base is "absent" for a ref that does not
	// exist, Head is "worktree" for the bytes on disk.
	Base string `json:"base"`
	Head string `json:"head"`
	// RequiresReview says that the surface differs, so that a token is needed.
	RequiresReview bool `json:"requires_review"`
	// Readable says that the head surface can be promoted at all.
	Readable bool      `json:"readable"`
	Changes  []Change  `json:"changes"`  // never nil
	Problems []Problem `json:"problems"` // of the head surface; never nil

	guard *redact.Guard
}

// Change is one item that differs.
type Change struct {
	Core     redact.Shown `json:"core"` // directory; "." for the root
	Subject  Subject      `json:"subject"`
	ServerID redact.Shown `json:"server_id,omitempty"`
	Path     redact.Shown `json:"path"`
	OldPath  redact.Shown `json:"old_path,omitempty"` // for a rename
	Change   ChangeKind   `json:"change"`
	// BeforeState and AfterState say how far a side could be read: valid,
	// invalid_schema, unparseable, unsupported_entry; "" if the side is absent.
	BeforeState string    `json:"before_state,omitempty"`
	AfterState  string    `json:"after_state,omitempty"`
	Before      *Summary  `json:"before"`
	After       *Summary  `json:"after"`
	Fields      []Field   `json:"fields"`   // never nil; in the order of Summary's fields
	Findings    []Finding `json:"findings"` // never nil; worst first, then by id and field
}

// Summary is the effective values of one side, defaults applied. For a side
// that could not be read it holds what names are known.
type Summary struct {
	ServerID                       redact.Shown   `json:"server_id"`
	Path                           redact.Shown   `json:"path"`
	Enabled                        bool           `json:"enabled"`
	Transport                      string         `json:"transport"`
	Risk                           string         `json:"risk"`
	ApprovalPolicy                 string         `json:"approval_policy"`
	EffectiveConnectApprovalPolicy string         `json:"effective_connect_approval_policy"`
	ConnectCapability              redact.Shown   `json:"connect_capability"`
	CallCapability                 redact.Shown   `json:"call_capability"`
	Command                        redact.Shown   `json:"command,omitempty"`
	Args                           []redact.Shown `json:"args,omitempty"`
	Cwd                            redact.Shown   `json:"cwd,omitempty"`
	EnvNames                       []redact.Shown `json:"env_names,omitempty"`
	URL                            redact.Shown   `json:"url,omitempty"` // scheme, host, port; classes for the rest
	HeaderNames                    []redact.Shown `json:"header_names,omitempty"`
	Tools                          Tools          `json:"tools"`
	ConnectTimeoutSeconds          float64        `json:"connect_timeout_seconds"`
	TimeoutSeconds                 float64        `json:"timeout_seconds"`
	SupportsParallelToolCalls      bool           `json:"supports_parallel_tool_calls"`
}

// Tools are the tool filters.
type Tools struct {
	Include []redact.Shown `json:"include"` // never nil; empty means every tool
	Exclude []redact.Shown `json:"exclude"` // never nil
}

// FieldChange is what happened to a field.
type FieldChange string

// The field changes.
const (
	FieldAdded   FieldChange = "added"
	FieldRemoved FieldChange = "removed"
	FieldChanged FieldChange = "changed"
)

// Field is one field that differs. Before and After are what may be shown of
// the values ("literal", "${DOCS_TOKEN}", "prompt (default)"); both may be
// equal or empty when only "value changed" may be said.
type Field struct {
	Name   redact.Shown `json:"name"` // env.API_TOKEN, args[2], tools.include, url.host
	Change FieldChange  `json:"change"`
	Before redact.Shown `json:"before,omitempty"`
	After  redact.Shown `json:"after,omitempty"`
	// Note says what else may be said: "value changed", "host changed".
	Note string `json:"note,omitempty"`
}

// Finding is one thing a reviewer should weigh. Message is a fixed sentence of
// ours: it never holds text from the repository.
type Finding struct {
	ID       string       `json:"id"`
	Severity Severity     `json:"severity"`
	Message  string       `json:"message"`
	Field    redact.Shown `json:"field,omitempty"`
}

// Problem is a broken rule of the head surface, ready to print.
type Problem struct {
	Path    redact.Shown `json:"path"`
	Line    int          `json:"line,omitempty"`
	Field   redact.Shown `json:"field,omitempty"`
	Code    string       `json:"code"`
	Message string       `json:"message"`
}
