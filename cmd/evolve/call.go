package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/runtime"
)

// maxCallArguments bounds the arguments of a call, in bytes; the runtime has the
// same limit.
const maxCallArguments = 4 << 20

var viewNames = []string{"model", "operator", "event", "durable", "debug"}

func (p *program) callCommand() *cli.Command {
	flags := append(runtimeFlags(),
		&cli.StringFlag{Name: "rev", Usage: "the `REV` whose declarations are run (default: the bytes on disk)"},
		&cli.StringFlag{Name: "view", Value: "model", Usage: "print the result as `VIEW`: " + strings.Join(viewNames, ", ")},
		approveFlag(), formatFlag(), quietFlag(), verboseFlag())
	return &cli.Command{
		Name:      "call",
		Usage:     "call one tool of a revision's servers",
		UsageText: "evolve call TOOL [JSON | @FILE | -]",
		Description: `   Connects the revision's servers as tools does, and calls TOOL by its exposed
   name (SERVER__TOOL). The arguments are a JSON object, a file, or standard
   input; none is an empty object. Every call needs its own capability and
   approval. Exits 6 unless it succeeded.`,
		Flags: flags,
		Action: func(c *cli.Context) error {
			args, err := operands(c, 1, 2, "TOOL")
			if err != nil {
				return err
			}
			return p.onRepo(c, func(s *session) error { return s.call(c, args) })
		},
	}
}

func (s *session) call(c *cli.Context, args []string) error {
	view := c.String("view")
	if !slices.Contains(viewNames, view) {
		return fault.New(fault.Usage, "--view takes one of: %s", strings.Join(viewNames, ", ")).WithHint("%s --help", c.Command.HelpName)
	}
	arguments, err := s.callArguments(c, args[1:])
	if err != nil {
		return err
	}
	var rev []string
	if c.IsSet("rev") {
		rev = []string{c.String("rev")}
	}
	run, _, err := s.openRuntime(c, rev)
	if err != nil {
		return err
	}
	result := run.Call(s.ctx, args[0], arguments)
	known := slices.ContainsFunc(run.Tools(), func(t runtime.Tool) bool { return t.Name == args[0] })
	doc := catalogDocument(run, "")
	left := run.Close()
	switch {
	case s.ctx.Err() != nil && result.Status != runtime.Succeeded:
		err = fault.New(fault.Interrupted, "interrupted during the call; the server may have done it")
	case known:
		err = s.showCall(args[0], view, result)
	default:
		err = unknownTool(args[0], doc)
	}
	if left != nil {
		return left
	}
	return err
}

// unknownTool says why a tool is not there: its server may not be.
func unknownTool(name string, doc render.Catalog) error {
	server, _, _ := strings.Cut(name, "__")
	for _, s := range doc.Servers {
		if s.ServerID == server && s.Status != string(runtime.Connected) {
			return notValid(render.Catalog{Servers: render.List[render.CatalogServer]{s}})
		}
	}
	return fault.New(fault.ValidationFailed, "there is no tool %s", safetext.Terminal(name)).WithHint("evolve tools lists them")
}

// callArguments reads the arguments: JSON, @FILE, or - for standard input.
func (s *session) callArguments(c *cli.Context, args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	data := []byte(args[0])
	if path, isFile := strings.CutPrefix(args[0], "@"); isFile || args[0] == "-" {
		var err error
		if data, err = s.readArguments(fromDir(c, path), args[0] == "-"); err != nil {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if len(data) > maxCallArguments || json.Unmarshal(data, &object) != nil || object == nil {
		return nil, fault.New(fault.Usage, "the arguments are no JSON object of at most 4 MiB").
			WithHint(`write {"name": "value"}, or @FILE, or - for standard input`)
	}
	return data, nil
}

// readArguments reads a file or standard input, until an interrupt: whoever is to
// write there may never do it.
func (s *session) readArguments(path string, stdin bool) ([]byte, error) {
	name := "standard input"
	if !stdin {
		name = safetext.Terminal(path)
	}
	type input struct {
		data []byte
		err  error
	}
	done := make(chan input, 1)
	go func() {
		// A read that is stuck cannot be stopped; the process ends and takes this
		// goroutine along.
		data, err := readBounded(path, s.in, stdin)
		done <- input{data, err}
	}()
	select {
	case in := <-done:
		if in.err != nil {
			return nil, fault.New(fault.IOFailed, "the arguments cannot be read from %s", name).
				WithHint("check that it is there and that this user may read it").WithCause(in.err)
		}
		return in.data, nil
	case <-s.ctx.Done():
		return nil, fault.New(fault.Interrupted, "interrupted while the arguments were read; nothing was started").WithCause(s.ctx.Err())
	}
}

func readBounded(path string, in io.Reader, stdin bool) ([]byte, error) {
	if !stdin {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, maxCallArguments+1))
}

func (s *session) showCall(tool, view string, r runtime.Result) error {
	text := map[string]string{
		"model": r.Views.Model, "operator": r.Views.Operator, "event": r.Views.Event, "durable": r.Views.Durable, "debug": r.Views.Debug,
	}[view]
	var err error
	if s.format == "json" {
		err = s.document(render.Call{
			Schema: render.SchemaCall, Tool: tool, Status: string(r.Status), Started: r.Started, Reason: r.Reason, View: view, Result: text,
		})
	} else {
		err = s.print(escapeLines(text) + "\n")
	}
	if err != nil || r.Status == runtime.Succeeded {
		return err
	}
	f := fault.New(fault.ValidationFailed, "the call ended as %s", r.Status)
	if r.Reason != "" {
		f = fault.New(fault.ValidationFailed, "the call ended as %s: %s", r.Status, safetext.Terminal(r.Reason))
	}
	if hint := mendCall[r.Reason]; r.Status == runtime.Denied && hint != "" {
		return f.WithHint("%s, if the call may be made here", hint)
	}
	return f.WithHint("--view operator shows what is known of it")
}

// mendCall is the next step after a call that was denied, by reason.
var mendCall = map[string]string{
	"capability_missing": "evolve tools --format json names its capability: --grant CAPABILITY",
	"not_approved":       "--approve",
	"policy_denies":      "its approval is deny in the declaration, agent.yaml or evolve.yaml: change it there",
}

// escapeLines makes each line of a result safe for a terminal and keeps the
// lines.
func escapeLines(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = safetext.Terminal(line)
	}
	return strings.Join(lines, "\n")
}
