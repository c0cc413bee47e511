package validation

import (
	"context"
	"slices"

	"github.com/evolve-mcp/evolve/runtime"
)

// approver answers from what the command line and the host's configuration say,
// and asks a person about the rest.
type approver struct{ r Request }

// Approve implements runtime.Approver.
func (a *approver) Approve(ctx context.Context, q runtime.ApprovalRequest) (runtime.Answer, error) {
	switch q.Kind {
	case runtime.ConnectApproval:
		if slices.Contains(a.r.ApproveConnect, q.ServerID) || slices.Contains(a.r.Config.ApproveConnect, q.ServerID) {
			return runtime.ForSession, nil
		}
	case runtime.CallApproval:
		if a.r.ApproveCall {
			return runtime.Once, nil
		}
	}
	if a.r.Person == nil {
		return runtime.No, nil
	}
	return a.r.Person.Approve(ctx, q)
}
