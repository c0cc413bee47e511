package securitydiff

import (
	"github.com/evolve-mcp/evolve/internal/redact"
)

// LintSchema names the JSON form of a LintReport.
const LintSchema = "evolve.lint/v1"

// LintReport is what one surface holds, secret-safe like a Report: every
// server, every broken rule, and what a reviewer should weigh although nothing
// changed. Marshalled, it is an evolve.lint/v1 document.
type LintReport struct {
	Schema string `json:"schema"` // always LintSchema
	// Revision is a commit id, or "worktree" for the bytes on disk.
	Revision string `json:"revision"`
	// Valid says that the surface can be promoted: there is no problem.
	Valid    bool          `json:"valid"`
	Servers  []LintServer  `json:"servers"`  // by core and path; never nil
	Problems []Problem     `json:"problems"` // by path and line; never nil
	Findings []LintFinding `json:"findings"` // worst first, then by path, id and field; never nil
}

// LintServer is one declaration of a surface.
type LintServer struct {
	Core redact.Shown `json:"core"` // directory; "." for the root
	Path redact.Shown `json:"path"`
	// State says how far it could be read: valid, invalid_schema, unparseable,
	// unsupported_entry.
	State string `json:"state"`
	// Summary is nil if nothing of it is known.
	Summary *Summary `json:"summary"`
}

// LintFinding is a finding and the file that it is about.
type LintFinding struct {
	Path redact.Shown `json:"path"`
	Finding
}
