package main

import (
	"slices"
	"strings"
	"testing"
)

// bothReadersSeeTheSame holds the reader without a git program to Git's, on
// every kind that it can open; on the others it says so plainly.
func bothReadersSeeTheSame(t *testing.T, d *desk, at spot, refusal string) {
	alone := spot{dir: at.dir, env: append(slices.Clone(at.env), "PATH="+t.TempDir())}
	commands := [][]string{
		{"diff", "refs/heads/live", "refs/heads/main", "--format", "json"},
		{"diff", d.first + ".." + d.second, "--format", "json"},
		{"diff", "refs/heads/live", "refs/tags/v2"},
		{"diff", "HEAD", "refs/heads/live", "--format", "json"},
		{"lint", "refs/heads/main", "--format", "json"},
		{"lint", d.first},
	}
	if d.start(at, []string{"lint"}).status == 0 { // there is a working tree
		commands = append(commands, []string{"lint", "--format", "json"}, []string{"diff", d.first, "--format", "json"})
	}
	for _, args := range commands {
		if refusal != "" {
			r := d.evolve(alone, 3, args...)
			if !strings.Contains(r.err, refusal) || !strings.Contains(r.err, "unsupported") || r.out != "" {
				t.Errorf("%v: the refusal is %q", args, r.err)
			}
			continue
		}
		want, got := d.evolve(at, 0, args...), d.evolve(alone, 0, args...)
		if got.out != want.out {
			t.Errorf("%v: without Git\n%s\nwith Git\n%s", args, got.out, want.out)
		}
		if !strings.Contains(got.err, "no git program") {
			t.Errorf("%v: it is not said that there is no git program", args)
		}
	}
}

// TestTheOtherReaderTakesOnlyWhatIsCertain: short ids, short names and anything
// that must be resolved are refused, since go-git resolves them otherwise.
func TestTheOtherReaderTakesOnlyWhatIsCertain(t *testing.T) {
	d := newDesk(t)
	alone := spot{dir: d.Dir(), env: []string{"PATH=" + t.TempDir()}}
	for _, rev := range []string{
		"main", "live", "heads/main", "v2", d.first[:12], "HEAD~1", "main@{1}", "HEAD:agent", "@", "refs/heads/main^", "refs/heads/nowhere",
		"refs/heads/../../HEAD", strings.Repeat("0", 40), strings.ToUpper(d.first),
	} {
		if r := d.evolve(alone, 3, "lint", rev); !strings.Contains(r.err, "revision_unknown") {
			t.Errorf("lint %s: %s", rev, r.err)
		}
	}
	d.evolve(alone, 3, "lint", d.Git("rev-parse", "main^{tree}"))
	d.evolve(alone, 3, "diff", "refs/heads/live...refs/heads/main")
	for _, args := range [][]string{
		{"review", "--ref", "refs/heads/live"}, {"verify", "--ref", "refs/heads/live"}, {"promote", d.second, "--ref", "refs/heads/live"},
		{"rollback", "--ref", "refs/heads/live"}, {"reviews", "list"}, {"doctor"},
	} {
		if r := d.evolve(alone, 3, args...); !strings.Contains(r.err, "there is no git program") {
			t.Errorf("%v: %s", args, r.err)
		}
	}
}
