package render

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

var update = flag.Bool("update", false, "write the golden files")

var sgrCode = regexp.MustCompile("\x1b\\[[0-9;]*m")

// longFault has a token, which is longer than a narrow line.
var longFault = fault.New(fault.TokenUnknown, "no record of %s is in this repository, so it cannot be checked", tokenA).
	WithHint("evolve reviews fetch REMOTE brings the records of another repository")

// A text is one way to call one of the text renderers.
type text struct {
	name   string
	render func(io.Writer, TextOptions) error
}

func texts() []text {
	report := func(r *securitydiff.Report) func(io.Writer, TextOptions) error {
		return func(w io.Writer, o TextOptions) error { return Text(w, r, o) }
	}
	lint := func(r *securitydiff.LintReport) func(io.Writer, TextOptions) error {
		return func(w io.Writer, o TextOptions) error { return LintText(w, r, o) }
	}
	verify := func(v Verification) func(io.Writer, TextOptions) error {
		return func(w io.Writer, o TextOptions) error { return VerificationText(w, v, o) }
	}
	return []text{
		{"report", report(fullReport())},
		{"report-broken", report(brokenReport())},
		{"report-hostile", report(hostileReport())},
		{"report-empty", report(emptyReport())},
		{"lint", lint(lintReport())},
		{"lint-clean", lint(cleanLint())},
		{"verify-valid", verify(verification(true, true, ""))},
		{"verify-needless", verify(verification(true, false, ""))},
		{"verify-refused", verify(verification(false, true, "token_expired"))},
		{"reviews", func(w io.Writer, o TextOptions) error { return ReviewsText(w, reviews(), o) }},
		{"reviews-none", func(w io.Writer, o TextOptions) error { return ReviewsText(w, Reviews{}, o) }},
		{"doctor", func(w io.Writer, o TextOptions) error { return DoctorText(w, doctor(), o) }},
		{"error", func(w io.Writer, o TextOptions) error { return ErrorText(w, longFault, o.Width) }},
	}
}

// Every text is held in the layouts for all, reports in the others too.
var layouts = []struct {
	name string
	TextOptions
	only string
}{
	{"80", TextOptions{Width: 80}, ""},
	{"40", TextOptions{Width: 40}, ""},
	{"80-color", TextOptions{Width: 80, Color: true}, "report"},
	{"80-verbose", TextOptions{Width: 80, Verbose: true}, "report lint"},
	{"ascii", TextOptions{ASCII: true}, "report report-hostile"},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, x := range texts() {
		for _, l := range layouts {
			if l.only != "" && !slices.Contains(strings.Fields(l.only), x.name) {
				continue
			}
			t.Run(x.name+"-"+l.name, func(t *testing.T) {
				t.Parallel()
				var b bytes.Buffer
				if err := x.render(&b, l.TextOptions); err != nil {
					t.Fatal(err)
				}
				checkText(t, b.String(), l.TextOptions)
				golden(t, x.name+"-"+l.name, b.String())
			})
		}
	}
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// checkText holds what every text promises: no line is wider than asked for, and
// there is nothing but printable ASCII, line feeds, the arrow, and the codes of
// colour if that was asked for.
func checkText(t *testing.T, got string, o TextOptions) {
	t.Helper()
	if o.Color {
		got = sgrCode.ReplaceAllString(got, "")
	}
	if !o.ASCII {
		got = strings.ReplaceAll(got, "\u2192", ">")
	}
	if !strings.HasSuffix(got, "\n") || strings.Contains(got, "\n\n\n") {
		t.Errorf("lines end badly in %q", got)
	}
	width := max(o.Width, leastWidth)
	if o.Width == 0 {
		width = standardWidth
	}
	for line := range strings.Lines(got) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > width || strings.HasSuffix(line, " ") {
			t.Errorf("a line of %d columns of %d: %q", len(line), width, line)
		}
		for i := range len(line) {
			if line[i] < ' ' || line[i] > '~' {
				t.Errorf("byte %#x in %q", line[i], line)
			}
		}
	}
}

// Colour adds nothing but colour: without its codes, and without the lines of
// carets that stand in for it, both say the same.
func TestColorSaysNothingElse(t *testing.T) {
	t.Parallel()
	carets := regexp.MustCompile(`(?m)^[ ^]*\^\n`)
	for _, x := range texts() {
		var plain, colored bytes.Buffer
		if err := x.render(&plain, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := x.render(&colored, TextOptions{Color: true}); err != nil {
			t.Fatal(err)
		}
		want := carets.ReplaceAllString(plain.String(), "")
		if diff := cmp.Diff(want, sgrCode.ReplaceAllString(colored.String(), "")); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}

func TestTextLeavesTheReportAlone(t *testing.T) {
	t.Parallel()
	r := fullReport()
	if err := Text(io.Discard, r, TextOptions{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if r.Changes[0].Path != fullReport().Changes[0].Path {
		t.Error("the changes were sorted in place")
	}
}

func FuzzText(f *testing.F) {
	f.Add("env.API_TOKEN", "literal", "${NAME}", "value changed", 40)
	f.Add("args[0]", strings.Repeat("a ", 60), strings.Repeat("a ", 59)+"b", "", 80)
	f.Add("", "", "x", "", 0)
	f.Add("\x1b[31m", "\u202e", "\n", "\r\n", -1)
	f.Fuzz(func(t *testing.T, name, before, after, note string, width int) {
		if width > 1000 {
			width %= 1000
		}
		r := fullReport()
		c := &r.Changes[1]
		c.Path, c.OldPath = redact.Shown(name), redact.Shown(before)
		c.Fields = []securitydiff.Field{
			{Name: redact.Shown(name), Change: securitydiff.FieldChanged, Before: redact.Shown(before), After: redact.Shown(after), Note: note},
			{Name: redact.Shown(name), Change: securitydiff.FieldAdded, After: redact.Shown(after), Note: note},
		}
		for _, o := range []TextOptions{{Width: width}, {Width: width, Color: true, ASCII: true, Verbose: true}} {
			var b bytes.Buffer
			if err := Text(&b, r, o); err != nil {
				t.Fatal(err)
			}
			if o.Color {
				continue // repository text may spell what the codes look like without ESC
			}
			if strings.ContainsRune(b.String(), '\x1b') {
				t.Errorf("an escape without colour: %q", b.String())
			}
			widest := max(width, leastWidth)
			if width == 0 {
				widest = standardWidth
			}
			for line := range strings.Lines(strings.ReplaceAll(b.String(), "\u2192", ">")) {
				if len(line) > widest+1 {
					t.Errorf("a line of %d columns of %d: %q", len(line)-1, widest, line)
				}
			}
		}
	})
}
