package securitydiff_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

const casesDir = "../testdata/declarations/cases"

// changeCase is one case.json.
type changeCase struct {
	dir         string
	Name        string
	Expect      string
	SecretForms []struct{ Value string } `json:"secret_forms"`
	MustShow    []struct {
		Fact   string
		Tokens []string
	} `json:"must_show"`
	Risk []struct {
		ID       string
		Severity securitydiff.Severity
	}
	Paths    map[string]string
	GitModes map[string]string            `json:"git_modes"`
	Files    map[string]map[string]string `json:"files"`
	Secrets  []any
	Extra    map[string]string `json:"-"` // "id severity" -> reason
}

func readMarked(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "{{}}", "")
}

func loadCases(t *testing.T) []changeCase {
	t.Helper()
	dirs, err := filepath.Glob(casesDir + "/*")
	if err != nil || len(dirs) != 92 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	var out []changeCase
	for _, dir := range dirs {
		c := changeCase{dir: dir, Extra: map[string]string{}}
		if err := json.Unmarshal([]byte(readMarked(t, dir+"/case.json")), &c); err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if data, err := os.ReadFile(dir + "/extra.json"); err == nil {
			if err := json.Unmarshal(data, &c.Extra); err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
		}
		out = append(out, c)
	}
	return out
}

// trees makes the two revisions of a case.
func (c changeCase) trees(t *testing.T) (before, after *decltest.Tree) {
	t.Helper()
	side := func(name string) *decltest.Tree {
		tree := decltest.Files(map[string]string{"README.md": "x\n"})
		if files, ok := c.Files[name]; ok {
			for path, file := range files {
				tree.Put(path, decl.ModeRegular, readMarked(t, filepath.Join(c.dir, file)))
			}
			return tree
		}
		if c.Paths[name] == "" {
			return tree
		}
		mode := decl.ModeRegular
		if m := c.GitModes[name]; m != "" {
			n, err := strconv.ParseUint(m, 8, 32)
			if err != nil {
				t.Fatal(err)
			}
			mode = decl.Mode(n)
		}
		tree.Put(c.Paths[name], mode, readMarked(t, filepath.Join(c.dir, name+".yaml")))
		return tree
	}
	return side("before"), side("after")
}

// forms lists every text that may not be printed.
func (c changeCase) forms() []string {
	var out []string
	for _, f := range c.SecretForms {
		out = append(out, f.Value)
	}
	return out
}

func surfaces(t testing.TB, before, after *decltest.Tree) (b, a *decl.Surface) {
	t.Helper()
	b, err := decl.LoadSurface(t.Context(), before, decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err = decl.LoadSurface(t.Context(), after, decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b, a
}

func compare(t *testing.T, before, after *decltest.Tree) *securitydiff.Report {
	t.Helper()
	b, a := surfaces(t, before, after)
	r, err := securitydiff.Compare(t.Context(), b, a, securitydiff.Options{
		BaseName: "base", HeadName: "head", Fingerprinter: redact.NewFingerprinter(make([]byte, redact.KeyBytes)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(filepath.Base(c.dir), func(t *testing.T) {
			r := compare(t, first(c.trees(t)), second(c.trees(t)))
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			for _, form := range c.forms() {
				if strings.Contains(text, form) {
					t.Errorf("a form of the secret is in the report (%d bytes)", len(form))
				}
			}
			for _, m := range c.MustShow {
				for _, token := range m.Tokens {
					if !strings.Contains(text, token) {
						t.Errorf("%s: %q is not in the report", m.Fact, token)
					}
				}
			}
			if got := outcome(r); got != c.Expect {
				t.Errorf("outcome %s, want %s", got, c.Expect)
			}
			checkFindings(t, c, r)
		})
	}
}

func first(a, _ *decltest.Tree) *decltest.Tree  { return a }
func second(_, b *decltest.Tree) *decltest.Tree { return b }

// outcome is what a case's expect says, told from a report.
func outcome(r *securitydiff.Report) string {
	if len(r.Changes) == 0 {
		return "no_change"
	}
	var c securitydiff.Change
	for _, x := range r.Changes {
		if x.Subject == securitydiff.SubjectDeclaration {
			c = x
		}
	}
	switch {
	case c.AfterState != "" && c.AfterState != "valid":
		return c.AfterState
	case c.Change == securitydiff.Formatting:
		return "no_change"
	case c.Change == securitydiff.Modified:
		return "changed"
	}
	return string(c.Change)
}

func checkFindings(t *testing.T, c changeCase, r *securitydiff.Report) {
	t.Helper()
	got := map[string]bool{}
	for _, ch := range r.Changes {
		for _, f := range ch.Findings {
			got[f.ID+" "+string(f.Severity)] = true
			if f.Message == "" {
				t.Errorf("finding %s has no sentence", f.ID)
			}
		}
	}
	want := map[string]bool{}
	for _, risk := range c.Risk {
		key := risk.ID + " " + string(risk.Severity)
		want[key] = true
		if !got[key] {
			t.Errorf("finding %s is missing; there are %v", key, sorted(got))
		}
	}
	for key := range got {
		if !want[key] && c.Extra[key] == "" {
			t.Errorf("finding %s is not expected", key)
		}
	}
	for key := range c.Extra {
		if !got[key] {
			t.Errorf("extra.json lists %s, which is not raised", key)
		}
	}
}

func sorted(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
