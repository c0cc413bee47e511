package securitydiff_test

import (
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// TestALaunchedFileThatArrivesIsAFinding: a file that comes with the declaration
// that runs it is new code; one that was there before is only reviewed from now on.
func TestALaunchedFileThatArrivesIsAFinding(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after map[string]string
		want  string
	}{
		{"it was there", nil, "launched-files-bound"},
		{"it arrives", map[string]string{"tools/new.py": "3"}, "launched-file-changed"},
		{"it changes meanwhile", map[string]string{"tools/run.py": "2"}, "launched-file-changed"},
	} {
		before := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: x\n", "tools/run.py": "1"})
		after := before.Clone()
		after.Put("agent/mcp/a.yaml", decl.ModeRegular, "command: python3\nargs: [tools/run.py]\n")
		for path, data := range tt.after {
			after.Put(path, decl.ModeRegular, data)
		}
		for _, noIDs := range []bool{false, true} {
			before.NoIDs, after.NoIDs = noIDs, noIDs
			got := ""
			for _, c := range compare(t, before, after).Changes {
				if c.Subject == securitydiff.SubjectLaunched {
					got = c.Findings[0].ID
				}
			}
			if got != tt.want {
				t.Errorf("%s: %q, want %s", tt.name, got, tt.want)
			}
		}
	}
}
