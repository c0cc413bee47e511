package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// errWrongID: a server answered something that was not asked.
var errWrongID = errors.New("the server answered another request than the one that was made")

// capture keeps the last raw answer under one context: the protocol library's
// types drop what they do not know.
type capture struct {
	mu     sync.Mutex
	result json.RawMessage
	failed *mcp.JSONRPCErrorDetails
	sent   bool // a request was handed to the transport
}

type captureKey struct{}

func withCapture(ctx context.Context) (context.Context, *capture) {
	c := &capture{}
	return context.WithValue(ctx, captureKey{}, c), c
}

func captureOf(ctx context.Context) *capture {
	c, _ := ctx.Value(captureKey{}).(*capture)
	if c == nil {
		return &capture{} // nobody asks
	}
	return c
}

func (c *capture) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent, c.result, c.failed = true, nil, nil
}

func (c *capture) keep(r *transport.JSONRPCResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result, c.failed = r.Result, r.Error
}

// get returns the last answer: a result, or an error of the server, or neither.
func (c *capture) get() (json.RawMessage, *mcp.JSONRPCErrorDetails) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result, c.failed
}

func (c *capture) wasSent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// tap is a transport between the protocol library and a connection. It keeps
// raw answers, checks that an answer is one to the request, demands that a
// server which claims the newest protocol says so, and refuses the server's
// requests that nobody answers.
type tap struct {
	transport.BidirectionalInterface
	elicits bool
}

// SendRequest implements transport.Interface.
func (t *tap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	kept := captureOf(ctx)
	kept.begin()
	answer, err := t.exchange(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Method == string(mcp.MethodServerDiscover) {
		if offers(answer.Error) { // it refused once what it says it speaks: ask again
			if answer, err = t.exchange(ctx, r); err != nil {
				return nil, err
			}
		}
		if answer.Error == nil && !discovered(answer.Result) {
			return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "not a discovery", nil), nil
		}
	}
	kept.keep(answer)
	return answer, nil
}

// exchange sends a request and checks that the answer is one to it.
func (t *tap) exchange(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	answer, err := t.BidirectionalInterface.SendRequest(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case answer == nil:
		return nil, errWrongID
	case answer.ID.String() == r.ID.String():
	case answer.ID.IsNil() && answer.Error != nil: // the server could not read the request
	default:
		return nil, errWrongID
	}
	return answer, nil
}

// offers reports whether a refusal of a version names the newest one.
func offers(e *mcp.JSONRPCErrorDetails) bool {
	if e == nil || e.Code != mcp.UNSUPPORTED_PROTOCOL_VERSION {
		return false
	}
	raw, err := json.Marshal(e.Data)
	var data mcp.UnsupportedProtocolVersionData
	return err == nil && json.Unmarshal(raw, &data) == nil && slices.Contains(data.Supported, mcp.ProtocolVersion20260728)
}

// discovered reports whether a result of server/discover names a version of
// that era that is spoken here. A server that answers {} to everything does not.
func discovered(result json.RawMessage) bool {
	var r struct {
		SupportedVersions []string `json:"supportedVersions"`
	}
	return json.Unmarshal(result, &r) == nil &&
		slices.Contains(r.SupportedVersions, mcp.ProtocolVersion20260728)
}

// SetRequestHandler lets through what is answered here: pings, and what the
// user is asked if there is somebody to ask.
func (t *tap) SetRequestHandler(handler transport.RequestHandler) {
	t.BidirectionalInterface.SetRequestHandler(
		func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
			switch {
			case r.Method == string(mcp.MethodPing):
			case r.Method == string(mcp.MethodElicitationCreate) && t.elicits:
			default:
				return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "method not found", nil), nil
			}
			return handler(ctx, r)
		})
}

// httpTap is a tap over HTTP: the protocol library tells it the version, and
// before 2026-07-28 it does not tell the server of a request that was given up.
type httpTap struct {
	tap
	life    context.Context // of the connection
	limit   func() (context.Context, context.CancelFunc)
	pending sync.WaitGroup

	mu      sync.Mutex
	version string
	ended   bool
}

var _ transport.HTTPConnection = (*httpTap)(nil)

// SetProtocolVersion implements transport.HTTPConnection.
func (t *httpTap) SetProtocolVersion(version string) {
	t.mu.Lock()
	t.version = version
	t.mu.Unlock()
	if inner, ok := t.BidirectionalInterface.(transport.HTTPConnection); ok {
		inner.SetProtocolVersion(version)
	}
}

// SendRequest implements transport.Interface.
func (t *httpTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	answer, err := t.tap.SendRequest(ctx, r)
	if err != nil && ctx.Err() != nil {
		t.giveUp(r)
	}
	if err == nil && r.Method == string(mcp.MethodToolsList) && t.modern() {
		answer.Result = withoutBadHeaders(answer.Result)
		captureOf(ctx).keep(answer)
	}
	return answer, err
}

func (t *httpTap) modern() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return mcp.IsModernProtocol(t.version)
}

// withoutBadHeaders drops tools whose x-mcp-header annotations are not valid, as
// the protocol demands over HTTP. The library does so too, but logs the server's
// words to the process's own log.
func withoutBadHeaders(result json.RawMessage) json.RawMessage {
	var page map[string]json.RawMessage
	var tools []json.RawMessage
	if json.Unmarshal(result, &page) != nil || json.Unmarshal(page["tools"], &tools) != nil {
		return result
	}
	kept := slices.DeleteFunc(slices.Clone(tools), func(raw json.RawMessage) bool {
		var tool mcp.Tool
		return json.Unmarshal(raw, &tool) == nil && mcp.ValidateParamHeaderAnnotations(&tool) != nil
	})
	if len(kept) == len(tools) {
		return result
	}
	page["tools"], _ = json.Marshal(kept)
	out, err := json.Marshal(page)
	if err != nil {
		return result
	}
	return out
}

// giveUp tells the server, beside everything else, that nobody waits any more.
func (t *httpTap) giveUp(r transport.JSONRPCRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	handshake := r.Method == string(mcp.MethodInitialize) || r.Method == string(mcp.MethodServerDiscover)
	if t.ended || handshake || t.version == "" || mcp.IsModernProtocol(t.version) {
		return
	}
	t.pending.Add(1)
	go func() {
		defer t.pending.Done()
		ctx, cancel := t.limit()
		defer cancel()
		_ = t.SendNotification(ctx, mcp.JSONRPCNotification{
			JSONRPC: mcp.JSONRPC_VERSION,
			Notification: mcp.Notification{
				Method: string(mcp.MethodNotificationCancelled),
				Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": r.ID}},
			},
		})
	}()
}

// Close implements transport.Interface.
func (t *httpTap) Close() error {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.pending.Wait()
	return t.BidirectionalInterface.Close()
}
