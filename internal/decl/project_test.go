package decl

import (
	"slices"
	"strings"
	"testing"
)

// TestRunsProjectOnLongLines: what a hostile line of options costs is bounded,
// and what is not looked at counts as running the project.
func TestRunsProjectOnLongLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		want bool
	}{
		"options":           {"server" + strings.Repeat(" --a=b", maxOwnWords/2), false},
		"too many options":  {"server" + strings.Repeat(" --a=b", maxOwnWords+1), true},
		"many operands":     {"server" + strings.Repeat(" word", 100_000), false},
		"many programs":     {strings.Repeat("go run x@1 ", 50_000), false},
		"a project, far on": {"server" + strings.Repeat(" word", 1000) + " make", true},
		"an option's value": {"python -u -X dev -m server -c", false},
		"a string":          {"python -u -X dev -c string", true},
		"cmd":               {"cmd /d /s /c dir", true},
	} {
		if got := runsProject(strings.Fields(c.line)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	alternating := slices.Repeat([]string{"python", "--opt"}, 50_000)
	if !runsProject(alternating) {
		t.Error("a line that is too long to follow does not count as the project")
	}
}
