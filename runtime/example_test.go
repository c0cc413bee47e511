package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"testing/fstest"

	"github.com/evolve-mcp/evolve/runtime"
	"github.com/evolve-mcp/evolve/runtime/internal/servertest"
)

// console approves what a person would be asked for.
type console struct{}

func (console) Approve(_ context.Context, r runtime.ApprovalRequest) (runtime.Answer, error) {
	fmt.Printf("%s %s %s? %s: yes\n", r.Kind, r.ServerID, r.Tool, r.Preview)
	return runtime.Once, nil
}

// events prints what happens.
type events struct{}

func (events) Emit(e runtime.Event) {}

// A foreign host: it reads a core, grants what the core asks for, and lets a
// model call one tool.
func Example() {
	core, err := runtime.LoadDeclarations(fstest.MapFS{ // os.DirFS("path/to/core") in a real host
		"agent.yaml":          {Data: []byte("capabilities:\n  defaults:\n    mcp.connect:*: {scope: core}\n    mcp.call:docs: {scope: core}\n")},
		"agent/mcp/docs.yaml": {Data: []byte("command: docs-server\nargs: [--root, /srv/docs]\nenv: {LOG: a}\n")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(home) }()
	host, err := runtime.NewHost(runtime.Options{
		Home: home, LookupEnv: os.LookupEnv, Approver: console{}, Events: events{},
		FingerprintKey: make([]byte, 32), // a random key, kept, in a real host
		Connect:        inMemory,         // left out in a real host: it starts processes
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer host.Close(ctx)
	turn := runtime.Turn{
		ID: "turn-1", Principal: "ada@example.com", Session: "chat-7", Core: ".", CoreRevision: "4f1c2e9", Workspace: home,
		Capabilities: core.Capabilities, Declarations: core.Declarations,
		Policy: &runtime.Policy{ID: "default", Core: core.Approval, ToolMetadata: core.ToolMetadata},
	}
	catalog, err := host.Prepare(ctx, turn)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range catalog.Servers() {
		fmt.Println(s.ServerID, s.State, s.ProtocolVersion)
	}
	ref, _ := catalog.Resolve("docs__echo")
	result := host.Call(ctx, turn, ref, json.RawMessage(`{"page":"index"}`))
	fmt.Println(result.Status, result.Views.Model)
	// Output:
	// connect docs ? run docs-server --root <value #2c6baaef 8-15>; environment LOG: yes
	// docs connected 2025-11-25
	// call docs echo? arguments page=<value #ae139daf 1-7>: yes
	// succeeded {"page":"index"}
}

// inMemory is a server without a process.
func inMemory(context.Context, runtime.Declaration) (runtime.Stream, error) {
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		(&servertest.Server{}).Serve(theirs, theirs)
	}()
	return ours, nil
}
