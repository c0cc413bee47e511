package securitydiff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// marked writes segments as text with the changed ones in brackets.
func marked(list []Segment) string {
	var b strings.Builder
	for _, s := range list {
		if s.Changed {
			b.WriteString("[" + string(s.Text) + "]")
		} else {
			b.WriteString(string(s.Text))
		}
	}
	return b.String()
}

func TestMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		before, after         redact.Shown
		wantBefore, wantAfter string
	}{
		{"a version", "@acme/docs-mcp@1.4.2", "@acme/docs-mcp@1.5.2", "@acme/docs-mcp@1.[4].2", "@acme/docs-mcp@1.[5].2"},
		{"a pin dropped", "@acme/docs-mcp@1.4.2", "@acme/docs-mcp", "@acme/docs-mcp[@1.4.2]", "@acme/docs-mcp"},
		{"a host", "https://mcp.acme.test", "https://mcp.acme-cdn.test", "https://mcp.acme.test", "https://mcp.acme[-cdn].test"},
		{"a fingerprint", "<value #3f9a61c2 8-15>", "<value #99ab00cd 8-15>", "<value #[3f9a61c2] 8-15>", "<value #[99ab00cd] 8-15>"},
		{"whole words only", "services/doc", "services/docs", "services/[doc]", "services/[docs]"},
		{"nothing in common but letters", "prompt", "auto", "[prompt]", "[auto]"},
		{"nothing in common but punctuation", "a.b.c", "x.y.z", "[a.b.c]", "[x.y.z]"},
		{"too little in common", "one two three four", "one five sixteen eight", "[one two three four]", "[one five sixteen eight]"},
		{"equal", "npx", "npx", "npx", "npx"},
		{"from nothing", "", "npx", "", "[npx]"},
		{"both empty", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, a := Mark(c.before, c.after)
			if diff := cmp.Diff([]string{c.wantBefore, c.wantAfter}, []string{marked(b), marked(a)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMarkLeavesLongTextsAlone(t *testing.T) {
	t.Parallel()
	long := redact.Shown(strings.Repeat("a b ", maxMarked/4))
	b, a := Mark(long, long+"c")
	want := [][]Segment{{{long, true}}, {{long + "c", true}}}
	if diff := cmp.Diff(want, [][]Segment{b, a}); diff != "" {
		t.Error(diff)
	}
}

func FuzzMark(f *testing.F) {
	f.Add("@acme/docs-mcp@1.4.2", "@acme/docs-mcp@1.5.0")
	f.Add("", "x")
	f.Add("a a a b", "b a a a")
	f.Add(strings.Repeat(". ", maxMarked/2-1), strings.Repeat(" .", maxMarked/2))
	f.Fuzz(func(t *testing.T, before, after string) {
		b, a := Mark(redact.Shown(before), redact.Shown(after))
		for _, side := range []struct {
			segments []Segment
			text     string
		}{{b, before}, {a, after}} {
			var joined string
			for i, s := range side.segments {
				joined += string(s.Text)
				if s.Text == "" || i > 0 && side.segments[i-1].Changed == s.Changed {
					t.Fatalf("Mark(%q, %q): needless segment in %v", before, after, side.segments)
				}
			}
			if joined != side.text {
				t.Fatalf("Mark(%q, %q) gave %q for %q", before, after, joined, side.text)
			}
		}
		b2, a2 := Mark(redact.Shown(before), redact.Shown(after))
		if !cmp.Equal(b, b2) || !cmp.Equal(a, a2) {
			t.Fatalf("Mark(%q, %q) differs from run to run", before, after)
		}
	})
}
