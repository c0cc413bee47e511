package securitydiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// sealed makes a report that would show text, with names and withheld values.
func sealed(text redact.Shown, names []string, values ...string) *Report {
	r := &Report{
		Schema: Schema, guard: &redact.Guard{}, Problems: []Problem{},
		Changes: []Change{{Path: "agent/mcp/docs.yaml", Fields: []Field{{Name: "args[0]", After: text}}}},
	}
	for _, v := range values {
		r.guard.Withhold(redact.NewRaw(v))
	}
	a := &atoms{}
	a.add(append(names, "agent/mcp/docs.yaml")...)
	r.seal(a)
	return r
}

func TestANameThatRepeatsAWithheldValueIsWithheld(t *testing.T) {
	t.Parallel()
	r := sealed("args acme-hunter2-prod-mcp", []string{"acme-hunter2-prod-mcp"}, "hunter2-prod")
	if got := r.Changes[0].Fields[0].After; got != redact.Withheld {
		t.Errorf("shown: %q", got)
	}
	if f := r.Changes[0].Findings; len(f) != 1 || f[0].ID != "secret-repeated" {
		t.Errorf("findings: %v", f)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestANameThatEqualsAWithheldValueIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range []redact.Shown{"docs-server", "env.docs-server", "agent/mcp/docs-server.yaml"} {
		r := sealed(text, []string{"docs-server"}, "docs-server", "streamable_http")
		if got := r.Changes[0].Fields[0].After; got != text {
			t.Errorf("%q became %q", text, got)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAValueAcrossNamesAndOurWordsBlocksNothing(t *testing.T) {
	t.Parallel()
	r := sealed("--some-mode=<redacted>", []string{"--some-mode"}, "me-mode=<red")
	if got := r.Changes[0].Fields[0].After; got != redact.Withheld {
		t.Errorf("shown: %q", got)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// TestTheLastGuardFindsABug: whatever a bug would show, in whichever field, no
// report leaves with it, and the error names the place only.
func TestTheLastGuardFindsABug(t *testing.T) {
	t.Parallel()
	const value = "Winter-2026+pass"
	for _, leak := range []redact.Shown{
		value, "--password=" + value, "x" + value + "x", "V2ludGVyLTIwMjYrcGFzcw==", "57696e7465722d323032362b70617373", "Winter-2026%2Bpass",
	} {
		r := sealed(leak, []string{"docs", "--password"}, value)
		err := r.Check()
		if fault.CodeOf(err) != fault.Internal || !strings.Contains(err.Error(), "changes[0].fields[0].after") {
			t.Errorf("%q: %v", leak, err)
		}
		if err != nil && strings.Contains(err.Error(), value) {
			t.Errorf("the error holds the value: %v", err)
		}
	}
	r := sealed("fine", nil, value)
	r.Changes[0].Before = &Summary{Tools: Tools{Exclude: []redact.Shown{"fine", value}}}
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "changes[0].before.tools.exclude[1]") {
		t.Errorf("in a summary: %v", err)
	}
	r = sealed("fine", nil, value)
	r.Problems = append(r.Problems, Problem{Field: value})
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "problems[0].field") {
		t.Errorf("in a problem: %v", err)
	}
}

// TestManyNamesThatEqualValues: a file of names that equal their values costs
// what its size costs, and everything in it is still shown.
func TestManyNamesThatEqualValues(t *testing.T) {
	t.Parallel()
	const many = 20_000
	r := &Report{Schema: Schema, guard: &redact.Guard{}, Changes: []Change{{}}, Problems: []Problem{}}
	a := &atoms{}
	for i := range many {
		name := fmt.Sprintf("AAAAAAAA%05d", i)
		r.guard.Withhold(redact.NewRaw(name))
		a.add(name)
		r.Changes[0].Fields = append(r.Changes[0].Fields, Field{Name: redact.Shown("env." + name)})
	}
	r.seal(a)
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if f := r.Changes[0].Fields[many-1]; f.Name != redact.Shown(fmt.Sprintf("env.AAAAAAAA%05d", many-1)) {
		t.Errorf("shown: %q", f.Name)
	}
}
