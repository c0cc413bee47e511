package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/runtime/internal/servertest"
)

// TestTheCatalogIsByteIdentical from run to run, whatever order servers answer
// in.
func TestTheCatalogIsByteIdentical(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		files[fmt.Sprintf("s%d.yaml", i)] = "command: x\n"
	}
	var first string
	for range 5 {
		w := newWorld(t, files, memory(map[string]string{"s3": "pages"}))
		b, err := w.prepare(w.turn()).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
		}
		if string(b) != first {
			t.Error("another catalog")
		}
	}
}

func TestCollisionsNameBothSourcesAndExposeNeither(t *testing.T) {
	for _, tt := range []struct {
		mode     string
		reserved []Reserved
		gone     string
		sources  []string
	}{
		{"duplicates", nil, "docs__echo", []string{"server docs (agent/mcp/docs.yaml): echo", "server docs (agent/mcp/docs.yaml): echo"}},
		{"foldings", nil, "docs__echo", []string{"server docs (agent/mcp/docs.yaml): ECHO", "server docs (agent/mcp/docs.yaml): echo"}},
		{"", []Reserved{{"DOCS__echo", "the host's own tools"}}, "docs__echo", []string{"the host's own tools: DOCS__echo", "server docs (agent/mcp/docs.yaml): echo"}},
	} {
		w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(map[string]string{"docs": tt.mode}))
		turn := w.turn()
		turn.Reserved = tt.reserved
		c, err := w.host.Prepare(t.Context(), turn)
		var collision *CollisionError
		if !errors.As(err, &collision) || len(collision.Collisions) != 1 {
			t.Fatalf("%s: %v", tt.mode, err)
		}
		var got []string
		for _, s := range collision.Collisions[0].Sources {
			got = append(got, s.String())
			if !strings.Contains(err.Error(), s.String()) {
				t.Errorf("the error does not name %s: %v", s, err)
			}
		}
		wantEqual(t, tt.mode, got, tt.sources)
		if _, ok := c.Resolve(tt.gone); ok {
			t.Errorf("%s is exposed", tt.gone)
		}
		if _, ok := c.Resolve("docs__env"); !ok {
			t.Error("the other tools are gone too")
		}
	}
}

// TestListChangedNeverAltersACatalog: it marks the server for the next turn.
func TestListChangedNeverAltersACatalog(t *testing.T) {
	for _, mode := range []string{"changes_tools", "modern_changes"} {
		t.Run(mode, func(t *testing.T) { listChanged(t, mode) })
	}
}

func listChanged(t *testing.T, mode string) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n", "other.yaml": "command: x\n"}, memory(map[string]string{"docs": mode}))
	turn := w.turn()
	c := w.prepare(turn)
	before := toolNames(c)
	if r := w.call(c, turn, "docs__echo", ""); r.Status != Succeeded {
		t.Fatalf("%+v", r)
	}
	wantEqual(t, "the old catalog", toolNames(c), before)
	next := toolNames(w.prepare(turn))
	if !slices.Contains(next, "docs__renamed") || slices.Contains(next, "docs__echo") || !slices.Contains(next, "other__echo") {
		t.Errorf("the next catalog has %v", next)
	}
	if len(w.connected) != 2 {
		t.Errorf("connected %v", w.connected)
	}
	_ = w.host.Close(t.Context())
	if n := len(w.sink.of(CatalogChanged)); n != 1 {
		t.Errorf("%d changes reported", n)
	}
}

func TestAServerWithoutToolsIsConnected(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(map[string]string{"docs": "no_list"}))
	c := w.prepare(w.turn())
	wantEqual(t, "servers", states(c), []string{"docs connected"})
	wantEqual(t, "tools", toolNames(c), nil)
}

func TestBothErasOfTheProtocol(t *testing.T) {
	w := newWorld(t, map[string]string{"old.yaml": "command: x\n", "new.yaml": "command: x\n"},
		memory(map[string]string{"old": "version 2024-11-05", "new": "modern"}))
	turn := w.turn()
	c := w.prepare(turn)
	var got []string
	for _, s := range c.Servers() {
		got = append(got, s.ServerID+" "+s.ProtocolVersion)
	}
	wantEqual(t, "versions", got, []string{"new 2026-07-28", "old 2024-11-05"})
	for _, name := range []string{"old__echo", "new__echo"} {
		if r := w.call(c, turn, name, `{"a":1}`); r.Status != Succeeded || r.Views.Model != `{"a":1}` {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestNilArgumentsAreAnEmptyObject: some servers refuse null.
func TestArguments(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	c := w.prepare(turn)
	for args, want := range map[string]string{"": "{}", "null": "{}", "{}": "{}", `{"n":12345678901234567890}`: `{"n":12345678901234567890}`} {
		if r := w.call(c, turn, "docs__echo", args); r.Views.Model != want {
			t.Errorf("%q arrives as %s", args, r.Views.Model)
		}
	}
	for _, args := range []string{"[]", `"x"`, "{", "7", `{"a":"` + strings.Repeat("x", maxArguments) + `"}`} {
		if r := w.call(c, turn, "docs__echo", args); r.Status != Invalid || r.Started || r.Reason != "arguments_not_an_object" {
			t.Errorf("%.20q: %s %s", args, r.Status, r.Reason)
		}
	}
	if r := w.host.Call(t.Context(), turn, ToolRef{}, nil); r.Status != NotFound || r.Started {
		t.Errorf("no tool: %+v", r)
	}
}

// TestFewerDiscoveriesThanServers: at most four at once over all sessions, and
// closing holds no slot.
func TestAtMostFourServersAreInDiscovery(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("s%02d.yaml", i)] = "command: x\n"
	}
	w := newWorld(t, files, memory(nil))
	gate := newGauge()
	for i := range 12 {
		id := fmt.Sprintf("s%02d", i)
		w.fakes[id] = &servertest.Server{Seen: func(method string) {
			switch method {
			case "server/discover":
				gate.enter()
			case "tools/list":
				gate.leave()
			}
		}}
	}
	second := w.turn()
	second.Session, second.Declarations = "s2", second.Declarations[6:]
	first := w.turn()
	first.Declarations = first.Declarations[:6]
	done := make(chan error, 2)
	for _, turn := range []Turn{first, second} {
		go func() {
			_, err := w.host.Prepare(t.Context(), turn)
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if gate.most > 4 || len(w.connected) != 12 {
		t.Errorf("%d at once, %d connected", gate.most, len(w.connected))
	}
}
