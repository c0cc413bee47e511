package runtime

import (
	"cmp"
	"slices"
)

// Turn binds what is prepared or called to who asks for it, where, and under
// which rules.
type Turn struct {
	// ID appears in events. It may be empty.
	ID string
	// Principal is on whose behalf the session acts.
	Principal string
	// Session separates conversations: nothing is shared between two.
	Session string
	// Core names the agent, such as its directory in the repository ("." for
	// the root); CoreRevision is the commit that its declarations come from.
	Core, CoreRevision string
	// Workspace is the absolute directory that servers run in.
	Workspace string
	// Capabilities are what the session holds.
	Capabilities Capabilities
	Policy       *Policy
	// Declarations are all of the core, disabled ones included.
	Declarations []Declaration
	// Reserved are the host's own tools beside the catalog, by exposed name.
	Reserved []Reserved
}

// Reserved is a tool of the host's own.
type Reserved struct{ Name, Provenance string }

// check fails closed on a turn that is not bound.
func (t *Turn) check() error {
	var missing []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"principal", t.Principal != ""},
		{"session", t.Session != ""},
		{"core", t.Core != ""},
		{"core revision", t.CoreRevision != ""},
		{"workspace", t.Workspace != ""},
		{"capabilities", t.Capabilities.bound},
		{"policy", t.Policy != nil && t.Policy.ID != ""},
	} {
		if !f.set {
			missing = append(missing, f.name)
		}
	}
	if missing != nil {
		return &AuthorityError{Missing: missing}
	}
	return nil
}

// bound is a turn with what identifies it computed.
type bound struct {
	Turn
	// authority identifies principal, capabilities, revision, workspace and
	// what connecting turns on; policy identifies the whole policy.
	authority, policy string
	servers           []server // the enabled ones, by id
}

// server is an enabled declaration and its fingerprint.
type server struct {
	Declaration
	fingerprint string
}

func (h *Host) bind(t Turn) (*bound, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	b := &bound{Turn: t}
	d := newDigest(h.key, "authority")
	d.add(t.Principal, t.Core, t.CoreRevision, t.Workspace)
	d.add(t.Capabilities.grants...)
	d.add("")
	t.Policy.digestConnecting(d)
	b.authority = d.sum()
	d = newDigest(h.key, "policy")
	t.Policy.digestAll(d)
	b.policy = d.sum()
	for _, decl := range t.Declarations {
		if decl.d != nil && decl.d.Enabled {
			b.servers = append(b.servers, server{decl, fingerprint(h.key, decl.d)})
		}
	}
	slices.SortStableFunc(b.servers, func(x, y server) int { return cmp.Compare(x.ServerID(), y.ServerID()) })
	b.servers = slices.CompactFunc(b.servers, func(x, y server) bool { return x.ServerID() == y.ServerID() })
	return b, nil
}

// find returns the enabled declaration of a server.
func (b *bound) find(id string) (server, bool) {
	i, ok := slices.BinarySearchFunc(b.servers, id, func(s server, id string) int { return cmp.Compare(s.ServerID(), id) })
	if !ok {
		return server{}, false
	}
	return b.servers[i], true
}
