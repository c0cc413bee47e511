package runtime

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// TestResultsAreConverted: structured content is preferred, every type has its
// text, and nothing is lost.
func TestResultsAreConverted(t *testing.T) {
	for _, tt := range []struct{ name, raw, text, kinds string }{
		{"text", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb", "text 2"},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"AQID"}]}`, "[image image/png]", "image 1"},
		{"audio", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"AQID"}]}`, "[audio audio/wav]", "audio 1"},
		{"link", `{"content":[{"type":"resource_link","uri":"file:///a","name":"n","title":"T"}]}`, "[T] file:///a", "link 1"},
		{"link without a title", `{"content":[{"type":"resource_link","uri":"file:///a","name":"n"}]}`, "[n] file:///a", "link 1"},
		{"embedded text", `{"content":[{"type":"resource","resource":{"uri":"u","text":"inside"}}]}`, "inside", "resource 1"},
		{"embedded bytes", `{"content":[{"type":"resource","resource":{"uri":"u","mimeType":"application/zip","blob":"AA=="}}]}`, "[resource application/zip] u", "resource 1"},
		{"nothing", `{"content":[]}`, `{"status":"succeeded"}`, "empty"},
		{"nothing at all", `{}`, `{"status":"succeeded"}`, "empty"},
		{"an empty error", `{"isError":true}`, `{"status":"failed"}`, "empty"},
		{"structured repeats text", `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`, `{"a":1}`, "structured 1, text 1"},
		{"structured beside an image", `{"content":[{"type":"text","text":"x"},{"type":"image","mimeType":"image/png","data":"AQID"}],"structuredContent":{"a":1}}`,
			"{\"a\":1}\n[image image/png]", "structured 1, text 1, image 1"},
		{"many texts beside what is structured", `{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 1002) + `{"type":"text","text":"x"}],"structuredContent":{"a":1}}`,
			"{\"a\":1}\n[3 more contents]", "structured 1, text 1000"},
		{"unknown", `{"content":[{"type":"hologram"},{"type":"text","text":"b"}]}`, "[unknown content hologram]\nb", "unknown 1, text 1"},
		{"an unreadable type", `{"content":[{"type":"Evil\u001b[2J"}]}`, "[unknown content of an unreadable type]", "unknown 1"},
		{"a content that is none", `{"content":[7]}`, "[unknown content]", "unknown 1"},
		{"a resource without one", `{"content":[{"type":"resource"}]}`, "[unknown content]", "unknown 1"},
		{"no media type", `{"content":[{"type":"image","mimeType":"x\n","data":"AQID"}]}`, "[image application/octet-stream]", "image 1"},
		{"no result", `[1]`, "[result that could not be read]\n[1]", "unreadable 1"},
		{"input", `{"resultType":"input_required"}`, "[the server asks for input]", "input_required"},
	} {
		c := convert(json.RawMessage(tt.raw))
		if c.structured != nil { // it comes before the text in every view
			c.text = strings.TrimSuffix(string(c.structured)+"\n"+c.text, "\n")
		}
		if c.text != tt.text || c.kinds != tt.kinds {
			t.Errorf("%s: %q (%s), want %q (%s)", tt.name, c.text, c.kinds, tt.text, tt.kinds)
		}
	}
}

// TestMediaReachesAHostThatAsks, and its bytes no view.
func TestMediaReachesTheHost(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(map[string]string{"docs": "every_content"}))
	turn := w.turn()
	c := w.prepare(turn)
	r := w.call(c, turn, "docs__echo", "")
	want := "words\n[image image/png]\n[audio audio/wav]\n[A file] file:///a.txt\ninside\n[resource application/zip] file:///c.bin"
	if r.Views.Model != want {
		t.Errorf("%q", r.Views.Model)
	}
	if len(r.Media) != 2 || r.Media[0].MIME != "image/png" || !slices.Equal(r.Media[0].Data, []byte{1, 2, 3}) || r.Media[1].MIME != "audio/wav" {
		t.Errorf("%+v", r.Media)
	}
	for _, v := range []string{r.Views.Model, r.Views.Durable, r.Views.Debug, r.Views.Operator, r.Views.Event} {
		if strings.Contains(v, "AQID") {
			t.Errorf("a view holds bytes: %s", v)
		}
	}
}

