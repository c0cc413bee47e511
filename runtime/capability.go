package runtime

import (
	"slices"
	"strings"
)

// Capabilities is an immutable snapshot of what is granted. The zero value is
// no snapshot, and a turn with it is refused; NewCapabilities() is an empty one.
type Capabilities struct {
	grants []string // sorted
	bound  bool
}

// NewCapabilities takes a snapshot of grants. A grant matches exactly, or ends
// in ":*" and matches at that colon; no other "*" means anything.
func NewCapabilities(grants ...string) Capabilities {
	sorted := slices.Clone(grants)
	slices.Sort(sorted)
	return Capabilities{grants: slices.Compact(sorted), bound: true}
}

// Allows reports whether a capability is granted.
func (c Capabilities) Allows(capability string) bool {
	if !c.bound || capability == "" {
		return false
	}
	return slices.ContainsFunc(c.grants, func(grant string) bool { return matches(grant, capability) })
}

// matches is the rule for grants and for the approval rules of capabilities. A
// capability that itself looks like a pattern is granted only exactly.
func matches(pattern, capability string) bool {
	if pattern == capability {
		return pattern != "*"
	}
	prefix, wild := strings.CutSuffix(pattern, ":*")
	return wild && prefix != "" && !strings.Contains(prefix, "*") && !strings.Contains(capability, "*") &&
		strings.HasPrefix(capability, prefix+":")
}
