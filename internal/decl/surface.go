package decl

import (
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
	Problems     []Problem
	Outline      Outline

	dir  string
	form form
	raw  redact.Raw
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

	// LFS lists the bound paths whose bytes Git LFS replaces on checkout.
	LFS []string

	items    map[ItemKey]*item
	named    map[string]map[string]bool
	contents contents
	parsed   map[parsedKey]parsedFile
}

// Options say how a surface is found.
type Options struct {
	// CorePatterns are the host's evolve.core patterns.
	CorePatterns []string
	// Beside is a surface of the same repository, or nil. A declaration that it
	// has at the same path with the same object id is taken from it: an id names
	// bytes for good.
	Beside *Surface
}
