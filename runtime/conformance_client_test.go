package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing/fstest"
)

// conformanceClient is the program that the protocol's conformance suite runs:
// a host with everything granted, which calls every tool of the server whose
// URL is the last argument.
func conformanceClient(url string) error {
	core, err := LoadDeclarations(fstest.MapFS{"agent/mcp/suite.yaml": {Data: []byte(
		"transport: streamable_http\napproval_policy: auto\ntimeout_seconds: 15\nurl: " + url + "\n")}})
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	h, err := NewHost(Options{
		Home: home, Approver: &yes{}, Events: &sink{}, Elicitor: defaults{}, Resolver: &lookups{answer: "127.0.0.1"},
		TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	})
	if err != nil {
		return err
	}
	ctx := context.Background()
	defer func() { _ = h.Close(ctx) }()
	turn := Turn{
		Principal: "suite", Session: "suite", Core: ".", CoreRevision: "1", Workspace: home,
		Capabilities: NewCapabilities("mcp.connect:*", "mcp.call:*"), Policy: &Policy{ID: "suite"}, Declarations: core.Declarations,
	}
	catalog, err := h.Prepare(ctx, turn)
	if err != nil {
		return err
	}
	if s := catalog.Servers()[0]; s.State != Connected {
		return fmt.Errorf("%s: %s", s.State, s.Diagnostic)
	}
	asked := contextCalls()
	for _, tool := range catalog.Tools() {
		ref, _ := catalog.Resolve(tool.Name)
		calls := asked[tool.Tool]
		switch {
		case tool.Tool == "json_schema_echo": // it wants the schema of the suite's other tool back
			calls = []json.RawMessage{echoSchema(catalog)}
		case len(calls) == 0:
			calls = []json.RawMessage{sample(tool.InputSchema)}
		}
		for _, args := range calls {
			r := h.Call(ctx, turn, ref, args)
			fmt.Fprintf(os.Stderr, "%s %s: %s %s\n", tool.Tool, args, r.Status, r.Views.Model)
		}
	}
	return nil
}

func echoSchema(c *Catalog) json.RawMessage {
	for _, t := range c.Tools() {
		if t.Tool == "json_schema_2020_12_tool" {
			return json.RawMessage(`{"schema":` + string(t.InputSchema) + `}`)
		}
	}
	return nil
}

// contextCalls are the calls that a scenario asks for.
func contextCalls() map[string][]json.RawMessage {
	var suite struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &suite)
	out := map[string][]json.RawMessage{}
	for _, c := range suite.ToolCalls {
		out[c.Name] = append(out[c.Name], c.Arguments)
	}
	return out
}

// sample makes arguments that fit a schema.
func sample(schema json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]struct {
			Type    string          `json:"type"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s)
	out := map[string]any{}
	for name, p := range s.Properties {
		switch {
		case p.Default != nil:
			out[name] = p.Default
		case p.Type == "number" || p.Type == "integer":
			out[name] = 5
		case p.Type == "boolean":
			out[name] = true
		case p.Type == "string":
			out[name] = "text"
		}
	}
	b, _ := json.Marshal(out)
	return b
}

// defaults accepts every form with its defaults.
type defaults struct{}

func (defaults) Elicit(_ context.Context, e Elicitation) (ElicitAnswer, error) {
	return ElicitAnswer{Action: "accept", Content: sample(e.Schema)}, nil
}

func conformanceURL() string {
	last := os.Args[len(os.Args)-1]
	if strings.HasPrefix(last, "http://") {
		return last
	}
	return ""
}
