package decl

import (
	"context"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// SurfaceRules is the version of the rules that make a surface out of a tree.
// A token made under other rules is refused (token_rules_mismatch).
const SurfaceRules = 1

// Limits of a surface.
const (
	MaxSurfaceFiles = 20_000
	MaxSurfaceBytes = 256 << 20
)

// ItemKind is what a surface item is.
type ItemKind string

// The kinds of items.
const (
	KindAgent       ItemKind = "agent"       // MCP root path and the nodes of agent.yaml
	KindDeclaration ItemKind = "declaration" // one declaration
	KindLaunched    ItemKind = "launched"    // a directory or file that a declaration launches
	KindRunner      ItemKind = "runner"      // a file that a package runner reads by itself, present or absent
	KindAttributes  ItemKind = "attributes"  // a .gitattributes on the way to a bound path
)

// ItemKey identifies an item within a surface.
type ItemKey struct {
	Core string   `json:"core"` // the core's directory; "" for the root
	Kind ItemKind `json:"kind"`
	Path string   `json:"path"` // from the repository's root
}

// Digest is a SHA-256 over an item's framed, sorted content. The zero Digest
// means that the item is absent.
type Digest [32]byte

// Delta is one item that differs between two surfaces.
type Delta struct {
	Key           ItemKey
	Before, After Digest
}

// Agent is what is read of a core's agent.yaml.
type Agent struct {
	Path    string
	Present bool
	State   State
	// MCPRoot is the directory of the declarations, from the repository's root.
	MCPRoot string
	// Grants are the names under capabilities.defaults, sorted.
	Grants []redact.Raw
	// Approval holds the approval node's rules.
	Approval ApprovalRules
	// ToolMetadata are the entries of tools.metadata, sorted by name.
	ToolMetadata []ToolMetadata
	// Other maps nodes of runtime, capabilities, approval and tools.metadata
	// that have no meaning here to a digest, so that a change is noticed.
	Other    map[string]Digest
	Problems []Problem
	Outline  Outline
}

// ApprovalRules is the approval node of agent.yaml: looked up by tool, then
// capability, then risk, then default.
type ApprovalRules struct {
	Tools        []Rule // by exposed or server's own tool name
	Capabilities []Rule
	Risks        []Rule
	Default      Approval // "" if not given
}

// Rule is one line of ApprovalRules.
type Rule struct {
	Name   redact.Raw
	Policy Approval
}

// ToolMetadata overrides declared values of one tool.
type ToolMetadata struct {
	Name           redact.Raw
	Risk           Risk     // "" if not given
	ApprovalPolicy Approval // "" if not given
	Capability     redact.Raw
}

// Core is one agent of a surface.
type Core struct {
	Dir   string // "" for the repository's root
	Agent Agent
	Files []File // the declarations, sorted by path
}

// Surface is all that a review covers at one revision.
type Surface struct {
	Cores    []Core    // sorted by Dir
	Problems []Problem // of the surface as a whole (folding names, symlinked root, ...)

	items map[ItemKey]*item
}

// Options say how a surface is found.
type Options struct {
	// CorePatterns are the host's evolve.core patterns.
	CorePatterns []string
}

// LoadSurface reads the surface of one revision. What is wrong in the
// repository is a Problem; an error means that it could not be read at all.
func LoadSurface(ctx context.Context, tree Tree, opt Options) (*Surface, error) {
	panic("to be written")
}

// Empty is the surface of a ref that does not exist.
func Empty() *Surface { return &Surface{} }

// AllProblems lists the problems of the surface, its agents and its files, in
// path and line order.
func (s *Surface) AllProblems() []Problem { panic("to be written") }

// Compare lists the items that differ, sorted by key. It reads content only
// where the object ids do not already prove equality.
func Compare(ctx context.Context, before, after *Surface) ([]Delta, error) { panic("to be written") }

type item struct{}
