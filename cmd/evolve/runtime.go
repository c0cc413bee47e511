package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/internal/validation"
	"github.com/evolve-mcp/evolve/runtime"
)

// Flags of the commands that run servers.
func runtimeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "core", Usage: "the agent's `DIR` in the repository, where there are several; . is the root"},
		&cli.StringFlag{Name: "home", Usage: "the runtime home `DIR` (default: ~/.demiurge); evolve.yaml there is the host's configuration"},
		&cli.StringFlag{Name: "workspace", Usage: "run in `DIR`, which has what the servers need, instead of in a private copy of the reviewed files"},
		&cli.GenericFlag{Name: "grant", Value: &words{}, Usage: "grant `CAPABILITY`, such as mcp.connect:docs, beside agent.yaml; may be given several times"},
		&cli.GenericFlag{Name: "approve-connect", Value: &words{}, Usage: "approve connecting to `SERVER` without a question; may be given several times"},
	}
}

func (p *program) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "connect the servers of a revision and report on each",
		UsageText: "evolve validate [REV]",
		Description: `   Runs the declarations of a revision (default: the bytes on disk) on the host
   runtime, in a private copy of the reviewed files: connects every enabled
   server that may be connected, lists its tools, and ends it again. Exits 6
   unless every enabled server is connected.`,
		Flags: append(runtimeFlags(), formatFlag(), quietFlag(), verboseFlag()),
		Action: func(c *cli.Context) error {
			args, err := operands(c, 0, 1, "REV")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.validate(c, args, false) })
		},
	}
}

func (p *program) toolsCommand() *cli.Command {
	return &cli.Command{
		Name:      "tools",
		Usage:     "list the tools of a revision's servers",
		UsageText: "evolve tools [REV]",
		Description: `   Like validate, and lists the tools of every server that is connected. Exits 6
   if a server is not.`,
		Flags: append(runtimeFlags(), formatFlag(), quietFlag(), verboseFlag()),
		Action: func(c *cli.Context) error {
			args, err := operands(c, 0, 1, "REV")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.validate(c, args, true) })
		},
	}
}

func (s *session) validate(c *cli.Context, args []string, tools bool) error {
	run, name, err := s.openRuntime(c, args)
	if err != nil {
		return err
	}
	doc := catalogDocument(run, name, coreFlag(c))
	if err := run.Close(); err != nil {
		return err
	}
	if s.format == "json" {
		err = s.document(doc)
	} else {
		err = render.CatalogText(s.out, doc, tools, s.textOptions(c))
	}
	if err != nil {
		return err
	}
	return notValid(doc)
}

// notValid is the refusal for a catalog with servers that are not connected.
func notValid(doc render.Catalog) error {
	if doc.Valid {
		return nil
	}
	for _, server := range doc.Servers {
		if server.Status != string(runtime.Connected) {
			return fault.New(fault.ValidationFailed, "server %s: %s, %s", safetext.Terminal(server.ServerID), server.Status,
				safetext.Terminal(server.Diagnostic)).WithHint("%s", mendServer(server))
		}
	}
	return fault.New(fault.ValidationFailed, "%d exposed name(s) belong to two tools", len(doc.Collisions)).
		WithHint("leave one of them out: tools.exclude")
}

func mendServer(s render.CatalogServer) string {
	id := safetext.Terminal(s.ServerID)
	if s.Status == string(runtime.StateDenied) {
		return "evolve validate --grant mcp.connect:" + id + " --approve-connect " + id + ", if it may connect here"
	}
	return "its standard error is in logs/mcp-stderr.log under the runtime home"
}

// openRuntime prepares one turn on a revision; "" is the bytes on disk.
func (s *session) openRuntime(c *cli.Context, args []string) (*validation.Session, string, error) {
	var id gitrepo.ID
	if len(args) > 0 {
		var err error
		if id, err = s.commit(args[0]); err != nil {
			return nil, "", err
		}
	}
	run, err := s.runRevision(s.ctx, c, id)
	name := string(id)
	if name == "" {
		name = "worktree"
	}
	return run, name, err
}

