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

func (t *tap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	kept := captureOf(ctx)
	kept.begin()
	answer, err := t.BidirectionalInterface.SendRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	switch {
	case answer == nil:
		return nil, errWrongID
	case answer.ID.String() == r.ID.String():
	case answer.ID.IsNil() && answer.Error != nil: // the server could not read the request
	default:
		return nil, errWrongID
	}
	if r.Method == string(mcp.MethodServerDiscover) && answer.Error == nil && !discovered(answer.Result) {
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "not a discovery", nil), nil
	}
	kept.keep(answer)
	return answer, nil
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
	return answer, err
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
