package securitydiff_test

import (
	"path/filepath"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// TestBenignChangesStayQuiet: a report that cries wolf is not read.
func TestBenignChangesStayQuiet(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/declarations/benign/*")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d benign changes, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			side := func(name string) *decltest.Tree {
				tree := decltest.Files(nil)
				tree.Put("agent/mcp/docs.yaml", decl.ModeRegular, readMarked(t, filepath.Join(dir, name)))
				return tree
			}
			r := compare(t, side("before.yaml"), side("after.yaml"))
			if len(r.Problems) > 0 || len(r.Changes) != 1 {
				t.Fatalf("%d changes, problems %v", len(r.Changes), r.Problems)
			}
			for _, f := range r.Changes[0].Findings {
				if f.Severity != securitydiff.Info {
					t.Errorf("%s %s %s", f.Severity, f.ID, f.Field)
				}
			}
		})
	}
}

// TestEqualSurfacesHaveAnEmptyReport is a property of every case.
func TestEqualSurfacesHaveAnEmptyReport(t *testing.T) {
	for _, c := range loadCases(t) {
		for _, tree := range []*decltest.Tree{first(c.trees(t)), second(c.trees(t))} {
			if r := compare(t, tree, tree.Clone()); len(r.Changes) != 0 || r.RequiresReview {
				t.Errorf("%s differs from itself", filepath.Base(c.dir))
			}
		}
	}
}
