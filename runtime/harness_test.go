package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/evolve-mcp/evolve/runtime/internal/servertest"
)

// secret is what no view, event, log or error may hold.
const secret = "s3cr3t/Value+42=="

// core reads declarations from text: "name.yaml" -> YAML.
func core(t testing.TB, files map[string]string) *Core {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		if name != "agent.yaml" {
			name = "agent/mcp/" + name
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	c, err := LoadDeclarations(fsys)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

// yes approves everything, and counts and keeps what it was asked.
type yes struct {
	mu     sync.Mutex
	asked  []ApprovalRequest
	answer Answer
	hook   func(ApprovalRequest) Answer
	active int
	most   int
}

func (y *yes) Approve(_ context.Context, r ApprovalRequest) (Answer, error) {
	y.mu.Lock()
	y.asked = append(y.asked, r)
	y.active++
	y.most = max(y.most, y.active)
	hook, answer := y.hook, y.answer
	y.mu.Unlock()
	defer func() {
		y.mu.Lock()
		y.active--
		y.mu.Unlock()
	}()
	if hook != nil {
		return hook(r), nil
	}
	if answer == No {
		return ForSession, nil
	}
	return answer, nil
}

func (y *yes) count(kind ApprovalKind) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	n := 0
	for _, r := range y.asked {
		if r.Kind == kind {
			n++
		}
	}
	return n
}

// sink keeps events.
type sink struct {
	mu   sync.Mutex
	list []Event
}

func (s *sink) Emit(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, e)
}

func (s *sink) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.list {
		out = append(out, strings.TrimSpace(string(e.Name)+" "+e.ServerID))
	}
	return out
}

func (s *sink) of(name EventName) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Event
	for _, e := range s.list {
		if e.Name == name {
			out = append(out, e)
		}
	}
	return out
}

func (s *sink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, _ := json.Marshal(s.list)
	return string(b)
}

// world is a host with everything that a test looks at.
type world struct {
	t        testing.TB
	host     *Host
	home     string
	work     string
	approver *yes
	sink     *sink
	core     *Core

	mu        sync.Mutex
	connected []string // servers that Connect was called for, in order
	servers   sync.WaitGroup
	fakes     map[string]*servertest.Server
}

type worldOption func(*Options, *world)

// memory serves every stdio declaration from a goroutine; mode is by server id.
func memory(modes map[string]string) worldOption {
	return func(o *Options, w *world) {
		o.Connect = func(_ context.Context, d Declaration) (Stream, error) {
			w.mu.Lock()
			w.connected = append(w.connected, d.ServerID())
			fake := w.fakes[d.ServerID()]
			w.mu.Unlock()
			if fake == nil {
				fake = &servertest.Server{Mode: modes[d.ServerID()]}
			}
			ours, theirs := net.Pipe()
			w.servers.Go(func() {
				defer theirs.Close()
				fake.Serve(theirs, theirs)
			})
			return ours, nil
		}
	}
}

func newWorld(t testing.TB, files map[string]string, options ...worldOption) *world {
	t.Helper()
	w := &world{
		t: t, home: t.TempDir(), work: t.TempDir(), approver: &yes{}, sink: &sink{},
		core: core(t, files), fakes: map[string]*servertest.Server{},
	}
	o := Options{
		Home: w.home, Approver: w.approver, Events: w.sink, LookupEnv: testEnv,
		Limits: Limits{StdinGrace: 100 * time.Millisecond, TermGrace: 100 * time.Millisecond},
	}
	for _, f := range options {
		f(&o, w)
	}
	var err error
	if w.host, err = NewHost(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.host.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		w.servers.Wait()
	})
	return w
}

func testEnv(name string) (string, bool) {
	switch name {
	case "PATH":
		return os.Getenv("PATH"), true
	case "API_TOKEN":
		return secret, true
	case "LANG":
		return "en_US.UTF-8", true
	}
	return "", false
}

// turn is a turn of this world's core with everything granted.
func (w *world) turn() Turn {
	return Turn{
		ID: "turn-1", Principal: "ada", Session: "s1", Core: ".", CoreRevision: "rev1", Workspace: w.work,
		Capabilities: NewCapabilities("mcp.connect:*", "mcp.call:*"), Policy: &Policy{ID: "p1"},
		Declarations: w.core.Declarations,
	}
}

func (w *world) prepare(turn Turn) *Catalog {
	w.t.Helper()
	c, err := w.host.Prepare(w.t.Context(), turn)
	if err != nil {
		w.t.Fatalf("prepare: %v", err)
	}
	return c
}

// call calls an exposed tool and fails the test if there is none.
func (w *world) call(c *Catalog, turn Turn, name, args string) Result {
	w.t.Helper()
	ref, ok := c.Resolve(name)
	if !ok {
		w.t.Fatalf("no tool %s in %v", name, toolNames(c))
	}
	return w.host.Call(w.t.Context(), turn, ref, json.RawMessage(args))
}

func toolNames(c *Catalog) []string {
	var out []string
	for _, t := range c.Tools() {
		out = append(out, t.Name)
	}
	return out
}

// states is "server state diagnostic" of each server.
func states(c *Catalog) []string {
	var out []string
	for _, s := range c.Servers() {
		out = append(out, strings.TrimSpace(s.ServerID+" "+string(s.State)+" "+s.Diagnostic))
	}
	return out
}

// program is a declaration that runs this test binary as a fake server.
func program(mode string, more ...string) string {
	self, _ := os.Executable()
	return fmt.Sprintf("command: %s\nenv:\n  EVOLVE_TEST_SERVER: %q\n  API_TOKEN: ${API_TOKEN}\n%s", self, mode, strings.Join(more, "\n"))
}

func wantEqual[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// clean fails if a text holds the secret in any form that a redactor of its own
// would find, or a long piece of it.
func clean(t testing.TB, what, text string) {
	t.Helper()
	for _, piece := range []string{secret, secret[:8], secret[8:]} {
		if strings.Contains(text, piece) {
			t.Errorf("%s holds the secret: %.300q", what, text)
			return
		}
	}
}

func cleanResult(t testing.TB, r Result) {
	t.Helper()
	for what, text := range map[string]string{
		"model": r.Views.Model, "operator": r.Views.Operator, "event": r.Views.Event, "durable": r.Views.Durable, "debug": r.Views.Debug,
	} {
		clean(t, what+" view", text)
		if text == "" {
			t.Errorf("%s view is empty", what)
		}
	}
}

// log returns the standard error log, once the host is closed.
func (w *world) log() string {
	w.t.Helper()
	if err := w.host.Close(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(w.home, "logs", "mcp-stderr.log"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}
