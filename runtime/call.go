package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/runtime/internal/stdio"
)

// maxArguments bounds the arguments of one call, in bytes.
const maxArguments = 4 << 20

// The reasons of an invalid call. They are stable.
const (
	reasonTurn        = "turn_not_bound"
	reasonOtherTurn   = "turn_does_not_fit"
	reasonClosed      = "closed"
	reasonArguments   = "arguments_not_an_object"
	reasonRevoked     = "approval_revoked"
	reasonDeclaration = "declaration_changed"
)

// call is one call on its way.
type call struct {
	host *Host
	b    *bound
	ref  ToolRef
	args json.RawMessage
	what subject
}

// Call calls a tool for a turn. args is a JSON object; nil stands for an empty
// one. Every call needs its own capability and approval. It never fails without
// a Result: the status says how it ended.
func (h *Host) Call(ctx context.Context, t Turn, ref ToolRef, args json.RawMessage) Result {
	start := h.options.Now()
	r := h.call(ctx, t, ref, args)
	r.Duration = h.since(start)
	if ref.conn != nil {
		srv := ref.conn.server
		h.events.emit(Event{
			Name: ToolCalled, Session: t.Session, Turn: t.ID, ServerID: srv.ServerID(), Path: srv.Path(),
			Tool: string(redact.Name(redact.NewRaw(ref.tool))), Status: string(r.Status), Reason: r.Reason,
			Duration: r.Duration, Started: r.Started,
		})
	}
	return r
}

