package runtime

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Tool is one tool of a catalog. Its texts are the server's, redacted.
type Tool struct {
	// Name is the exposed name.
	Name     string `json:"name"`
	ServerID string `json:"server_id"`
	// Tool is the server's own name.
	Tool         string          `json:"tool"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// Annotations are what the server claims; no decision uses them.
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Capability  string          `json:"capability"`
	Risk        Risk            `json:"risk"`
	Approval    Approval        `json:"approval"`
}

// ServerState is what became of a server.
type ServerState string

// The states of a server.
const (
	Connected   ServerState = "connected"
	StateDenied ServerState = "denied"
	Unreachable ServerState = "failed"
)

// ServerStatus describes one declaration of a turn.
type ServerStatus struct {
	ServerID string
	Path     string
	State    ServerState
	// Diagnostic says why it is not connected; a reason word for a denial.
	Diagnostic      string
	URLPolicy       *URLPolicy
	ProtocolVersion string
	// RetryAt is when a failed server is tried again.
	RetryAt time.Time
}

// ToolRef is a tool bound to its connection. The zero ToolRef is no tool.
type ToolRef struct {
	catalog *Catalog
	conn    *connection
	exposed string
	tool    string
}

// Catalog is what one turn may call. It does not change.
type Catalog struct {
	host    *Host
	session *session
	tools   []Tool
	refs    map[string]ToolRef
	servers []ServerStatus
	closed  atomic.Bool
}

// Tools lists the tools by server and name. The schemas are shared: do not
// change their bytes.
func (c *Catalog) Tools() []Tool { return slices.Clone(c.tools) }

// Resolve returns the tool of an exposed name, which is compared exactly.
func (c *Catalog) Resolve(name string) (ToolRef, bool) {
	ref, ok := c.refs[name]
	return ref, ok
}

// Servers lists what became of each enabled declaration, by server id.
func (c *Catalog) Servers() []ServerStatus { return slices.Clone(c.servers) }

// MarshalJSON encodes the tools: the same bytes for the same tools.
func (c *Catalog) MarshalJSON() ([]byte, error) { return json.Marshal(c.tools) }

// Close makes every reference of the catalog invalid and closes the connections
// of its session, if the session has no later one. It returns when they are
// closed.
func (c *Catalog) Close() {
	if !c.closed.Swap(true) {
		c.host.evict(c.session, ErrEvicted)
	}
}

// candidate is a tool on its way into the catalog.
type candidate struct {
	tool Tool
	ref  ToolRef
	from Provenance
}

// catalog assembles a catalog in a fixed order.
func (h *Host) catalog(s *session, b *bound, outcomes []outcome) (*Catalog, error) {
	c := &Catalog{host: h, session: s, refs: map[string]ToolRef{}}
	var list []candidate
	for _, o := range outcomes {
		c.servers = append(c.servers, o.status())
		if o.conn != nil {
			list = append(list, c.candidates(b, o.conn)...)
		}
	}
	kept, collisions := split(list, b.Reserved)
	d := newDigest(h.key, "catalog")
	for _, k := range kept {
		c.tools = append(c.tools, k.tool)
		c.refs[k.tool.Name] = k.ref
		encoded, _ := json.Marshal(k.tool)
		d.add(string(encoded))
	}
	if s.show(d.sum()) {
		h.events.emit(Event{Name: CatalogChanged, Session: b.Session, Turn: b.ID})
	}
	if collisions != nil {
		return c, &CollisionError{collisions}
	}
	return c, nil
}

func (o *outcome) status() ServerStatus {
	st := ServerStatus{ServerID: o.server.ServerID(), Path: o.server.Path()}
	switch {
	case o.conn != nil:
		st.State, st.ProtocolVersion = Connected, o.conn.protocol
	case o.denied != nil:
		st.State, st.Diagnostic, st.URLPolicy = StateDenied, o.denied.reason, o.denied.url
	case o.failed != nil:
		st.State, st.Diagnostic, st.RetryAt = Unreachable, o.failed.diagnostic, o.failed.retry
	default:
		st.State, st.Diagnostic = Unreachable, "the server was not reached"
	}
	return st
}

// candidates are the tools of a connection that its filters let through.
func (c *Catalog) candidates(b *bound, conn *connection) []candidate {
	var out []candidate
	for _, t := range conn.tools {
		if !conn.server.exposes(t.Name) {
			continue
		}
		name := exposedName(conn.server.ServerID(), t.Name)
		s := b.Policy.calling(conn.server.d, name, t.Name)
		out = append(out, candidate{
			tool: Tool{
				Name: name, ServerID: conn.server.ServerID(), Tool: t.Name, Title: t.Title, Description: t.Description,
				InputSchema: t.Input, OutputSchema: t.Output, Annotations: t.Annotations,
				Capability: shownCapability(s.capability), Risk: s.risk, Approval: b.Policy.effective(s),
			},
			ref:  ToolRef{catalog: c, conn: conn, exposed: name, tool: t.Name},
			from: Provenance{Source: "server " + conn.server.ServerID(), Path: conn.server.Path(), Tool: t.Name},
		})
	}
	slices.SortStableFunc(out, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.tool.Name, y.tool.Name), cmp.Compare(x.tool.Tool, y.tool.Tool))
	})
	return out
}

// split takes out every tool whose exposed name another tool has too, compared
// without case; the host's own tools count.
func split(list []candidate, reserved []Reserved) (kept []candidate, collisions []Collision) {
	sources := map[string][]Provenance{}
	for _, r := range reserved {
		key := strings.ToLower(r.Name)
		sources[key] = append(sources[key], Provenance{Source: r.Provenance, Tool: r.Name})
	}
	for _, c := range list {
		key := strings.ToLower(c.tool.Name)
		sources[key] = append(sources[key], c.from)
	}
	reported := map[string]bool{}
	for _, c := range list {
		key := strings.ToLower(c.tool.Name)
		switch {
		case len(sources[key]) == 1:
			kept = append(kept, c)
		case !reported[key]:
			reported[key] = true
			collisions = append(collisions, Collision{Name: c.tool.Name, Sources: sources[key]})
		}
	}
	return kept, collisions
}
