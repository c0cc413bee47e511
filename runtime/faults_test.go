package runtime

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leftBehind lists the processes that have this world's private home in their
// environment, and counts our open files.
func (w *world) leftBehind() []string {
	var out []string
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		env, err := os.ReadFile(name)
		if err == nil && bytes.Contains(env, []byte("HOME="+w.home)) {
			out = append(out, name)
		}
	}
	return out
}

func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// TestServersWithFaults runs real processes. Whatever a server does, the outcome
// is bounded and named, nothing secret comes out, and nothing is left.
func TestServersWithFaults(t *testing.T) {
	const connected = "docs connected"
	short := "connect_timeout_seconds: 1\ntimeout_seconds: 1"
	for _, tt := range []struct {
		mode   string
		more   string // of the declaration
		server string // its state
		status Status // of a call; "" makes none
		model  string // what the model reads of it, or a part
		after  string // the server's state at the next preparation; "" is connected
	}{
		{mode: "plain", server: connected, status: Succeeded, model: `{"a":1}`},
		{mode: "modern", server: connected, status: Succeeded, model: `{"a":1}`},
		{mode: "version 2024-11-05", server: connected, status: Succeeded},
		{mode: "version 2025-03-26", server: connected, status: Succeeded},
		{mode: "version 2025-06-18", server: connected, status: Succeeded},
		{mode: "version 1999-01-01", server: "docs failed initialize failed: the server speaks no known version of the protocol"},
		{mode: "ignores_discover", more: "connect_timeout_seconds: 3", server: connected, status: Succeeded},
		{mode: "empty", server: "docs failed initialize failed: the server speaks no known version of the protocol"},
		{mode: "silent", more: short, server: "docs failed initialize took longer than connect_timeout_seconds"},
		{mode: "stubborn", server: connected, status: Succeeded},
		{mode: "grandchild", server: connected, status: Succeeded},
		{mode: "banner", server: connected, status: Succeeded},
		{mode: "noise", server: "docs failed initialize failed: the server writes something other than messages to its standard output"},
		{mode: "wrong_id", server: "docs failed initialize failed: the server answered a request that was never made"},
		{mode: "dies_at_start", server: "docs failed initialize failed: the server closed its standard output"},
		{mode: "endless_pages", server: "docs failed tools/list failed: the server has more pages than the limit allows"},
		{mode: "same_page", server: "docs failed tools/list failed: the server gave the same page twice"},
		{mode: "many_tools", server: "docs failed tools/list failed: the server has more tools than the limit allows"},
		{mode: "lists_error", server: "docs failed tools/list was refused by the server: cannot list with <redacted>"},
		{mode: "pages", server: connected, status: Succeeded},
		{mode: "secret_tools", server: connected, status: Succeeded},
		{mode: "no_newline", server: connected, status: Indeterminate, model: "the server sent a message above the limit"},
		{mode: "huge", server: connected, status: Indeterminate, model: "the server sent a message above the limit"},
		{mode: "large", server: connected, status: Succeeded, model: "xxxxxxxx"},
		{mode: "call_wrong_id", server: connected, status: Indeterminate, model: "a request that was never made"},
		{mode: "null_id", more: short, server: connected, status: TimedOut},
		{mode: "dies_mid_call", server: connected, status: Indeterminate, model: "closed its standard output"},
		{mode: "deaf", more: short, server: connected, status: TimedOut, model: "longer than timeout_seconds"},
		{mode: "unknown_content", server: connected, status: Succeeded, model: "[unknown content hologram]\nbeside it"},
		{mode: "not_a_result", server: connected, status: Succeeded, model: "[result that could not be read]\n\"just text\""},
		{mode: "nothing", server: connected, status: Succeeded, model: `{"status":"succeeded"}`},
		{mode: "structured", server: connected, status: Succeeded, model: `"big":12345678901234567890`},
		{mode: "leaks", server: connected, status: Succeeded, model: "<redacted>"},
		{mode: "error_leaks", server: connected, status: Failed, model: "login with <redacted> failed"},
		{mode: "stderr", more: "connect_timeout_seconds: 20", server: connected, status: Succeeded},
		{mode: "stderr_then_die", server: "docs failed initialize failed: the server closed its standard output"},
		{mode: "asks_sampling", server: connected, status: Succeeded, model: "refused with -32601"},
		{mode: "asks_roots", server: connected, status: Succeeded, model: "refused with -32601"},
		{mode: "asks_user", server: connected, status: Succeeded, model: "refused with -32601"},
		{mode: "asks_ping", server: connected, status: Succeeded, model: "answered with {}"},
		{mode: "asks_too_much", more: short, server: connected, status: Indeterminate},
		{mode: "input_required", server: connected, status: InputRequired, model: "asks for input"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			before, files := goleak.IgnoreCurrent(), openFiles()
			w := newWorld(t, map[string]string{"docs.yaml": program(tt.mode, tt.more)})
			turn := w.turn()
			c := w.prepare(turn)
			wantEqual(t, "server", states(c), []string{tt.server})
			for _, s := range c.Servers() {
				clean(t, "diagnostic", s.Diagnostic)
			}
			catalog, _ := c.MarshalJSON()
			clean(t, "catalog", string(catalog))
			if tt.status != "" {
				args := `{"a":1}`
				if tt.mode == "deaf" { // more than a pipe holds
					args = `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
				}
				r := w.call(c, turn, "docs__echo", args)
				if r.Status != tt.status || !r.Started || !strings.Contains(r.Views.Model, tt.model) {
					t.Errorf("%s, started %v: %.300s\nwant %s: %s", r.Status, r.Started, r.Views.Model, tt.status, tt.model)
				}
				if len(r.Views.Model) > 256<<10 || len(r.Views.Durable) > 64<<10 || len(r.Views.Event) > 512 {
					t.Error("a view is above its limit")
				}
				cleanResult(t, r)
			}
			log := w.log()
			clean(t, "log", log)
			clean(t, "events", w.sink.text())
			w.servers.Wait()
			if left := w.leftBehind(); left != nil {
				t.Errorf("processes left: %v", left)
			}
			goleak.VerifyNone(t, before)
			if now := openFiles(); now > files {
				t.Errorf("%d files were open, now %d", files, now)
			}
		})
	}
}

// TestAServerThatDiedIsConnectedAgain: the next preparation starts it anew.
func TestAServerThatDiedIsConnectedAgain(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": program("dies_mid_call")})
	turn := w.turn()
	c := w.prepare(turn)
	if r := w.call(c, turn, "docs__echo", ""); r.Status != Indeterminate || !r.Started {
		t.Errorf("%+v", r)
	}
	r := w.call(c, turn, "docs__echo", "")
	if r.Status != Failed || r.Reason != "connection_lost" || r.Started {
		t.Errorf("%+v", r)
	}
	wantEqual(t, "server", states(w.prepare(turn)), []string{"docs connected"})
}

// TestStandardErrorIsLoggedAsARedactedWindow: the last 12,000 characters, private.
func TestStandardErrorIsLoggedAsARedactedWindow(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": program("stderr", "connect_timeout_seconds: 20")})
	w.prepare(w.turn())
	log := w.log()
	clean(t, "log", log)
	for _, want := range []string{"server=docs session=s1", "<redacted>", "all is well"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log: %.200s", want, log)
		}
	}
	_, body, _ := strings.Cut(log, "\n")
	if n := len([]rune(body)); n < 11_000 || n > logWindow+1 {
		t.Errorf("%d characters", n)
	}
	for name, mode := range map[string]os.FileMode{"logs": 0o700, "logs/mcp-stderr.log": 0o600} {
		info, err := os.Stat(filepath.Join(w.home, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// TestStubbornServersAreKilledWithTheirGroup: TERM is ignored, KILL is not.
func TestClosingIsBoundedByTheGraces(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": program("stubborn"), "other.yaml": program("grandchild")})
	w.prepare(w.turn())
	if len(w.leftBehind()) != 3 {
		t.Errorf("running: %v", w.leftBehind())
	}
	start := time.Now()
	if err := w.host.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if left := w.leftBehind(); left != nil {
		t.Errorf("left: %v", left)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("closing took %v", d)
	}
}
