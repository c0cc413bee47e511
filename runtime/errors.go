package runtime

import (
	"errors"
	"strings"
)

// The errors of Prepare and of the host's other methods, beside those of the
// caller's context. A server that cannot be reached is none: it is a diagnostic
// of the catalog.
var (
	// ErrClosed: the host was closed.
	ErrClosed = errors.New("runtime: the host is closed")
	// ErrEvicted: the session was evicted while it was being prepared.
	ErrEvicted = errors.New("runtime: the session was evicted")
)

// AuthorityError says that a turn is not bound to everything that a decision
// needs. Nothing was started.
type AuthorityError struct {
	// Missing are the fields of Turn that are not set, in their order.
	Missing []string
}

// Error names the fields.
func (e *AuthorityError) Error() string {
	return "runtime: the turn has no " + strings.Join(e.Missing, ", ")
}

// Provenance is where an exposed name comes from.
type Provenance struct {
	// Source is "server <id>", or what the host called its own tool.
	Source string `json:"source"`
	// Path is the declaration's; empty for the host's own tools.
	Path string `json:"path,omitempty"`
	// Tool is the name at the source.
	Tool string `json:"tool"`
}

func (p Provenance) String() string {
	if p.Path == "" {
		return p.Source + ": " + p.Tool
	}
	return p.Source + " (" + p.Path + "): " + p.Tool
}

// Collision is one exposed name that two or more tools would share.
type Collision struct {
	// Name is the exposed name of the first source.
	Name    string
	Sources []Provenance
}

// CollisionError lists names that were not exposed, since two tools would share
// them (compared without case). Prepare returns it beside a catalog that holds
// everything else.
type CollisionError struct{ Collisions []Collision }

// Error names each exposed name and its sources.
func (e *CollisionError) Error() string {
	var b strings.Builder
	b.WriteString("runtime: tools share an exposed name")
	for _, c := range e.Collisions {
		b.WriteString("; " + c.Name)
		for i, s := range c.Sources {
			b.WriteString([]string{" from ", " and from "}[min(i, 1)] + s.String())
		}
	}
	return b.String()
}
