package validation

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/workspace"
	"github.com/evolve-mcp/evolve/runtime"
)

// Request says what is run, and what the host allows.
type Request struct {
	// Tree and Surface are the revision, Revision its commit id or "worktree".
	Tree     decl.Tree
	Surface  *decl.Surface
	Revision string
	// Core is the core's directory, "." for the repository's root; "" is the one
	// that has enabled servers.
	Core string
	// Workspace is the directory of the core to run in, absolute: what servers
	// launch must be there as it was reviewed. "" makes a private one with the
	// reviewed files, which Close removes.
	Workspace string
	// Home is the runtime home, absolute.
	Home   string
	Config decl.HostConfig
	// Grants are capabilities beside those of agent.yaml.
	Grants []string
	// ApproveConnect are servers whose connection needs no question.
	ApproveConnect []string
	// ApproveCall approves the one call of this run.
	ApproveCall bool
	// Person is asked where a policy says prompt and nothing above answers; nil
	// says no.
	Person runtime.Approver
	// Principal is on whose behalf this runs.
	Principal string
	LookupEnv func(string) (string, bool)
	Events    runtime.EventSink
	Notify    func(runtime.Notification)
	Now       func() time.Time
}

// Session is one prepared turn. Close it.
type Session struct {
	core    string
	host    *runtime.Host
	turn    runtime.Turn
	catalog *runtime.Catalog
	private *workspace.Workspace
	// Collisions are tools that share an exposed name, which none of them got.
	Collisions []runtime.Collision
}

// closeLimit bounds how long Close waits for servers to end: the graces of every
// server run side by side.
const closeLimit = 30 * time.Second

// Open prepares a turn. Codes: usage for a core that does not exist or must be
// named, declaration_invalid, surface_unreadable for a workspace with other files
// than were reviewed, io_failed, interrupted.
func Open(ctx context.Context, r Request) (*Session, error) {
	core, err := findCore(r.Surface, r.Core)
	if err != nil {
		return nil, err
	}
	s := &Session{core: coreName(core.Dir)}
	if err := s.prepare(ctx, r, core); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) prepare(ctx context.Context, r Request, core *decl.Core) error {
	dir := r.Workspace
	if dir == "" {
		private, err := workspace.New(ctx, r.Tree, r.Surface, core.Dir, "")
		if err != nil {
			return err
		}
		s.private, dir = private, private.Dir()
	} else if err := workspace.Holds(ctx, dir, r.Tree, r.Surface, core); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // servers are held to the workspace after symbolic links
	}
	host, err := runtime.NewHost(runtime.Options{
		Home: r.Home, LookupEnv: r.LookupEnv, Now: r.Now, TrustedNetworks: r.Config.TrustedNetworks,
		Approver: &approver{r: r}, Events: r.Events, Notify: r.Notify, ExtraEnvironment: r.Config.Environment,
		Limits: runtime.Limits{Discoveries: r.Config.Discoveries, Tools: r.Config.MaxTools, Pages: r.Config.MaxPages},
	})
	if err != nil {
		return err
	}
	s.host = host
	loaded := runtime.FromCore(core)
	s.turn = runtime.Turn{
		ID: "validation", Principal: r.Principal, Session: "validation", Core: coreName(core.Dir), CoreRevision: r.Revision,
		Workspace: dir, Capabilities: grants(core, r.Grants), Declarations: loaded.Declarations,
		Policy: &runtime.Policy{ID: "evolve", Core: loaded.Approval, Host: runtime.RulesFrom(r.Config.Approval), ToolMetadata: loaded.ToolMetadata},
	}
	s.catalog, err = host.Prepare(ctx, s.turn)
	return s.prepared(ctx, err)
}

// prepared sorts out how Prepare ended.
func (s *Session) prepared(ctx context.Context, err error) error {
	var collision *runtime.CollisionError
	switch {
	case ctx.Err() != nil:
		return fault.New(fault.Interrupted, "interrupted while the servers were being reached").WithCause(ctx.Err())
	case err == nil:
		return nil
	case errors.As(err, &collision):
		s.Collisions = collision.Collisions
		return nil
	}
	return fault.New(fault.Internal, "the turn could not be prepared").WithCause(err)
}

// Core is the core's directory, "." for the repository's root.
func (s *Session) Core() string { return s.core }

func coreName(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

func grants(core *decl.Core, extra []string) runtime.Capabilities {
	list := append([]string{}, extra...)
	for _, g := range core.Agent.Grants {
		list = append(list, g.Reveal())
	}
	return runtime.NewCapabilities(list...)
}

// Servers lists what became of each enabled declaration, by server id.
func (s *Session) Servers() []runtime.ServerStatus { return s.catalog.Servers() }

// Tools lists the tools, by server and name.
func (s *Session) Tools() []runtime.Tool { return s.catalog.Tools() }

// Healthy reports whether every enabled server is connected and every tool has a
// name of its own.
func (s *Session) Healthy() bool {
	for _, server := range s.Servers() {
		if server.State != runtime.Connected {
			return false
		}
	}
	return len(s.Collisions) == 0
}

// Call calls a tool by its exposed name.
func (s *Session) Call(ctx context.Context, name string, args json.RawMessage) runtime.Result {
	ref, _ := s.catalog.Resolve(name)
	return s.host.Call(ctx, s.turn, ref, args)
}

// Close ends every server and removes the private workspace, also after an
// interrupt.
func (s *Session) Close() error {
	// The caller's context may have ended; what was started must end all the same.
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var left error
	if s.host != nil {
		if err := s.host.Close(ctx); err != nil {
			left = fault.New(fault.IOFailed, "a server did not end in time; its processes may be left").WithCause(err)
		}
	}
	if s.private != nil {
		left = errors.Join(left, s.private.Remove())
	}
	return left
}
