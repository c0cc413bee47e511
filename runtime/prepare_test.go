package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAServerIsConnectedListedAndCalled(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	c := w.prepare(turn)
	wantEqual(t, "servers", states(c), []string{"docs connected"})
	wantEqual(t, "tools", toolNames(c), []string{"docs__cwd", "docs__echo", "docs__env", "docs__fail", "docs__wait"})
	if v := c.Servers()[0].ProtocolVersion; v != "2025-11-25" {
		t.Errorf("protocol version %q", v)
	}
	r := w.call(c, turn, "docs__echo", `{"word":"hello"}`)
	if r.Status != Succeeded || !r.Started || r.Views.Model != `{"word":"hello"}` {
		t.Errorf("%+v", r)
	}
	r = w.call(c, turn, "docs__fail", "")
	if r.Status != Failed || !r.Started || r.Views.Model != "it went wrong" {
		t.Errorf("%+v", r)
	}
	if c2 := w.prepare(turn); len(w.connected) != 1 || len(c2.Tools()) != 5 {
		t.Errorf("a second turn connected again: %v", w.connected)
	}
}

func TestSchemasKeepTheBytesOfTheServer(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	c := w.prepare(w.turn())
	for _, tool := range c.Tools() {
		for _, want := range []string{"$schema", "oneOf", "x-order"} {
			if !strings.Contains(string(tool.InputSchema), want) {
				t.Errorf("%s lost %s: %s", tool.Name, want, tool.InputSchema)
			}
		}
	}
}

func TestRealProcess(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": program("plain")})
	turn := w.turn()
	c := w.prepare(turn)
	wantEqual(t, "servers", states(c), []string{"docs connected"})
	r := w.call(c, turn, "docs__env", "{}")
	if r.Status != Succeeded {
		t.Fatalf("%+v", r)
	}
	cleanResult(t, r)
	var names []string
	for line := range strings.Lines(r.Views.Model) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	wantEqual(t, "environment", names, []string{"API_TOKEN", "EVOLVE_TEST_SERVER", "HOME", "LANG", "PATH"})
	home, err := os.Stat(filepath.Join(w.home, "mcp", "homes"))
	if err != nil || home.Mode().Perm() != 0o700 || !strings.Contains(r.Views.Model, "HOME="+w.home) {
		t.Errorf("the private home: %v %v\n%s", home.Mode(), err, r.Views.Model)
	}
	if r := w.call(c, turn, "docs__cwd", "{}"); r.Views.Model != w.work {
		t.Errorf("runs in %s", r.Views.Model)
	}
}
