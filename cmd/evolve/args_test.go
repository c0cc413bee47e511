package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
)

func TestFlagsMayStandAnywhereAndNoneIsDropped(t *testing.T) {
	p := &program{}
	for _, tt := range []struct{ line, want string }{
		{"promote REV --dry-run --ref live", "promote --dry-run --ref=live -- REV"},
		{"promote --ref live REV --token a --token b", "promote --ref=live --token=a --token=b -- REV"},
		{"promote --ref=live REV", "promote --ref=live -- REV"},
		{"-C dir diff A B --exit-code", "-C=dir diff --exit-code -- A B"},
		{"diff -- -A", "diff -- -A"},
		{"diff A -q -v", "diff -q -v -- A"},
		{"review --reason -x HEAD --ref live", "review --reason=-x --ref=live -- HEAD"},
		{"reviews show TOKEN --format json", "reviews show --format=json -- TOKEN"},
		{"diff --help A", "diff --help"},
		{"version", "version"},
	} {
		got, err := arrange(p.app(), strings.Fields(tt.line))
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: %q, want %q", tt.line, strings.Join(got, " "), tt.want)
		}
	}
}

func TestWhatWouldBeDroppedIsRefused(t *testing.T) {
	p := &program{}
	for _, line := range []string{
		"promote REV --dryrun", "diff A --no-such", "frobnicate", "reviews frobnicate", "promote REV --ref", "--no-such diff A",
		"promote REV --ref a --ref b", "diff A -x", "promote --dry-run=maybe=x --ref", "diff --C dir A",
	} {
		_, err := arrange(p.app(), strings.Fields(line))
		if fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s: %v, want a usage error", line, err)
		}
	}
}

// TestEveryFlagOfEveryCommandIsArranged: a flag that arrange does not know is a
// flag that a person's line could lose.
func TestEveryFlagOfEveryCommandIsArranged(t *testing.T) {
	p := &program{}
	app := p.app()
	n := 0
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				arg := "--" + name
				if len(name) == 1 {
					arg = "-" + name
				}
				line := []string{c.Name, "OPERAND", arg}
				if takesValue(f) {
					line = append(line, "VALUE")
				}
				got, err := arrange(p.app(), line)
				if err != nil || !strings.HasPrefix(got[1], arg) {
					t.Errorf("%s %s: %v %v", c.Name, arg, got, err)
				}
				n++
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d flags were tried", n)
	}
}
