package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// trace records, in order, everything that a preparation does to the outside.
type trace struct {
	mu   sync.Mutex
	list []string
}

func (r *trace) add(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, s)
}

func (r *trace) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.list
	r.list = nil
	return out
}

func (r *trace) LookupHost(_ context.Context, name string) ([]string, error) {
	r.add("resolve " + name)
	return []string{"10.1.2.3"}, nil
}

// traced makes a world whose outside is recorded.
func traced(r *trace, answer *Answer) worldOption {
	return func(o *Options, w *world) {
		memory(nil)(o, w)
		connect := o.Connect
		o.Connect = func(ctx context.Context, d Declaration) (Stream, error) {
			r.add("connect " + d.ServerID())
			return connect(ctx, d)
		}
		o.Resolver = r
		o.LookupEnv = func(name string) (string, bool) {
			if name == "API_TOKEN" || name == "UNSET" {
				r.add("read " + name)
			}
			return testEnv(name)
		}
		w.approver.hook = func(a ApprovalRequest) Answer {
			r.add("ask " + string(a.Kind) + " " + a.ServerID)
			return *answer
		}
	}
}

// TestNothingHappensBeforeItIsAllowed: capability, cwd, URL policy and approval
// come in this order, and references, processes, queries and connections after.
func TestNothingHappensBeforeItIsAllowed(t *testing.T) {
	const stdioDecl = "command: x\nenv: {TOKEN: \"${API_TOKEN}\"}\n"
	const httpDecl = "transport: streamable_http\nurl: http://intern.example/mcp\nheaders: {Authorization: \"Bearer ${API_TOKEN}\"}\n"
	for _, tt := range []struct {
		name   string
		decl   string
		change func(*Turn, *world)
		answer Answer
		want   []string
		state  string
	}{
		{name: "all is granted", decl: stdioDecl, answer: Once,
			want: []string{"ask connect docs", "read API_TOKEN", "connect docs"}, state: "docs connected"},
		{name: "no capability", decl: stdioDecl, answer: Once,
			change: func(t *Turn, _ *world) { t.Capabilities = NewCapabilities("mcp.call:*") }, state: "docs denied capability_missing"},
		{name: "a star grants nothing", decl: stdioDecl, answer: Once,
			change: func(t *Turn, _ *world) {
				t.Capabilities = NewCapabilities("*", "mcp.*", "mcp*", "mcp.connect*", "mcp.connect")
			},
			state: "docs denied capability_missing"},
		{name: "a grant for another server", decl: stdioDecl, answer: Once,
			change: func(t *Turn, _ *world) { t.Capabilities = NewCapabilities("mcp.connect:docs2", "mcp.connect:docs:*") },
			state:  "docs denied capability_missing"},
		{name: "the declaration's own capability grants nothing", decl: stdioDecl + "capability: mcp.connect:docs\n", answer: Once,
			change: func(t *Turn, _ *world) { t.Capabilities = NewCapabilities() }, state: "docs denied capability_missing"},
		{name: "cwd leaves through a link", decl: stdioDecl + "cwd: link\n", answer: Once,
			change: func(_ *Turn, w *world) { _ = os.Symlink(w.home, filepath.Join(w.work, "link")) },
			state:  "docs denied cwd_outside_workspace"},
		{name: "cwd is not there", decl: stdioDecl + "cwd: gone\n", answer: Once, state: "docs denied cwd_outside_workspace"},
		{name: "cwd through a link that stays inside", decl: stdioDecl + "cwd: link\n", answer: Once,
			change: func(_ *Turn, w *world) {
				_ = os.Mkdir(filepath.Join(w.work, "sub"), 0o700)
				_ = os.Symlink("sub", filepath.Join(w.work, "link"))
			},
			want: []string{"ask connect docs", "read API_TOKEN", "connect docs"}, state: "docs connected"},
		{name: "private address", decl: httpDecl, answer: Once, want: []string{"resolve intern.example"}, state: "docs denied private_address"},
		{name: "http without capability is not even resolved", decl: httpDecl, answer: Once,
			change: func(t *Turn, _ *world) { t.Capabilities = NewCapabilities() }, state: "docs denied capability_missing"},
		{name: "the declaration denies", decl: stdioDecl + "approval_policy: deny\n", answer: Once, state: "docs denied policy_denies"},
		{name: "the core denies", decl: stdioDecl, answer: Once,
			change: func(t *Turn, _ *world) {
				t.Policy.Core.Capabilities = map[string]Approval{"mcp.connect:*": Deny}
			}, state: "docs denied policy_denies"},
		{name: "the host denies", decl: stdioDecl + "risk: critical\n", answer: Once,
			change: func(t *Turn, _ *world) { t.Policy.Host.Risks = map[Risk]Approval{RiskCritical: Deny} }, state: "docs denied policy_denies"},
		{name: "auto never lowers connecting below prompt", decl: stdioDecl + "approval_policy: auto\n", answer: No,
			change: func(t *Turn, _ *world) { t.Policy.Host.Default, t.Policy.Core.Default = Auto, Auto },
			want:   []string{"ask connect docs"}, state: "docs denied not_approved"},
		{name: "not approved", decl: stdioDecl, answer: No, want: []string{"ask connect docs"}, state: "docs denied not_approved"},
		{name: "unset reference", decl: "command: x\nenv: {TOKEN: \"${UNSET}\"}\n", answer: Once,
			want: []string{"ask connect docs", "read UNSET"}, state: "docs failed the environment variable UNSET is not set"},
		{name: "disabled", decl: stdioDecl + "enabled: false\n", answer: Once},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &trace{}
			w := newWorld(t, map[string]string{"docs.yaml": tt.decl}, traced(r, &tt.answer))
			turn := w.turn()
			if tt.change != nil {
				tt.change(&turn, w)
			}
			c := w.prepare(turn)
			wantEqual(t, "what happened", r.take(), tt.want)
			var want []string
			if tt.state != "" {
				want = []string{tt.state}
			}
			wantEqual(t, "servers", states(c), want)
			_ = w.host.Close(t.Context())
			if strings.Contains(tt.state, "denied") {
				list := w.sink.of(ServerDenied)
				if len(list) != 1 || list[0].Capability != "mcp.connect:docs" || list[0].ServerID != "docs" ||
					list[0].Path != "agent/mcp/docs.yaml" || list[0].Session != "s1" || list[0].Turn != "turn-1" ||
					!strings.HasSuffix(tt.state, list[0].Reason) || (list[0].URLPolicy != nil) != strings.Contains(tt.state, "address") {
					t.Errorf("events: %+v", list)
				}
			}
		})
	}
}