// TestArgumentsReachTheAdapterOnly: the server gets them as they are; a secret
// among them comes back to nobody, and the rest to the model only.
func TestArgumentsReachTheAdapterOnly(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\n"}, memory(nil))
	turn := w.turn()
	c := w.prepare(turn)
	r := w.call(c, turn, "docs__echo", `{"query":"a private question","password":"hunter22"}`)
	if want := `{"query":"a private question","password":"<redacted>"}`; r.Views.Model != want {
		t.Errorf("model: %s", r.Views.Model)
	}
	for _, v := range []string{r.Views.Operator, r.Views.Event, r.Views.Durable, r.Views.Debug} {
		if strings.Contains(v, "private question") || strings.Contains(v, "hunter22") {
			t.Errorf("a view holds arguments: %s", v)
		}
	}
	_ = w.host.Close(t.Context())
	if strings.Contains(w.sink.text(), "private question") || strings.Contains(w.sink.text(), "hunter22") {
		t.Error("an event holds arguments")
	}
}

// TestReferences: ${NAME} and nothing else.
func TestReferences(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "alpha", "EMPTY": ""}[name]
		return v, ok
	}
	for _, tt := range []struct{ value, want, missing string }{
		{"plain", "plain", ""},
		{"${A}", "alpha", ""},
		{"Bearer ${A}/${A}", "Bearer alpha/alpha", ""},
		{"$A", "$A", ""},
		{"${A:-x}", "${A:-x}", ""},
		{"${1A}", "${1A}", ""},
		{"$${A}", "$alpha", ""},
		{"${EMPTY}", "", "EMPTY"},
		{"x ${GONE} y", "", "GONE"},
	} {
		d := core(t, map[string]string{"docs.yaml": "command: x\nenv: {V: \"" + tt.value + "\"}\n"}).Declarations[0]
		got, missing := resolve(d.d, env)
		if missing != tt.missing || missing == "" && got[0].value != tt.want {
			t.Errorf("%s: %v %q", tt.value, got, missing)
		}
	}
}

// TestADeclaredHomeIsRefused, in any case of its letters.
func TestADeclaredHomeIsRefused(t *testing.T) {
	for _, name := range []string{"HOME", "USERPROFILE", "home"} {
		w := newWorld(t, map[string]string{"docs.yaml": "command: sh\nenv: {" + name + ": /tmp}\n"})
		wantEqual(t, name, states(w.prepare(w.turn())), []string{"docs failed the declaration sets HOME or USERPROFILE, which are the host's"})
	}
}

// TestTheCommandIsLookedUpInTheHostsPath, not in the declaration's.
func TestTheCommandIsLookedUpInTheHostsPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "my-server"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	lookup := func(path string) func(string) (string, bool) {
		return func(string) (string, bool) { return path, true }
	}
	for _, tt := range []struct {
		command, path string
		want          bool
	}{
		{"my-server", dir, true},
		{"my-server", "/nowhere:" + dir, true},
		{"my-server", "/nowhere", false},
		{"my-server", "", false},
		{"my-server", ".:relative", false},
		{"./my-server", "", true},
		{filepath.Join(dir, "my-server"), "", true},
		{"./gone", dir, false},
	} {
		if _, ok := lookCommand(tt.command, dir, lookup(tt.path)); ok != tt.want {
			t.Errorf("%s in %q: %v", tt.command, tt.path, ok)
		}
	}
	w := newWorld(t, map[string]string{"docs.yaml": "command: my-server\nenv: {PATH: " + dir + "}\n"})
	wantEqual(t, "servers", states(w.prepare(w.turn())), []string{"docs failed the command my-server was not found in the host's PATH"})
}

type tailText struct {
	text string
	cut  bool
}

func (s tailText) Tail(int64) ([]byte, bool) { return []byte(s.text), s.cut }

type scrubFunc func(string) (string, error)

func (f scrubFunc) RedactWindow(text string, _, _ bool) (string, error) { return f(text) }

