package securitydiff_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// A path that Git LFS replaces is told, and passes the guard like every name: one
// that repeats a value of a declaration is withheld.
func TestLintTellsPathsOfLFS(t *testing.T) {
	const value = "hunter2-hunter2"
	s, err := decl.LoadSurface(t.Context(), decltest.Files(map[string]string{
		"agent/mcp/a.yaml": "command: ./bin/run\nenv:\n  DB_PASSWORD: " + value + "\n",
		"bin/run":          "#!/bin/sh\n", "bin/x" + value + "x": "1", "bin/plain": "1",
		".gitattributes": "bin/* filter=lfs\n",
	}), decl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := securitydiff.Lint(t.Context(), s, securitydiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, f := range r.Findings {
		if f.ID == "lfs-pointer" {
			told[string(f.Path)]++
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), value) {
		t.Errorf("the value is shown: %s", data)
	}
	if told["bin/run"] != 1 || told["bin/plain"] != 1 || len(told) != 3 {
		t.Errorf("told of %v", told)
	}
	if len(r.Servers) != 1 {
		t.Errorf("%d servers", len(r.Servers))
	}
}