// TestGrantsMatchExactlyOrAtAColon.
func TestGrantsMatchExactlyOrAtAColon(t *testing.T) {
	for _, tt := range []struct {
		grant, capability string
		want              bool
	}{
		{"mcp.connect:docs", "mcp.connect:docs", true},
		{"mcp.connect:docs", "mcp.connect:docs2", false},
		{"mcp.connect:docs", "MCP.connect:docs", false},
		{"mcp.connect:*", "mcp.connect:docs", true},
		{"mcp.connect:*", "mcp.connect:a:b", true},
		{"mcp.connect:a:*", "mcp.connect:a:b", true},
		{"mcp.connect:a:*", "mcp.connect:a", false},
		{"mcp.connect:*", "mcp.connect", false},
		{"mcp.connect:*", "mcp.connects:docs", false},
		{"mcp.connect:do*", "mcp.connect:docs", false},
		{"mcp.*", "mcp.connect:docs", false},
		{"*", "mcp.connect:docs", false},
		{"*", "*", false},
		{":*", ":x", false},
		{"*:*", "mcp.connect:docs", false},
		{"mcp.call:*", "mcp.call:*", true},
		{"mcp:*", "mcp:call:*", false},
		{"", "", false},
	} {
		if got := NewCapabilities(tt.grant).Allows(tt.capability); got != tt.want {
			t.Errorf("%q allows %q: %v", tt.grant, tt.capability, got)
		}
	}
}

