package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Limits of one connection.
const (
	// maxNoise bounds what a server may write to its standard output that is no
	// message, in bytes over the life of the connection. A banner is a few
	// hundred.
	maxNoise = 1 << 20
	// maxServerRequests bounds the requests of the server that wait for an
	// answer.
	maxServerRequests = 16
	// replyTimeout bounds the writing of an answer to the server.
	replyTimeout = 10 * time.Second
)

// Transport carries JSON-RPC over a Stream. It is mcp-go's transport interface;
// unlike mcp-go's own it bounds every read and write, refuses responses to
// requests that were never made, and says why it ended.
type Transport struct {
	frames *frameReader
	writer *frameWriter
	stream Stream

	started sync.Once
	ended   sync.Once
	done    chan struct{} // closed when the connection is of no use any more
	work    sync.WaitGroup
	life    context.Context // ends with done
	cancel  context.CancelFunc

	mu        sync.Mutex
	reason    error
	pending   map[int64]chan *transport.JSONRPCResponse
	highest   int64 // of the ids that were sent
	answering int   // requests of the server that have no answer yet
	onNote    func(mcp.JSONRPCNotification)
	onRequest transport.RequestHandler
}

var _ transport.BidirectionalInterface = (*Transport)(nil)

// NewTransport carries messages over s, which it closes. life bounds the
// answers to the server's own requests and carries their values; when it ends,
// Close must still be called.
func NewTransport(life context.Context, s Stream) *Transport {
	life, cancel := context.WithCancel(life)
	return &Transport{
		frames: newFrameReader(s, MaxFrame), writer: newFrameWriter(s), stream: s,
		done: make(chan struct{}), life: life, cancel: cancel,
		pending: map[int64]chan *transport.JSONRPCResponse{},
	}
}

// Start begins to read. The context is not kept.
func (t *Transport) Start(context.Context) error {
	t.started.Do(func() {
		t.work.Add(1)
		go func() {
			defer t.work.Done()
			t.fail(t.read())
		}()
	})
	return nil
}

// Done is closed when the connection cannot be used any more.
func (t *Transport) Done() <-chan struct{} { return t.done }

// Err says why Done is closed: an Error, or nil while it is open.
func (t *Transport) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reason
}

// Close ends the connection and waits for everything that it started.
func (t *Transport) Close() error {
	t.fail(ErrClosed)
	err := t.stream.Close()
	t.work.Wait()
	return err
}

// GetSessionId returns "": a stream has no session.
func (*Transport) GetSessionId() string { return "" } //nolint:revive // the name is that of mcp-go's interface

// SetNotificationHandler sets who gets notifications, one at a time.
func (t *Transport) SetNotificationHandler(f func(mcp.JSONRPCNotification)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onNote = f
}

// SetRequestHandler sets who answers the server's requests. Without one they
// get "method not found".
func (t *Transport) SetRequestHandler(f transport.RequestHandler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onRequest = f
}

// fail ends the connection for a reason; the first one counts.
func (t *Transport) fail(reason error) {
	t.ended.Do(func() {
		t.mu.Lock()
		t.reason = reason
		t.mu.Unlock()
		close(t.done)
		t.cancel()
	})
}

// SendRequest sends a request and waits for its response.
func (t *Transport) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, ok := r.ID.Value().(int64)
	if !ok {
		return nil, ErrWrongID
	}
	answer := make(chan *transport.JSONRPCResponse, 1)
	t.mu.Lock()
	t.pending[id] = answer
	t.highest = max(t.highest, id)
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.pending, id)
		t.mu.Unlock()
	}()
	if err := t.send(ctx, r); err != nil {
		return nil, err
	}
	select {
	case response := <-answer:
		return response, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.done:
	}
	select {
	case response := <-answer: // it came before the end
		return response, nil
	default:
		return nil, t.Err()
	}
}

// SendNotification sends a notification.
func (t *Transport) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	return t.send(ctx, n)
}

func (t *Transport) send(ctx context.Context, message any) error {
	select {
	case <-t.done:
		return &NotSent{t.Err()}
	default:
	}
	frame, err := json.Marshal(message)
	if err != nil {
		return ErrRequestLarge
	}
	if len(frame) > MaxFrame {
		return ErrRequestLarge
	}
	broken, err := t.writer.write(ctx, t.done, append(frame, '\n'))
	if broken {
		t.fail(ErrWrite)
	}
	return err
}

// read handles messages until the stream ends, and says why it did.
func (t *Transport) read() error {
	noise := 0
	for {
		line, err := t.frames.next()
		var own Error
		switch {
		case err == nil:
		case errors.As(err, &own):
			return own
		default: // the end, or a pipe that broke
			return ErrEnded
		}
		if len(line) == 0 {
			continue
		}
		known, err := t.handle(line)
		if err != nil {
			return err
		}
		if !known {
			if noise += len(line) + 1; noise > maxNoise {
				return ErrNoise
			}
		}
	}
}

// envelope is what tells the kinds of message apart.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
}

// handle takes one line; known says that it was a message.
func (t *Transport) handle(line []byte) (known bool, err error) {
	var e envelope
	if line[0] != '{' || json.Unmarshal(line, &e) != nil || e.JSONRPC != mcp.JSONRPC_VERSION {
		return false, nil
	}
	hasID := len(e.ID) > 0 && string(e.ID) != "null"
	switch {
	case e.Method != nil && hasID:
		var r transport.JSONRPCRequest
		if json.Unmarshal(line, &r) != nil {
			return false, nil
		}
		return true, t.answer(r)
	case e.Method != nil:
		t.notify(line)
		return true, nil
	case hasID:
		return true, t.deliver(line)
	}
	return true, nil // an error without an id: there is nobody to give it to
}

func (t *Transport) notify(line []byte) {
	t.mu.Lock()
	handler := t.onNote
	t.mu.Unlock()
	var n mcp.JSONRPCNotification
	if handler != nil && json.Unmarshal(line, &n) == nil {
		handler(n)
	}
}

// deliver hands a response to who waits for it. A response to a request that
// was given up is dropped; one to a request that was never made is an error.
func (t *Transport) deliver(line []byte) error {
	var r transport.JSONRPCResponse
	if json.Unmarshal(line, &r) != nil {
		return ErrNoise
	}
	id, ok := r.ID.Value().(int64)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok || id < 1 || id > t.highest {
		return ErrWrongID
	}
	if waiting := t.pending[id]; waiting != nil {
		delete(t.pending, id)
		waiting <- &r
	}
	return nil
}

// answer lets the handler answer a request of the server, beside the reading.
func (t *Transport) answer(r transport.JSONRPCRequest) error {
	t.mu.Lock()
	handler := t.onRequest
	t.answering++
	flooded := t.answering > maxServerRequests
	t.mu.Unlock()
	if flooded {
		return ErrFlooded
	}
	t.work.Add(1)
	go func() {
		defer t.work.Done()
		response := t.respond(handler, r)
		ctx, cancel := context.WithTimeout(t.life, replyTimeout)
		defer cancel()
		_ = t.send(ctx, response)
		t.mu.Lock()
		t.answering--
		t.mu.Unlock()
	}()
	return nil
}

func (t *Transport) respond(handler transport.RequestHandler, r transport.JSONRPCRequest) *transport.JSONRPCResponse {
	if handler == nil {
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, "method not found", nil)
	}
	response, err := handler(t.life, r)
	if err != nil || response == nil {
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, "the request was not answered", nil)
	}
	return response
}