// runRevision prepares one turn on a commit; "" is the bytes on disk.
func (s *session) runRevision(ctx context.Context, c *cli.Context, id gitrepo.ID) (*validation.Session, error) {
	request := validation.Request{
		Revision: string(id), Core: coreFlag(c), Grants: values(c, "grant"), ApproveConnect: values(c, "approve-connect"),
		ApproveCall: c.Bool("approve"), LookupEnv: s.lookupEnv, Now: s.now, Events: &progress{s: s, verbose: c.Bool("verbose")},
	}
	var err error
	if id == "" {
		request.Revision = "worktree"
		request.Tree, err = s.repo.WorkingTree()
	} else {
		request.Tree, err = s.repo.Tree(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	if request.Surface, err = decl.LoadSurface(ctx, request.Tree, decl.Options{CorePatterns: s.policy.CorePatterns}); err != nil {
		return nil, err
	}
	if request.Home, err = s.runtimeHome(c); err != nil {
		return nil, err
	}
	if request.Config, err = hostConfig(request.Home); err != nil {
		return nil, err
	}
	if c.IsSet("workspace") {
		if request.Workspace, err = filepath.Abs(c.String("workspace")); err != nil {
			return nil, fault.New(fault.IOFailed, "--workspace names no directory").WithCause(err)
		}
	}
	pusher, err := s.pusher()
	if err != nil {
		return nil, err
	}
	request.Principal = pusher.Name
	if term.IsTerminal(int(s.in.Fd())) {
		request.Person = &person{s: s}
	}
	return validation.Open(ctx, request)
}

func coreFlag(c *cli.Context) string {
	if core := filepath.ToSlash(filepath.Clean(c.String("core"))); c.String("core") != "" && core != "." {
		return core
	}
	return ""
}

// values reads a flag that may be given several times.
func values(c *cli.Context, flag string) []string {
	given, _ := c.Generic(flag).(*words)
	if given == nil {
		return nil
	}
	return *given
}

func (s *session) lookupEnv(name string) (string, bool) {
	v := s.getenv(name)
	return v, v != ""
}

// runtimeHome is where homes of servers, their logs and the host's configuration
// are.
func (s *session) runtimeHome(c *cli.Context) (string, error) {
	home := c.String("home")
	if home == "" {
		user := s.getenv("HOME")
		if user == "" {
			user = s.getenv("USERPROFILE")
		}
		if user == "" {
			return "", fault.New(fault.ConfigInvalid, "there is no home directory for the runtime").WithHint("name one: --home DIR")
		}
		home = filepath.Join(user, ".demiurge")
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return "", fault.New(fault.ConfigInvalid, "the runtime home is no path").WithCause(err)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", fault.New(fault.IOFailed, "the runtime home %s cannot be made", safetext.Terminal(home)).WithCause(err)
	}
	return home, nil
}

// hostConfig reads evolve.yaml in the runtime home. None is no error.
func hostConfig(home string) (decl.HostConfig, error) {
	path := filepath.Join(home, "evolve.yaml")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return decl.HostConfig{}, nil
	}
	if err != nil {
		return decl.HostConfig{}, fault.New(fault.ConfigInvalid, "%s cannot be read", safetext.Terminal(path)).WithCause(err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, decl.MaxFileBytes+1))
	if err != nil {
		return decl.HostConfig{}, fault.New(fault.ConfigInvalid, "%s cannot be read", safetext.Terminal(path)).WithCause(err)
	}
	config, problems := decl.ParseHostConfig(path, data)
	if len(problems) > 0 {
		return config, fault.New(fault.ConfigInvalid, "%s (%d in all)", problems[0], len(problems)).
			WithHint("docs/runtime.md describes the host's configuration")
	}
	return config, nil
}

// catalogDocument is what a session found, in a fixed order.
func catalogDocument(run *validation.Session, revision, core string) render.Catalog {
	if core == "" {
		core = "."
	}
	doc := render.Catalog{Schema: render.SchemaCatalog, Revision: revision, Core: core, Valid: run.Healthy()}
	tools := run.Tools()
	for _, s := range run.Servers() {
		server := render.CatalogServer{
			ServerID: s.ServerID, Path: s.Path, Status: string(s.State), Diagnostic: s.Diagnostic, ProtocolVersion: s.ProtocolVersion,
		}
		for _, t := range tools {
			if t.ServerID == s.ServerID {
				server.Tools = append(server.Tools, render.CatalogTool{
					Name: t.Name, Tool: t.Tool, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
					OutputSchema: t.OutputSchema, Capability: t.Capability, Risk: string(t.Risk), Approval: string(t.Approval),
				})
			}
		}
		doc.Servers = append(doc.Servers, server)
	}
	for _, x := range run.Collisions {
		c := render.CatalogCollision{Name: x.Name}
		for _, source := range x.Sources {
			c.Sources = append(c.Sources, source.String())
		}
		doc.Collisions = append(doc.Collisions, c)
	}
	return doc
}

// progress tells a person on a terminal what happens, and everybody with -v.
type progress struct {
	s       *session
	verbose bool
}

// Emit implements runtime.EventSink.
func (p *progress) Emit(e runtime.Event) {
	if !p.verbose && (p.s.quiet || !term.IsTerminal(int(p.s.err.Fd()))) {
		return
	}
	switch e.Name {
	case runtime.ServerConnected:
		p.s.note("%s: connected", safetext.Terminal(e.ServerID))
	case runtime.ServerDenied:
		p.s.note("%s: denied (%s)", safetext.Terminal(e.ServerID), safetext.Terminal(e.Reason))
	case runtime.ServerFailed:
		p.s.note("%s: failed (%s)", safetext.Terminal(e.ServerID), safetext.Terminal(e.Message))
	case runtime.URLDecision:
		if p.verbose && e.URLPolicy != nil {
			p.s.note("%s: %s, %s", safetext.Terminal(e.ServerID), safetext.Terminal(e.URLPolicy.Target), safetext.Terminal(e.URLPolicy.Reason))
		}
	case runtime.ToolCalled, runtime.CatalogChanged:
	}
}

// person asks whoever sits at the terminal.
type person struct{ s *session }

// Approve implements runtime.Approver.
func (p *person) Approve(ctx context.Context, r runtime.ApprovalRequest) (runtime.Answer, error) {
	p.s.note("%s", safetext.Terminal(r.Preview.String()))
	question := "Connect to " + safetext.Terminal(r.ServerID) + "?"
	if r.Kind == runtime.CallApproval {
		question = "Call " + safetext.Terminal(r.Tool) + " of " + safetext.Terminal(r.ServerID) + "?"
	}
	yes, err := p.s.approved(ctx, false, question)
	if err != nil || !yes {
		return runtime.No, err
	}
	return runtime.Once, nil
}