func (h *Host) call(ctx context.Context, t Turn, ref ToolRef, args json.RawMessage) Result {
	if ref.conn == nil {
		return h.refused(NotFound, "tool_unknown", "there is no such tool")
	}
	b, err := h.bind(t)
	if err != nil {
		return h.refused(Invalid, reasonTurn, err.Error())
	}
	if !h.begin() {
		return h.refused(Invalid, reasonClosed, "the host is closed")
	}
	defer h.work.Done()
	if len(bytes.TrimSpace(args)) == 0 || string(bytes.TrimSpace(args)) == "null" {
		args = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if len(args) > maxArguments || json.Unmarshal(args, &object) != nil {
		return h.refused(Invalid, reasonArguments, "the arguments are not a JSON object of at most 4 MiB")
	}
	c := &call{host: h, b: b, ref: ref, args: args, what: b.Policy.calling(ref.conn.server.d, ref.exposed, ref.tool)}
	if r := c.fits(); r != nil {
		return *r
	}
	// Whatever ends the connection ends the wait for approval and for a turn.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ref.conn.life, func() { cancel(errConnectionClosed) })()
	if r := c.approved(ctx); r != nil {
		return *r
	}
	return c.run(ctx)
}

// refused is a result without anything of a server.
func (h *Host) refused(status Status, reason, text string) Result {
	none := redact.NewRedactor()
	return Result{Status: status, Reason: reason, Views: redact.BuildViews(
		redact.ViewSource{Status: string(status), Kinds: reason, Text: text}, none, none, h.options.Limits.Views)}
}

// fits checks that the turn is still the one that the tool's connection belongs
// to.
func (c *call) fits() *Result {
	conn := c.ref.conn
	reason, text := "", ""
	switch {
	case c.b.Session != conn.session || c.b.Core != conn.core || c.b.authority != conn.authority:
		reason, text = reasonOtherTurn, "the turn is not the one that the catalog was prepared for"
	case c.ref.catalog.closed.Load() || !c.ref.catalog.session.current(conn):
		reason, text = reasonClosed, "the connection was closed; prepare a new catalog"
	case !conn.grant.good():
		reason, text = reasonRevoked, "the approval of the connection was revoked or has expired; prepare a new catalog"
	}
	if reason == "" {
		if srv, ok := c.b.find(conn.server.ServerID()); !ok || srv.fingerprint != conn.server.fingerprint {
			reason, text = reasonDeclaration, "the declaration changed; prepare a new catalog"
		}
	}
	if reason == "" {
		return nil
	}
	r := c.host.refused(Invalid, reason, text)
	return &r
}

// approved checks capability and approval of the call.
func (c *call) approved(ctx context.Context) *Result {
	srv := c.ref.conn.server
	deny := func(reason, text string) *Result {
		c.host.emitDenied(c.b, srv, &denial{capability: shownCapability(c.what.capability), reason: reason})
		r := c.host.refused(Denied, reason, text)
		return &r
	}
	if !c.b.Capabilities.Allows(c.what.capability) {
		return deny(reasonCapability, "the session does not hold the capability "+shownCapability(c.what.capability))
	}
	policy := c.b.Policy.effective(c.what)
	if policy == Deny {
		return deny(reasonPolicy, "the policy denies this call")
	}
	key := approvalKey{c.b.Principal, c.b.Session, c.b.policy, srv.fingerprint, CallApproval, c.ref.tool}
	ok, err := c.host.approvals.ask(ctx, key, ApprovalRequest{
		Kind: CallApproval, Principal: c.b.Principal, Session: c.b.Session, Turn: c.b.ID,
		ServerID: srv.ServerID(), Path: srv.Path(), Tool: string(redact.Name(redact.NewRaw(c.ref.tool))),
		Capability: shownCapability(c.what.capability), Policy: policy, Risk: c.what.risk,
		Preview: c.host.previews.call(srv.d, c.args),
	})
	switch {
	case err != nil:
		r := c.ended(err)
		return &r
	case !ok:
		return deny(reasonNotApproved, "the call was not approved")
	}
	return nil
}

// ended is the result of a wait that a context ended before anything started.
func (c *call) ended(err error) Result {
	if errors.Is(err, errConnectionClosed) {
		return c.host.refused(Invalid, reasonClosed, "the connection was closed; prepare a new catalog")
	}
	return c.host.refused(Cancelled, "", "the call was cancelled before it was made")
}

// shownCapability is a capability as people and models may read it.
func shownCapability(name string) string {
	shown, _ := redact.Show(redact.Capability, redact.NewRaw(name))
	return string(shown)
}

// run makes the call, alone on its connection if the declaration says so.
func (c *call) run(ctx context.Context) Result {
	conn := c.ref.conn
	ctx, cancel := context.WithTimeoutCause(ctx, conn.server.CallTimeout(), errCallTimeout)
	defer cancel()
	if conn.serial != nil {
		select {
		case conn.serial <- struct{}{}:
			defer func() { <-conn.serial }()
		case <-ctx.Done():
		}
		if over(ctx) { // also where its turn came in the same moment
			<-ctx.Done()
			if errors.Is(context.Cause(ctx), errCallTimeout) {
				return c.host.refused(TimedOut, "", "other calls of the server took all the time")
			}
			return c.ended(context.Cause(ctx))
		}
	}
	if r := c.fits(); r != nil { // it took a while to get here
		return *r
	}
	token := conn.tokens.Add(1)
	conn.mu.Lock()
	conn.calls[token] = c.ref.tool
	conn.mu.Unlock()
	defer func() {
		conn.mu.Lock()
		delete(conn.calls, token)
		conn.mu.Unlock()
	}()
	request := mcp.CallToolRequest{}
	request.Params.Name = c.ref.tool
	request.Params.Arguments = c.args
	if c.host.notes != nil {
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	reqCtx, kept := withCapture(withTurn(ctx, c.b.ID))
	reqCtx, why := conn.link.prepare(reqCtx)
	_, err := conn.client.CallTool(reqCtx, request)
	return c.result(ctx, err, why(), kept)
}

// over reports whether a context has ended, or its deadline has come and it is about
// to.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// errCallTimeout is the cause of a call's own deadline.
var errCallTimeout = errors.New("timeout_seconds passed")

// result reads how a call that was made ended.
func (c *call) result(ctx context.Context, err, why error, kept *capture) Result {
	raw, failed := kept.get()
	var r Result
	var conv converted
	switch {
	case raw != nil:
		conv = convert(raw)
		r.Status = Succeeded
		if conv.failed {
			r.Status = Failed
		}
		if conv.input {
			r.Status = InputRequired
		}
	case failed != nil:
		r.Status = Failed
		conv = converted{text: failed.Message, kinds: fmt.Sprintf("error %d", failed.Code)}
	default:
		r.Status, conv = c.lost(ctx, err, why)
	}
	r.Started = kept.wasSent()
	var unsent *stdio.NotSent
	switch {
	case !errors.As(err, &unsent):
	case errors.Is(context.Cause(ctx), errConnectionClosed):
		return c.ended(errConnectionClosed)
	default:
		r.Status, r.Reason, r.Started = Failed, "connection_lost", false
	}
	if status, reason, ok := notSent(why, c.ref.conn.link.origin); ok && raw == nil && failed == nil {
		r.Status, r.Reason, r.Started = status, reason, false
	}
	r.Media = conv.media
	secret, private := argumentTexts(c.args)
	model := c.ref.conn.redactor.With(secret...)
	detail := fmt.Sprintf("server %s, protocol %s, %d bytes", c.ref.conn.server.ServerID(), c.ref.conn.protocol, len(raw))
	r.Views = redact.BuildViews(redact.ViewSource{
		Status: string(r.Status), Kinds: conv.kinds, Detail: detail, Structured: conv.structured, Text: conv.text,
	}, model, model.With(private...), c.host.options.Limits.Views)
	return r
}

// lost is the status of a call that got no answer.
func (c *call) lost(ctx context.Context, err, why error) (Status, converted) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errCallTimeout), cause == nil && errors.Is(err, context.DeadlineExceeded):
		return TimedOut, converted{text: "the call took longer than timeout_seconds", kinds: "timeout"}
	case errors.Is(cause, errConnectionClosed):
		return Indeterminate, converted{text: "the connection was closed during the call", kinds: "closed"}
	case cause != nil:
		return Cancelled, converted{text: "the call was cancelled", kinds: "cancelled"}
	}
	p := explain("the call", err, why, &capture{}, c.ref.conn.redactor)
	return Indeterminate, converted{text: p.message, kinds: "no answer"}
}

// notSent tells a request over HTTP that never reached the server: the URL
// policy refused it, or no connection came about.
func notSent(why error, origin string) (status Status, reason string, ok bool) {
	e := httpErrorOf(why)
	switch {
	case e == nil || e.Origin != origin:
		return "", "", false // a hop that was refused comes after a request that was answered
	case e.Refused:
		return Denied, string(e.Reason), true
	case e.Reason == httpDialFailed || e.Reason == httpTLSFailed || e.Reason == httpNoDecision || e.Reason == httpConnectionsClosed:
		return Failed, string(e.Reason), true
	}
	return "", "", false
}
