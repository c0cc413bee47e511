package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func catalog() Catalog {
	return Catalog{
		Schema: SchemaCatalog, Revision: commitA, Core: "bot",
		Servers: List[CatalogServer]{
			{
				ServerID: "docs", Path: "bot/agent/mcp/docs.yaml", Status: "connected", ProtocolVersion: "2025-11-25",
				Tools: List[CatalogTool]{
					{Name: "docs__search", Tool: "search", Title: "Search", InputSchema: json.RawMessage(`{"type":"object"}`), Capability: "mcp.call:docs", Risk: "low", Approval: "prompt"},
					{Name: "docs__x", Tool: "x", Description: "First line\nsecond \x1b[2J", InputSchema: json.RawMessage(`true`), Capability: "mcp.call:docs", Risk: "low", Approval: "deny"},
				},
			},
			{ServerID: "tickets", Path: "bot/agent/mcp/tickets.yaml", Status: "denied", Diagnostic: "not_approved"},
		},
		Collisions: List[CatalogCollision]{{Name: "a__b", Sources: List[string]{"server a: b", "host: c"}}},
	}
}

func TestCatalogText(t *testing.T) {
	var b bytes.Buffer
	if err := CatalogText(&b, catalog(), true, TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"docs: connected, 2 tools, protocol 2025-11-25\n", "  docs__search  Search\n", "docs__x       First line\n",
		"tickets: denied, not_approved\n", "no tool is exposed as a__b:",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
	if strings.ContainsAny(b.String(), "\x1b") {
		t.Error("an escape character is printed")
	}
}
