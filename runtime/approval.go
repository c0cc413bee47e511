package runtime

import (
	"context"
	"sync"
	"time"
)

// Answer is what an Approver decides.
type Answer int

// The answers. The zero value is no.
const (
	No Answer = iota
	// Once: this connection, or this call.
	Once
	// ForSession: until it expires or is revoked, for the same principal,
	// session, policy and declaration; for a call, for the same tool.
	ForSession
)

// ApprovalKind is what is to be approved.
type ApprovalKind string

// The kinds.
const (
	ConnectApproval ApprovalKind = "connect"
	CallApproval    ApprovalKind = "call"
)

// ApprovalRequest is what an Approver is shown. Nothing in it is secret.
type ApprovalRequest struct {
	Kind               ApprovalKind
	Principal, Session string
	Turn               string
	ServerID, Path     string
	Tool               string // the server's own name, escaped; empty for connecting
	Capability         string
	Policy             Approval // auto never reaches an approver
	Risk               Risk
	Preview            Preview
}

// Approver decides on one request at a time. An error, and a context that ends,
// count as no.
type Approver interface {
	Approve(ctx context.Context, r ApprovalRequest) (Answer, error)
}

// approvalKey is what an approval for a session is good for.
type approvalKey struct {
	principal, session, policy, fingerprint string
	kind                                    ApprovalKind
	tool                                    string
}

// approvals asks the approver, one request at a time, and remembers answers.
type approvals struct {
	approver Approver
	now      func() time.Time
	life     time.Duration
	prompt   chan struct{} // one token: one prompt at a time

	mu      sync.Mutex
	expires map[approvalKey]time.Time
	grants  map[*grant]bool // what connections rest on
	epoch   int             // counts revocations
}

// maxApprovals bounds what is remembered.
const maxApprovals = 10_000

func newApprovals(o Options) *approvals {
	return &approvals{
		approver: o.Approver, now: o.Now, life: o.Limits.ApprovalLife,
		prompt: make(chan struct{}, 1), expires: map[approvalKey]time.Time{},
		grants: map[*grant]bool{},
	}
}

// known reports whether an approval for the session is still good.
func (a *approvals) known(k approvalKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	until, ok := a.expires[k]
	if ok && !a.now().Before(until) {
		delete(a.expires, k)
		return false
	}
	return ok
}

// ask returns whether a request is approved. The error is the context's.
func (a *approvals) ask(ctx context.Context, k approvalKey, r ApprovalRequest) (bool, error) {
	switch {
	case r.Policy == Auto:
		return true, nil
	case r.Policy != Prompt:
		return false, nil
	case a.known(k):
		return true, nil
	case a.approver == nil:
		return false, nil
	}
	select {
	case a.prompt <- struct{}{}:
		defer func() { <-a.prompt }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if a.known(k) { // somebody answered while we waited
		return true, nil
	}
	epoch := a.revocations()
	answer, err := a.consult(ctx, r)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil || answer != Once && answer != ForSession {
		return false, nil //nolint:nilerr // an approver that fails says no
	}
	if answer == ForSession {
		a.remember(k, epoch)
	}
	return true, nil
}

// consult lets the context end a wait for an approver that ignores it. A panic
// of the approver says no.
func (a *approvals) consult(ctx context.Context, r ApprovalRequest) (answer Answer, err error) {
	type reply struct {
		answer Answer
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		out := reply{err: ErrClosed}
		defer func() {
			_ = recover()
			replies <- out
		}()
		out.answer, out.err = a.approver.Approve(ctx, r)
	}()
	select {
	case got := <-replies:
		return got.answer, got.err
	case <-ctx.Done():
		return No, ctx.Err()
	}
}

func (a *approvals) revocations() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.epoch
}

// remember keeps an answer, unless approvals were revoked while it was given.
func (a *approvals) remember(k approvalKey, epoch int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.epoch != epoch || len(a.expires) >= maxApprovals {
		return
	}
	a.expires[k] = a.now().Add(a.life)
}

// revoke forgets the approvals of a principal and a session; "" stands for any.
func (a *approvals) revoke(principal, session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.epoch++
	concerns := func(k approvalKey) bool {
		return (principal == "" || k.principal == principal) && (session == "" || k.session == session)
	}
	for k := range a.expires {
		if concerns(k) {
			delete(a.expires, k)
		}
	}
	for g := range a.grants {
		if concerns(g.key) {
			g.revoked.Store(true)
		}
	}
}
