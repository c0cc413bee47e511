package runtime

import (
	"maps"
	"slices"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// ApprovalRules say how strict a host or a core is. The first of these that has
// an answer counts: Tools, Capabilities, Risks, Default. The zero value demands
// nothing.
type ApprovalRules struct {
	// Tools by exposed name or by the server's own name; if both are given the
	// stricter counts.
	Tools map[string]Approval
	// Capabilities by name, or by a prefix that ends in ":*" as in a grant. The
	// exact name counts before patterns, of which the strictest counts.
	Capabilities map[string]Approval
	Risks        map[Risk]Approval
	Default      Approval // "" demands nothing
}

// ToolMetadata changes what a declaration says of one tool, as reviewed with
// the core.
type ToolMetadata struct {
	// Name is the exposed name or the server's own; the exposed one counts
	// first.
	Name       string
	Risk       Risk     // "" leaves the declaration's
	Approval   Approval // "" leaves the declaration's
	Capability string   // "" leaves the declaration's
}

// Policy is everything beside the declarations that decides on approval. It is
// immutable once a turn uses it.
type Policy struct {
	// ID names the policy; a turn without one is refused. Approvals that were
	// given under one policy count for no other.
	ID string
	// Host are the rules of whoever runs the host, Core those of agent.yaml.
	Host, Core   ApprovalRules
	ToolMetadata []ToolMetadata
}

// subject is what a policy decides on.
type subject struct {
	exposed, tool string // empty for connecting
	capability    string
	risk          Risk
	declared      Approval
}

// lookup returns what the rules demand; "" is nothing.
func (r ApprovalRules) lookup(s subject) Approval {
	if s.tool != "" {
		exposed, raw := r.Tools[s.exposed], r.Tools[s.tool]
		if exposed != "" || raw != "" {
			return strictest(exposed, raw)
		}
	}
	if a := r.Capabilities[s.capability]; a != "" && s.capability != "*" {
		return a
	}
	var found Approval
	for pattern, a := range r.Capabilities {
		if matches(pattern, s.capability) {
			found = strictest(found, a)
		}
	}
	if found != "" {
		return found
	}
	if a := r.Risks[s.risk]; a != "" {
		return a
	}
	return r.Default
}

// strictest ignores what is not set. A value that is no policy counts as deny.
func strictest(list ...Approval) Approval {
	var out Approval
	for _, a := range list {
		switch {
		case a == "":
		case a != Auto && a != Prompt:
			return Deny
		case out == "":
			out = a
		default:
			out = decl.Stricter(out, a)
		}
	}
	return out
}

// effective is the strictest of what is declared, what the core demands and
// what the host demands.
func (p *Policy) effective(s subject) Approval {
	return strictest(s.declared, p.Core.lookup(s), p.Host.lookup(s))
}

// connecting is the policy for connecting to a server: at least prompt.
func (p *Policy) connecting(d *decl.Declaration) Approval {
	return p.effective(subject{
		capability: d.ConnectCapability(), risk: d.Risk, declared: d.ConnectApproval(),
	})
}

// calling describes a call after tools.metadata had its say.
func (p *Policy) calling(d *decl.Declaration, exposed, tool string) subject {
	s := subject{
		exposed: exposed, tool: tool,
		capability: d.Capability.Reveal(), risk: d.Risk, declared: d.ApprovalPolicy,
	}
	m, ok := p.metadata(exposed)
	if !ok {
		m, ok = p.metadata(tool)
	}
	if !ok {
		return s
	}
	if m.Risk != "" {
		s.risk = m.Risk
	}
	if m.Approval != "" {
		s.declared = m.Approval
	}
	if m.Capability != "" {
		s.capability = m.Capability
	}
	return s
}

func (p *Policy) metadata(name string) (ToolMetadata, bool) {
	i := slices.IndexFunc(p.ToolMetadata, func(m ToolMetadata) bool { return m.Name == name })
	if i < 0 {
		return ToolMetadata{}, false
	}
	return p.ToolMetadata[i], true
}

// digestConnecting adds everything of a policy that connecting can turn on.
func (p *Policy) digestConnecting(d *digest) {
	d.add(p.ID)
	for _, r := range []ApprovalRules{p.Host, p.Core} {
		d.addRules(r.Capabilities)
		for _, risk := range slices.Sorted(maps.Keys(r.Risks)) {
			d.add(string(risk), string(r.Risks[risk]))
		}
		d.add("", string(r.Default))
	}
}

// digestAll adds the whole policy.
func (p *Policy) digestAll(d *digest) {
	p.digestConnecting(d)
	d.addRules(p.Host.Tools)
	d.addRules(p.Core.Tools)
	for _, m := range p.ToolMetadata {
		d.add(m.Name, string(m.Risk), string(m.Approval), m.Capability)
	}
}
