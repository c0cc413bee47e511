package main

import (
	"context"
	"path/filepath"

	"github.com/urfave/cli/v2"

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
	doc := catalogDocument(run, name)
	left := run.Close()
	if s.format == "json" {
		err = s.document(doc)
	} else {
		err = render.CatalogText(s.out, doc, tools, s.textOptions(c))
	}
	switch {
	case left != nil: // what is left behind matters most
		return left
	case err != nil:
		return fault.New(fault.IOFailed, "standard output could not be written").
			WithHint("check what the output is piped into").WithCause(err)
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

// mendServer is the next step for a server that is not connected.
func mendServer(s render.CatalogServer) string {
	id := safetext.Terminal(s.ServerID)
	if s.Status != string(runtime.StateDenied) {
		return "what it wrote to standard error, if it was started, is in logs/mcp-stderr.log under the runtime home"
	}
	switch s.Diagnostic {
	case "capability_missing":
		return "if it may connect here: --grant mcp.connect:" + id + ", or grant it in agent.yaml"
	case "not_approved":
		return "if it may connect here: --approve-connect " + id
	case "policy_denies":
		return "its approval is deny in the declaration, agent.yaml or evolve.yaml: change it there"
	case "cwd_outside_workspace":
		return "its cwd must be a directory inside the workspace"
	case "private_address", "private_hostname":
		return "if this host may reach that network: name it under trusted_networks in evolve.yaml in the runtime home"
	}
	return "the URL policy refuses its address: docs/runtime.md explains " + safetext.Terminal(s.Diagnostic)
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
	run, err := s.runRevision(s.ctx, c, id, s.person())
	name := string(id)
	if name == "" {
		name = "worktree"
	}
	return run, name, err
}

// runRevision prepares one turn on a commit; "" is the bytes on disk. person is
// asked what no flag and no configuration answers; nil says no.
func (s *session) runRevision(ctx context.Context, c *cli.Context, id gitrepo.ID, person runtime.Approver) (*validation.Session, error) {
	request := validation.Request{
		Revision: string(id), Core: coreFlag(c), Grants: values(c, "grant"), ApproveConnect: values(c, "approve-connect"),
		ApproveCall: c.Bool("approve"), LookupEnv: s.lookupEnv, Now: s.now, Person: person,
		Events: &progress{s: s, verbose: c.Bool("verbose")},
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
	if request.Config, err = s.hostConfig(request.Home); err != nil {
		return nil, err
	}
	if c.IsSet("workspace") {
		if request.Workspace, err = s.workspaceFlag(c); err != nil {
			return nil, err
		}
	}
	pusher, err := s.pusher()
	if err != nil {
		return nil, err
	}
	request.Principal = pusher.Name
	return validation.Open(ctx, request)
}

// coreFlag is the core as it was named: "" if it was not, "." for the root.
func coreFlag(c *cli.Context) string {
	if c.String("core") == "" {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(c.String("core")))
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

// catalogDocument is what a session found, in a fixed order.
func catalogDocument(run *validation.Session, revision string) render.Catalog {
	doc := render.Catalog{Schema: render.SchemaCatalog, Revision: revision, Core: run.Core(), Valid: run.Healthy()}
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
