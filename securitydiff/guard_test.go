package securitydiff_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// shownTexts collects every Shown of a document, whatever field holds it.
func shownTexts(v reflect.Value, into map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			shownTexts(v.Elem(), into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				shownTexts(v.Field(i), into)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			shownTexts(v.Index(i), into)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[redact.Shown]() {
			into[v.String()] = true
		}
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// TestAValueThatEqualsWhatIsShownBlocksNoReview: whatever a report says, a
// variable may have the same text as its value; that is no leak and no bug.
func TestAValueThatEqualsWhatIsShownBlocksNoReview(t *testing.T) {
	for _, c := range loadCases(t) {
		texts := map[string]bool{}
		before, after := c.trees(t)
		shownTexts(reflect.ValueOf(compare(t, before, after)), texts)
		for _, d := range []string{"streamable_http", "timeout_seconds"} {
			texts[d] = true
		}
		other := "env:\n"
		n := 0
		for s := range texts {
			if len(s) >= 8 {
				other += fmt.Sprintf("  V%d: %s\n", n, quoted(s))
				n++
			}
		}
		with := after.Clone()
		with.Put("agent/mcp/other-server.yaml", decl.ModeRegular, "command: other-mcp\n"+other)
		b, a := surfaces(t, before, with)
		r, err := securitydiff.Compare(t.Context(), b, a, securitydiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", filepath.Base(c.dir), err)
		}
	}
}

// positions are places of a declaration whose text is never shown. %s is replaced
// by a quoted string, %[2]s by the same without its quotes.
var positions = []string{
	"command: x\nenv: {A: %s}\n",
	"command: x\nenv: {A_TOKEN: %s}\n",
	"command: npx\nargs: [-y, '@acme/docs@1.0.0', %s]\n",
	"command: npx\nargs: [-y, '@acme/docs@1.0.0', --token, %s]\n",
	"command: npx\nargs: [-y, '@acme/docs@1.0.0', \"--token=%[2]s\"]\n",
	"command: npx\nargs: [-y, '@acme/docs@1.0.0', \"--mode=%[2]s\"]\n",
	"command: npx\nargs: [-y, '@acme/docs@1.0.0', \"-p%[2]s\"]\n",
	"command: npx\nargs: [-y, mcp-remote@0.1.0, 'https://a.test/', --header, \"Authorization: Bearer %[2]s\"]\n",
	"command: npx\nargs: [-y, mcp-remote@0.1.0, \"https://a.test/?key=%[2]s\"]\n",
	"command: docker\nargs: [run, -e, \"A=%[2]s\", acme/x:1]\n",
	"command: docker\nargs: [run, \"-eA=%[2]s\", acme/x:1]\n",
	"command: bash\nargs: [-c, \"export A=%[2]s; exec x\"]\n",
	"transport: streamable_http\nurl: \"https://u:%[2]s@a.test/mcp\"\n",
	"transport: streamable_http\nurl: \"https://a.test/%[2]s/mcp\"\n",
	"transport: streamable_http\nurl: \"https://a.test/mcp?key=%[2]s\"\n",
	"transport: streamable_http\nurl: \"https://a.test/mcp?%[2]s\"\n",
	"transport: streamable_http\nurl: \"https://a.test/mcp#%[2]s\"\n",
	"transport: streamable_http\nurl: https://a.test/mcp\nheaders: {X-Key: %s}\n",
	"transport: streamable_http\nurl: https://a.test/mcp\nheaders: {Authorization: \"Bearer %[2]s\"}\n",
	"comand: %s\n",
	"command: x\nargs: %s\n",
	"command: x\n# %[2]s\n",
	"command: x\nenv: {A: \"${B:-%[2]s}\"}\n",
	"command: \"A=%[2]s x\"\n",
	"command: \"x --token=%[2]s\"\n",
	"command: x\nenv: {A: %s}\nunknown: {b: %s}\n",
}

// FuzzLastGuard: wherever a secret stands, the report does not hold it, and the
// last guard has nothing to find; and a report that did hold it would be found.
func FuzzLastGuard(f *testing.F) {
	for i := range positions {
		f.Add(i, "zq9-hunter2-prod", "LOG_LEVEL", "docs-mcp")
		f.Add(i, "correcthorse", "streamable_http", "correcthorse-mcp")
	}
	f.Add(0, "--token=", "A", "x")
	f.Add(0, "\u202eabcdefgh\u0430", "A\u0430", "x y")
	f.Fuzz(func(t *testing.T, at int, secret, name, pkg string) {
		if at < 0 || at >= len(positions) || len(secret) < 8 || !utf8.ValidString(secret+name+pkg) ||
			strings.ContainsAny(secret, "\x00\n\r\u0085\u2028\u2029\ufffd") {
			return
		}
		if strings.HasPrefix(positions[at], "command: \"") && strings.ContainsFunc(secret, unicode.IsSpace) {
			return // what stands behind a space is another word of the command line
		}
		q := quoted(secret)
		body := strings.NewReplacer("%[2]s", q[1:len(q)-1], "%s", q).Replace(positions[at])
		before := decltest.Files(map[string]string{"agent/mcp/docs.yaml": "command: y\n"})
		after := decltest.Files(map[string]string{
			"agent/mcp/docs.yaml": body,
			"agent/mcp/other.yaml": fmt.Sprintf("command: %s\nargs: [%s, %s]\nenv: {%s: a}\ncapability: %s\n",
				quoted(pkg), quoted(pkg), quoted("--"+name), quoted(name), quoted(name)),
		})
		for _, pair := range [][2]*decltest.Tree{{before, after}, {after, before}} {
			b, a := surfaces(t, pair[0], pair[1])
			r, err := securitydiff.Compare(t.Context(), b, a, securitydiff.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Check(); err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			mustNotHold(t, r, secret, name, pkg)
			r.Changes[0].Fields = append(r.Changes[0].Fields, securitydiff.Field{After: redact.Shown("<" + secret + ">")})
			if isWhole(secret) && isRead(r) && !strings.Contains(body, "# ") && !strings.Contains(name+pkg, secret) && !ours(secret) && r.Check() == nil {
				t.Fatalf("a leak is not found\n%s", body)
			}
		}
	})
}

// mustNotHold: the secret is not in the report unless it equals another name that
// is shown for its own sake, or is a word of ours.
func mustNotHold(t *testing.T, r *securitydiff.Report, secret, name, pkg string) {
	t.Helper()
	if strings.Contains(name+" "+pkg, secret) || ours(secret) {
		return
	}
	texts := map[string]bool{}
	shownTexts(reflect.ValueOf(r), texts)
	for s := range texts {
		if strings.Contains(s, secret) {
			t.Fatalf("the secret %q is in %q", secret, s)
		}
	}
}

// isRead: no side is so broken that its values are not known at all.
func isRead(r *securitydiff.Report) bool {
	for _, c := range r.Changes {
		if c.BeforeState == "unparseable" || c.AfterState == "unparseable" {
			return false
		}
	}
	return true
}

// isWhole: no punctuation at which a URL, a header or a command line is taken
// apart, so that the secret is one value wherever it stands; and no plain name,
// which is no value of its own within another.
func isWhole(secret string) bool {
	return !strings.ContainsAny(secret, "\"'`=:,;@/?&#{}[]()<>|%$\\+") && !strings.ContainsFunc(secret, unicode.IsSpace) && secret[0] != '-' &&
		strings.Trim(secret, "abcdefghijklmnopqrstuvwxyz-_.~") != ""
}

// ours: a text that a report may hold whatever the repository says.
func ours(s string) bool {
	for _, own := range []string{
		"agent/mcp/docs.yaml", "agent/mcp/other.yaml", "mcp.call:docs", "mcp.connect:docs", "mcp.call:other", "mcp.connect:other",
		"streamable_http", "<name withheld>", "<redacted>", "value changed", "@acme/docs@1.0.0", "mcp-remote@0.1.0",
		"Authorization", "invalid_schema",
	} {
		if strings.Contains(own, s) {
			return true
		}
	}
	return false
}
