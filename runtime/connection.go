package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// connection is one initialised server of one session, under one authority and
// one declaration.
type connection struct {
	host      *Host
	session   string
	core      string
	authority string
	server    server
	grant     *grant // the approval that it rests on

	link     *link
	client   *client.Client
	redactor *redact.Redactor
	protocol string
	serial   chan struct{} // one token, if calls must not overlap
	life     context.Context
	end      context.CancelCauseFunc
	work     sync.WaitGroup

	stale  atomic.Bool // the server said that its tools changed
	tokens atomic.Int64
	tools  []toolDef // replaced only while its session is being prepared

	mu    sync.Mutex
	calls map[int64]string // tools by progress token
	once  sync.Once
}

// errConnectionClosed is why requests on a closed connection end.
var errConnectionClosed = errors.New("the connection was closed")

// connect starts or dials a server, initialises it and lists its tools, all
// within ctx. The error is a *problem or ctx's.
func (h *Host) connect(ctx context.Context, b *bound, s server, p permit) (*connection, error) {
	values, missing := resolve(s.d, h.options.LookupEnv)
	if missing != "" {
		return nil, problemf("the environment variable %s is not set", missing)
	}
	c := &connection{
		host: h, session: b.Session, core: b.Core, authority: b.authority, server: s, grant: p.grant,
		redactor: redact.NewRedactor(secretsOf(s.d, values)...), calls: map[int64]string{},
	}
	if !s.d.Parallel {
		c.serial = make(chan struct{}, 1)
	}
	c.life, c.end = context.WithCancelCause(withTurn(h.life, b.ID))
	var err error
	if s.HTTP() {
		c.link, err = h.dialHTTP(b, s, values)
	} else {
		c.link, err = h.dialStdio(ctx, c.life, b, s, p.dir, values)
	}
	if err != nil {
		c.end(errConnectionClosed)
		return nil, err
	}
	if err := c.open(ctx); err != nil {
		h.closeLater(c)
		return nil, err
	}
	return c, nil
}

// open speaks the protocol up to the list of tools.
func (c *connection) open(ctx context.Context) error {
	elicitor := c.host.options.Elicitor
	options := []client.ClientOption{client.WithDiscoverTimeout(c.server.ConnectTimeout() / 3)}
	if elicitor != nil {
		options = append(options, client.WithElicitationHandler(c.elicitor()))
	}
	c.client = client.NewClient(c.tapped(elicitor != nil), options...)
	c.client.OnNotification(c.notified)
	if err := c.client.Start(c.life); err != nil {
		return problemf("the connection could not be started")
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "evolve", Version: "1"}
	reqCtx, kept := withCapture(ctx)
	reqCtx, why := c.link.prepare(reqCtx)
	result, err := c.client.Initialize(reqCtx, request)
	if err != nil {
		return c.problem(ctx, "initialize", err, why, kept)
	}
	c.protocol = c.client.ProtocolVersion()
	if c.tools, err = c.list(ctx); err != nil {
		return err
	}
	c.listen(result)
	return nil
}

// problem explains an error, unless it is the caller's own.
func (c *connection) problem(ctx context.Context, what string, err error, why func() error, kept *capture) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return explain(what, err, why(), kept, c.redactor)
}

// tapped puts the tap between the protocol library and the link.
func (c *connection) tapped(elicits bool) transport.Interface {
	inner, ok := c.link.transport.(transport.BidirectionalInterface)
	if !ok {
		return c.link.transport
	}
	t := tap{BidirectionalInterface: inner, elicits: elicits}
	if _, overHTTP := inner.(transport.HTTPConnection); !overHTTP {
		return &t
	}
	return &httpTap{tap: t, life: c.life, limit: c.host.shutdownLimit}
}

// listen asks a server of the newest protocol for its notifications; older ones
// send them unasked.
func (c *connection) listen(r *mcp.InitializeResult) {
	if !mcp.IsModernProtocol(c.protocol) || r.Capabilities.Tools == nil || !r.Capabilities.Tools.ListChanged {
		return
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		_ = c.client.Listen(c.life, mcp.SubscriptionFilter{ToolsListChanged: true})
	}()
}

// alive reports whether requests can still be made.
func (c *connection) alive() bool {
	select {
	case <-c.life.Done():
		return false
	case <-c.link.lost: // nil blocks: never known to be lost
		return false
	default:
		return true
	}
}

// close ends the connection and everything that belongs to it. It returns when
// nothing is left.
func (c *connection) close() {
	c.once.Do(func() {
		c.end(errConnectionClosed)
		c.grant.release()
		if c.client != nil {
			_ = c.client.Close()
		} else {
			_ = c.link.transport.Close()
		}
		c.work.Wait()
		if c.link.closed != nil {
			c.link.closed()
		}
	})
}

// toolDef is one tool as the server defines it.
type toolDef struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage
	Output      json.RawMessage
	Annotations json.RawMessage
}

