package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
)

// ErrChildEnded says that the child was closed, or its parent's session evicted.
var ErrChildEnded = errors.New("runtime: the child has ended")

// Child is a delegated agent: it has exactly the authority that its host issued
// with Host.Child, a session of its own, and its connections close when it ends
// or its parent's session is evicted.
type Child struct {
	host    *Host
	turn    Turn
	session *session
}

// Child issues authority to a delegated agent. scope is the turn that the child
// acts in, whole: principal, capabilities, policy and declarations are what the
// child gets, whatever its parent holds. scope.Session is the parent's session;
// the child gets its own below it.
func (h *Host) Child(scope Turn) (*Child, error) {
	if err := scope.check(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	parent := scope.Session
	h.children++
	scope.Session = parent + "/child/" + strconv.Itoa(h.children)
	s := newSession(h.life, scope.Session, parent)
	h.sessions[scope.Session] = s
	return &Child{h, scope, s}, nil
}

// Session is the name of the child's own session.
func (c *Child) Session() string { return c.turn.Session }

// Prepare is Host.Prepare in the child's scope; turn appears in events.
func (c *Child) Prepare(ctx context.Context, turn string) (*Catalog, error) {
	t := c.turn
	t.ID = turn
	catalog, err := c.host.prepare(ctx, t, c.session)
	if errors.Is(err, ErrEvicted) {
		return nil, ErrChildEnded
	}
	return catalog, err
}

// Call is Host.Call in the child's scope.
func (c *Child) Call(ctx context.Context, turn string, ref ToolRef, args json.RawMessage) Result {
	t := c.turn
	t.ID = turn
	return c.host.Call(ctx, t, ref, args)
}

// Close ends the child and returns when its connections are closed.
func (c *Child) Close() { c.host.EvictSession(c.turn.Session) }