// TestAnUnboundTurnFailsClosed: each field is needed, to prepare and to call.
func TestAnUnboundTurnFailsClosed(t *testing.T) {
	r, answer := &trace{}, Once
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, traced(r, &answer))
	good := w.turn()
	c := w.prepare(good)
	ref, _ := c.Resolve("docs__echo")
	r.take()
	for name, change := range map[string]func(*Turn){
		"principal":     func(t *Turn) { t.Principal = "" },
		"session":       func(t *Turn) { t.Session = "" },
		"core":          func(t *Turn) { t.Core = "" },
		"core revision": func(t *Turn) { t.CoreRevision = "" },
		"workspace":     func(t *Turn) { t.Workspace = "" },
		"capabilities":  func(t *Turn) { t.Capabilities = Capabilities{} },
		"policy":        func(t *Turn) { t.Policy = &Policy{} },
	} {
		turn := good
		change(&turn)
		_, err := w.host.Prepare(t.Context(), turn)
		var authority *AuthorityError
		if !errors.As(err, &authority) || !slices.Equal(authority.Missing, []string{name}) {
			t.Errorf("%s: %v", name, err)
		}
		if res := w.host.Call(t.Context(), turn, ref, nil); res.Status != Invalid || res.Started {
			t.Errorf("%s: call %+v", name, res)
		}
	}
	wantEqual(t, "what happened", r.take(), nil)
}

// TestChangesBetweenTurns: the same authority keeps peers; any change of it
// evicts everything and asks again.
func TestChangesBetweenTurns(t *testing.T) {
	files := map[string]string{"a.yaml": "command: x\n", "b.yaml": "command: v\n"}
	both := []string{"ask connect a", "ask connect b", "connect a", "connect b"}
	for _, tt := range []struct {
		name   string
		change func(*testing.T, *Turn)
		want   []string
	}{
		{"nothing", func(*testing.T, *Turn) {}, nil},
		{"another turn id", func(_ *testing.T, n *Turn) { n.ID = "turn-2" }, nil},
		{"principal", func(_ *testing.T, n *Turn) { n.Principal = "eve" }, both},
		{"capabilities", func(_ *testing.T, n *Turn) { n.Capabilities = NewCapabilities("mcp.connect:*") }, both},
		{"core revision", func(_ *testing.T, n *Turn) { n.CoreRevision = "rev2" }, both},
		{"core", func(_ *testing.T, n *Turn) { n.Core = "other" }, both},
		{"workspace", func(t *testing.T, n *Turn) { n.Workspace = t.TempDir() }, both},
		{"connect policy", func(_ *testing.T, n *Turn) {
			n.Policy = &Policy{ID: "p1", Host: ApprovalRules{Default: Prompt}}
		}, both},
		{"policy for one tool only", func(_ *testing.T, n *Turn) {
			n.Policy = &Policy{ID: "p1", Host: ApprovalRules{Tools: map[string]Approval{"echo": Deny}}}
		}, nil},
		{"one declaration", func(t *testing.T, n *Turn) {
			n.Declarations = core(t, map[string]string{"a.yaml": "command: x\n", "b.yaml": "command: v\nargs: [v]\n"}).Declarations
		}, []string{"ask connect b", "connect b"}},
		{"a new declaration", func(t *testing.T, n *Turn) {
			n.Declarations = core(t, map[string]string{"a.yaml": "command: x\n", "b.yaml": "command: v\n", "c.yaml": "command: z\n"}).Declarations
		}, []string{"ask connect c", "connect c"}},
		{"none left", func(_ *testing.T, n *Turn) { n.Declarations = nil }, nil},
		{"another session", func(_ *testing.T, n *Turn) { n.Session = "s2" }, both},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, answer := &trace{}, ForSession
			w := newWorld(t, files, traced(r, &answer))
			turn := w.turn()
			c := w.prepare(turn)
			r.take()
			next := turn
			tt.change(t, &next)
			w.prepare(next)
			got := r.take()
			slices.Sort(got)
			wantEqual(t, "what happened", got, tt.want)
			// What was handed out fits the old turn or nothing.
			ref, _ := c.Resolve("a__echo")
			kept := tt.want == nil || len(tt.want) == 2 || next.Session != turn.Session
			if tt.name == "none left" {
				kept = false
			}
			if res := w.host.Call(t.Context(), turn, ref, nil); (res.Status == Succeeded) != kept {
				t.Errorf("a call of the old turn: %s %s", res.Status, res.Reason)
			}
			if res := w.host.Call(t.Context(), next, ref, nil); len(tt.want) == 4 && (res.Status != Invalid || res.Started) {
				t.Errorf("a call of the new turn with an old reference: %+v", res)
			}
		})
	}
}