// list reads all pages of tools/list, within limits.
func (c *connection) list(ctx context.Context) ([]toolDef, error) {
	limits := c.host.options.Limits
	request := mcp.ListToolsRequest{}
	seen := map[mcp.Cursor]bool{"": true}
	var tools []toolDef
	size := 0
	for range limits.Pages {
		reqCtx, kept := withCapture(ctx)
		reqCtx, why := c.link.prepare(reqCtx)
		typed, err := c.client.ListToolsByPage(reqCtx, request)
		raw, failed := kept.get()
		if failed != nil && failed.Code == mcp.METHOD_NOT_FOUND && len(tools) == 0 {
			return nil, nil // a server without tools
		}
		if raw == nil {
			return nil, c.problem(ctx, "tools/list", err, why, kept)
		}
		page, next, err := readPage(raw, typed)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page...)
		if size += len(raw); size > limits.ToolBytes || len(tools) > limits.Tools {
			return nil, problemf("tools/list failed: the server has more tools than the limit allows")
		}
		if next == "" {
			return c.scrubbed(tools)
		}
		if seen[next] {
			return nil, problemf("tools/list failed: the server gave the same page twice")
		}
		seen[next] = true
		request.Params.Cursor = next
	}
	return nil, problemf("tools/list failed: the server has more pages than the limit allows")
}

// readPage takes the tools of a page from the raw answer. typed, if the library
// could read the page, says which of them may be used: over HTTP it drops those
// whose header annotations are not valid.
func readPage(raw json.RawMessage, typed *mcp.ListToolsResult) ([]toolDef, mcp.Cursor, error) {
	var page struct {
		Tools      []json.RawMessage `json:"tools"`
		NextCursor mcp.Cursor        `json:"nextCursor"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, "", problemf("tools/list failed: the server did not answer as the protocol says")
	}
	usable := map[string]int{}
	if typed != nil {
		for _, t := range typed.Tools {
			usable[t.Name]++
		}
	}
	var out []toolDef
	for _, item := range page.Tools {
		t, ok := readTool(item)
		if !ok || typed != nil && usable[t.Name] == 0 {
			continue
		}
		usable[t.Name]--
		out = append(out, t)
	}
	return out, page.NextCursor, nil
}

// maxToolName bounds a server's own name for a tool, in bytes.
const maxToolName = 512

// anyObject is the schema of a tool that gives none.
const anyObject = `{"type":"object"}`

func readTool(item json.RawMessage) (toolDef, bool) {
	var t struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Input       json.RawMessage `json:"inputSchema"`
		Output      json.RawMessage `json:"outputSchema"`
		Annotations json.RawMessage `json:"annotations"`
	}
	if json.Unmarshal(item, &t) != nil || t.Name == "" || len(t.Name) > maxToolName {
		return toolDef{}, false
	}
	if !isObject(t.Input) {
		t.Input = json.RawMessage(anyObject)
	}
	return toolDef{t.Name, t.Title, t.Description, t.Input, orNil(t.Output), orNil(t.Annotations)}, true
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func orNil(raw json.RawMessage) json.RawMessage {
	if !isObject(raw) {
		return nil
	}
	return raw
}

// scrubbed redacts what a server says of its tools. A schema without a secret
// keeps its bytes. A name that holds one cannot be called, nor shown.
func (c *connection) scrubbed(tools []toolDef) ([]toolDef, error) {
	out := slices.Clone(tools[:0:0])
	for _, t := range tools {
		name, err := c.redactor.Redact(t.Name)
		if err != nil || name != t.Name {
			continue
		}
		texts := []*string{&t.Title, &t.Description}
		for _, p := range texts {
			if *p, err = c.redactor.Redact(*p); err != nil {
				*p = redact.FailedView
			}
		}
		for _, p := range []*json.RawMessage{&t.Input, &t.Output, &t.Annotations} {
			if *p != nil {
				*p = c.scrubbedSchema(*p)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

func (c *connection) scrubbedSchema(raw json.RawMessage) json.RawMessage {
	if c.redactor.Idle() {
		return raw
	}
	clean, err := c.redactor.KeepJSON(raw)
	if err != nil {
		return json.RawMessage(anyObject)
	}
	return clean
}

// relist asks again for the tools. The caller holds a slot of discovery.
func (c *connection) relist(ctx context.Context) error {
	c.stale.Store(false)
	tools, err := c.list(ctx)
	if err != nil {
		return err
	}
	c.tools = tools
	return nil
}

// turnOf and withTurn carry the id of the turn to events of the transport.
type turnKey struct{}

func withTurn(ctx context.Context, turn string) context.Context {
	return context.WithValue(ctx, turnKey{}, turn)
}

func turnOf(ctx context.Context) string {
	turn, _ := ctx.Value(turnKey{}).(string)
	return turn
}

// event fills in what every event of a server has.
func (b *bound) event(name EventName, s server) Event {
	return Event{Name: name, Session: b.Session, Turn: b.ID, ServerID: s.ServerID(), Path: s.Path()}
}

// since is a duration by the host's clock.
func (h *Host) since(t time.Time) time.Duration { return h.options.Now().Sub(t) }
