package decl

import (
	"github.com/evolve-mcp/evolve/internal/redact"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	Stdio          Transport = "stdio"
	StreamableHTTP Transport = "streamable_http"
)

// Risk is a declaration's own statement of how dangerous its tools are.
type Risk string

// The risks, lowest first.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

// Approval is a policy for calls.
type Approval string

// The approval policies, weakest first.
const (
	ApprovalAuto   Approval = "auto"
	ApprovalPrompt Approval = "prompt"
	ApprovalDeny   Approval = "deny"
)

// Strictness orders approval policies: auto 0, prompt 1, deny 2.
func (a Approval) Strictness() int {
	switch a {
	case ApprovalAuto:
		return 0
	case ApprovalPrompt:
		return 1
	default:
		return 2
	}
}

// Stricter returns the stricter of two policies.
func Stricter(a, b Approval) Approval {
	if a.Strictness() >= b.Strictness() {
		return a
	}
	return b
}

// Level orders risks: low 0 to critical 3.
func (r Risk) Level() int {
	switch r {
	case RiskLow:
		return 0
	case RiskMedium:
		return 1
	case RiskHigh:
		return 2
	default:
		return 3
	}
}

// Defaults of a declaration's fields.
const (
	DefaultConnectTimeout = 30.0 // seconds
	DefaultTimeout        = 60.0 // seconds
	MaxTimeout            = 86400.0
)

// Declaration is one server with its defaults applied. Every free text of the
// file is Raw; only enumerations, booleans and numbers are plain.
type Declaration struct {
	// ServerID is the file's name without its suffix; it matches
	// [A-Za-z0-9][A-Za-z0-9._-]{0,63} and has no "__".
	ServerID string
	// Path is the file's path from the repository's root, with slashes.
	Path string

	Enabled   bool
	Transport Transport

	Command redact.Raw
	Args    []redact.Raw
	Env     []Pair // sorted by name
	Cwd     redact.Raw

	URL     redact.Raw
	Headers []Pair // sorted by name

	Include []redact.Raw // tools.include, in file order; empty means all
	Exclude []redact.Raw // tools.exclude, in file order

	Risk           Risk
	ApprovalPolicy Approval
	// Capability is what a call requires; mcp.call:<server> by default.
	Capability redact.Raw

	ConnectTimeout float64 // seconds, above 0, at most MaxTimeout
	Timeout        float64 // seconds, above 0, at most MaxTimeout
	Parallel       bool    // supports_parallel_tool_calls
}

// Pair is one entry of env or headers.
type Pair struct{ Name, Value redact.Raw }

// ConnectApproval is the policy for connecting: the stricter of the call policy
// and prompt.
func (d *Declaration) ConnectApproval() Approval { return Stricter(d.ApprovalPolicy, ApprovalPrompt) }

// ConnectCapability is what connecting requires: mcp.connect:<server>.
func (d *Declaration) ConnectCapability() string { return "mcp.connect:" + d.ServerID }