// TestEveryCallNeedsItsOwnCapabilityAndApproval also proves that a refused call
// never reaches the server.
func TestEveryCallNeedsItsOwnCapabilityAndApproval(t *testing.T) {
	for _, tt := range []struct {
		name   string
		decl   string
		grants []string
		answer Answer
		policy func(*Policy)
		status Status
		reason string
		asked  int
	}{
		{name: "granted and approved", grants: []string{"mcp.call:docs"}, answer: Once, status: Succeeded, asked: 1},
		{name: "no capability", grants: nil, answer: Once, status: Denied, reason: "capability_missing"},
		{name: "a capability of its own", decl: "capability: docs.read\n", grants: []string{"mcp.call:docs"}, answer: Once, status: Denied, reason: "capability_missing"},
		{name: "a capability of its own, granted", decl: "capability: docs.read\n", grants: []string{"docs.read"}, answer: Once, status: Succeeded, asked: 1},
		{name: "metadata changes the capability", grants: []string{"mcp.call:docs"}, answer: Once,
			policy: func(p *Policy) { p.ToolMetadata = []ToolMetadata{{Name: "echo", Capability: "x:y"}} }, status: Denied, reason: "capability_missing"},
		{name: "auto asks nobody", decl: "approval_policy: auto\n", grants: []string{"mcp.call:*"}, answer: Once, status: Succeeded},
		{name: "no", grants: []string{"mcp.call:*"}, answer: No, status: Denied, reason: "not_approved", asked: 1},
		{name: "deny asks nobody", grants: []string{"mcp.call:*"}, answer: Once,
			policy: func(p *Policy) { p.Host.Tools = map[string]Approval{"echo": Deny} }, status: Denied, reason: "policy_denies"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"docs.yaml": "command: x\n" + tt.decl}, memory(nil))
			w.approver.hook = func(r ApprovalRequest) Answer {
				if r.Kind == ConnectApproval {
					return Once
				}
				return tt.answer
			}
			turn := w.turn()
			turn.Capabilities = NewCapabilities(append(tt.grants, "mcp.connect:docs")...)
			if tt.policy != nil {
				tt.policy(turn.Policy)
			}
			c := w.prepare(turn)
			r := w.call(c, turn, "docs__echo", `{"q":"x"}`)
			if r.Status != tt.status || r.Reason != tt.reason || r.Started != (tt.status == Succeeded) {
				t.Errorf("%s %s started %v", r.Status, r.Reason, r.Started)
			}
			if n := w.approver.count(CallApproval); n != tt.asked {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestApprovalsAreKeyedExpireAndCanBeRevoked.
func TestRevokedApprovalsCutConnectionsOff(t *testing.T) {
	r, answer := &trace{}, ForSession
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, traced(r, &answer))
	turn := w.turn()
	c := w.prepare(turn)
	for range 2 {
		if res := w.call(c, turn, "docs__echo", ""); res.Status != Succeeded {
			t.Fatalf("%+v", res)
		}
	}
	wantEqual(t, "what happened", r.take(), []string{"ask connect docs", "connect docs", "ask call docs"})
	w.host.RevokeApprovals("somebody else", "")
	if res := w.call(c, turn, "docs__echo", ""); res.Status != Succeeded {
		t.Errorf("%+v", res)
	}
	w.host.RevokeApprovals("ada", "s1")
	if res := w.call(c, turn, "docs__echo", ""); res.Status != Invalid || res.Reason != "approval_revoked" || res.Started {
		t.Errorf("%+v", res)
	}
	w.prepare(turn)
	wantEqual(t, "what happened", r.take(), []string{"ask connect docs", "connect docs"})
}

// TestOnePromptAtATime, and what waits for it can be cancelled.
func TestOnePromptAtATime(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	c := w.prepare(turn)
	entered, leave := make(chan struct{}), make(chan struct{})
	w.approver.hook = func(ApprovalRequest) Answer {
		entered <- struct{}{}
		<-leave
		return Once
	}
	results := make(chan Result, 2)
	ref, _ := c.Resolve("docs__echo")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { results <- w.host.Call(t.Context(), turn, ref, nil) }()
	<-entered
	go func() { results <- w.host.Call(ctx, turn, ref, json.RawMessage(`{"second":1}`)) }()
	cancel()
	if r := <-results; r.Status != Cancelled || r.Started {
		t.Errorf("the one that waits: %+v", r)
	}
	close(leave)
	if r := <-results; r.Status != Succeeded {
		t.Errorf("the one that was asked: %+v", r)
	}
	if w.approver.most != 1 {
		t.Errorf("%d prompts at once", w.approver.most)
	}
}

// TestThePreviewShowsNoSecret: the strict form, for processes and for URLs.
func TestThePreviewShowsNoSecret(t *testing.T) {
	w := newWorld(t, map[string]string{
		"local.yaml": "command: npx\nargs: [\"-y\", \"@acme/docs\", \"--token=" + secret + "\", \"--verbose\", \"" + secret + "\"]\n" +
			"env: {API_TOKEN: \"" + secret + "\", OTHER: \"${API_TOKEN}\"}\ncwd: .\ntools: {include: [\"read_*\"]}\n",
		"web.yaml": "transport: streamable_http\nurl: http://user:" + "hunter22" + "@127.0.0.1:9/" + "p4th/secret" + "?key=hunter22\nheaders: {X-Key: \"hunter22\"}\n",
	}, memory(nil), func(o *Options, _ *world) { o.TrustedNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	w.approver.hook = func(ApprovalRequest) Answer { return No }
	w.prepare(w.turn())
	if len(w.approver.asked) != 2 {
		t.Fatalf("asked %d times", len(w.approver.asked))
	}
	local, web := w.approver.asked[0].Preview, w.approver.asked[1].Preview
	for _, p := range []Preview{local, web} {
		b, _ := json.Marshal(p)
		for _, text := range []string{p.String(), string(b)} {
			clean(t, "preview", text)
			if strings.Contains(text, "hunter22") || strings.Contains(text, "p4th") {
				t.Errorf("preview holds a part of the URL: %s", text)
			}
		}
	}
	if local.Command != "npx" || local.Args[0] != "-y" || !strings.HasPrefix(local.Args[1], "<value #") ||
		!strings.HasPrefix(local.Args[2], "--token=<value #") || local.Args[3] != "--verbose" ||
		!slices.Equal(local.EnvNames, []string{"API_TOKEN", "OTHER"}) || !slices.Equal(local.References, []string{"API_TOKEN"}) {
		t.Errorf("%+v", local)
	}
	if web.URL == nil || web.URL.Target != "http://127.0.0.1:9" || !slices.Equal(web.HeaderNames, []string{"X-Key"}) {
		t.Errorf("%+v", web)
	}
}