// TestTheLogHoldsOnlyAMarkIfRedactionFails.
func TestTheLogOfStandardError(t *testing.T) {
	home := t.TempDir()
	l := &stderrLog{home: home, now: func() time.Time { return time.Unix(0, 0) }}
	for name, bad := range map[string]scrubFunc{
		"error": func(string) (string, error) { return "leak", redact.ErrRedaction },
		"panic": func(string) (string, error) { panic("leak") },
	} {
		l.append(tailText{"leak", false}, bad, "s", name)
	}
	l.append(tailText{"", false}, redact.NewRedactor(), "s", "silent")
	l.append(tailText{"color \x1b[31mred\nnext", false}, redact.NewRedactor(), "s\x1b", "docs")
	l.append(tailText{secret[3:] + " is a part", true}, redact.NewRedactor(redact.NewRaw(secret)), "s", "cut")
	b, err := os.ReadFile(filepath.Join(home, "logs", "mcp-stderr.log"))
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if strings.Contains(got, "leak") || strings.Count(got, redact.FailedView) != 2 || strings.Contains(got, "silent") ||
		strings.Contains(got, "\x1b") || !strings.Contains(got, "color \\u{1b}[31mred\nnext\n") || !strings.Contains(got, "\n<redacted> is a part\n") {
		t.Errorf("%s", got)
	}
	if err := os.Truncate(filepath.Join(home, "logs", "mcp-stderr.log"), maxLog); err != nil {
		t.Fatal(err)
	}
	l.append(tailText{"after", false}, redact.NewRedactor(), "s", "docs")
	if info, err := os.Stat(filepath.Join(home, "logs", "mcp-stderr.log.1")); err != nil || info.Size() != maxLog {
		t.Errorf("not rotated: %v", err)
	}
	if info, err := os.Stat(filepath.Join(home, "logs", "mcp-stderr.log")); err != nil || info.Size() > 200 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Size(), err)
	}
}

// TestLoadDeclarations reads a core from a file system, strictly.
func TestLoadDeclarations(t *testing.T) {
	c := core(t, map[string]string{
		"agent.yaml": "capabilities:\n  defaults:\n    mcp.connect:docs: {scope: core}\napproval:\n  default: prompt\n  risks: {high: deny}\n",
		"docs.yaml":  "command: x\nrisk: high\n", "web.yml": "transport: streamable_http\nurl: https://a.example\nenabled: false\n",
	})
	if len(c.Declarations) != 2 || c.Declarations[0].ServerID() != "docs" || c.Declarations[0].Risk() != RiskHigh ||
		c.Declarations[1].Enabled() || !c.Declarations[1].HTTP() {
		t.Errorf("%+v", c.Declarations)
	}
	if !c.Capabilities.Allows("mcp.connect:docs") || c.Capabilities.Allows("mcp.connect:web") ||
		c.Approval.Default != Prompt || c.Approval.Risks[RiskHigh] != Deny {
		t.Errorf("%+v", c)
	}
	for name, fsys := range map[string]fstest.MapFS{
		"a broken declaration": {"agent/mcp/docs.yaml": {Data: []byte("comand: x\n")}},
		"two of one name":      {"agent/mcp/docs.yaml": {Data: []byte("command: x\n")}, "agent/mcp/docs.yml": {Data: []byte("command: x\n")}},
		"a symlink":            {"agent/mcp/docs.yaml": {Data: []byte("other.yaml"), Mode: os.ModeSymlink}},
	} {
		_, err := LoadDeclarations(fsys)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.DeclarationInvalid || f.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := LoadDeclarations(fstest.MapFS{}); err != nil || len(c.Declarations) != 0 {
		t.Errorf("nothing: %v %v", c, err)
	}
	if _, err := LoadDeclarations(os.DirFS(t.TempDir())); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
}

// TestOptions: what a host must bring.
func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{"no home": {}, "relative": {Home: "x"}, "a short key": {Home: t.TempDir(), FingerprintKey: []byte("x")}} {
		_, err := NewHost(o)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.ConfigInvalid || f.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestACapabilityIsShownScreened in the catalog, as in an approval: a name can
// hold what looks like a credential.
func TestACapabilityIsShownScreened(t *testing.T) {
	const key = "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" // invented
	w := newWorld(t, map[string]string{"docs.yaml": "command: x\ncapability: " + key + "\n"}, memory(nil))
	turn := w.turn()
	turn.Capabilities = NewCapabilities(key, "mcp.connect:docs")
	data, err := json.Marshal(w.prepare(turn))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "docs__echo") || strings.Contains(string(data), key) {
		t.Errorf("%s", data)
	}
}
