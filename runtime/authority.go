package runtime

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evolve-mcp/evolve/internal/netguard"
)

// permit is what connecting to one server rests on.
type permit struct {
	dir   string // of a child
	grant *grant
}

// denial is why a server is not connected, or a call not made.
type denial struct {
	capability string
	reason     string
	url        *URLPolicy
}

// The reasons of a denial that do not come from the URL policy. They are stable.
const (
	reasonCapability  = "capability_missing"
	reasonWorkspace   = "cwd_outside_workspace"
	reasonPolicy      = "policy_denies"
	reasonNotApproved = "not_approved"
)

// authorise decides whether a server may be connected: capability, directory,
// URL policy, approval, in this order. Nothing of the declaration is resolved,
// started or dialled before. The error is the context's.
func (h *Host) authorise(ctx context.Context, b *bound, s server) (permit, *denial, error) {
	var p permit
	capability := s.d.ConnectCapability()
	deny := func(reason string, url *URLPolicy) (permit, *denial, error) {
		return permit{}, &denial{capability, reason, url}, nil
	}
	if !b.Capabilities.Allows(capability) {
		return deny(reasonCapability, nil)
	}
	var url *URLPolicy
	if s.HTTP() {
		url = urlPolicyOf(h.urls.Decide(ctx, s.d.URL.Reveal()))
		if ctx.Err() != nil {
			return permit{}, nil, context.Cause(ctx)
		}
		if !url.Allowed {
			return deny(url.Reason, url)
		}
	} else {
		var ok bool
		if p.dir, ok = workdir(b.Workspace, s.d.Cwd.Reveal()); !ok {
			return deny(reasonWorkspace, nil)
		}
	}
	policy := b.Policy.connecting(s.d)
	if policy == Deny {
		return deny(reasonPolicy, url)
	}
	key := approvalKey{b.Principal, b.Session, b.policy, s.fingerprint, ConnectApproval, ""}
	grant := h.approvals.grant(key)
	ok, err := h.approvals.ask(ctx, key, ApprovalRequest{
		Kind: ConnectApproval, Principal: b.Principal, Session: b.Session, Turn: b.ID,
		ServerID: s.ServerID(), Path: s.Path(), Capability: capability, Policy: policy, Risk: s.Risk(),
		Preview: h.previews.server(s.d, url),
	})
	if err != nil || !ok {
		grant.release()
		if err != nil {
			return permit{}, nil, err
		}
		return deny(reasonNotApproved, url)
	}
	p.grant = grant
	return p, nil, nil
}

func urlPolicyOf(d netguard.Decision) *URLPolicy {
	a := d.Audit()
	return &URLPolicy{a.Allowed, string(a.Reason), a.Target, a.ResolvedAddresses}
}

// grant is an approval that a connection rests on: good until it expires, or is
// revoked.
type grant struct {
	owner   *approvals
	key     approvalKey
	until   time.Time
	revoked atomic.Bool
}

func (a *approvals) grant(k approvalKey) *grant {
	g := &grant{owner: a, key: k, until: a.now().Add(a.life)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.grants[g] = true
	return g
}

func (g *grant) good() bool { return !g.revoked.Load() && g.owner.now().Before(g.until) }

func (g *grant) release() {
	g.owner.mu.Lock()
	defer g.owner.mu.Unlock()
	delete(g.owner.grants, g)
}
