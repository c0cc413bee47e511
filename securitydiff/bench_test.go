package securitydiff_test

import (
	"fmt"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// BenchmarkCompare is a report, with its last guard, on 1,000 declarations that
// all changed. Reading the surfaces is not part of it.
func BenchmarkCompare(b *testing.B) {
	const declarations = 1000
	side := func(n int) map[string]string {
		files := map[string]string{}
		for i := range declarations {
			files[fmt.Sprintf("agent/mcp/s%d.yaml", i)] = fmt.Sprintf(
				"command: npx\nargs: [-y, '@acme/docs-%d@1.4.%d', --token, invented-%d-%d]\n"+
					"env: {API_TOKEN: '${T%d}', LOG: literal-%d-%d, REGION: eu-central-1}\n", i, n, i, n, n, i, n)
		}
		return files
	}
	before, after := surfaces(b, decltest.Files(side(1)), decltest.Files(side(2)))
	opt := securitydiff.Options{Fingerprinter: redact.NewFingerprinter(make([]byte, redact.KeyBytes))}
	b.ReportAllocs()
	for b.Loop() {
		r, err := securitydiff.Compare(b.Context(), before, after, opt)
		if err != nil || len(r.Changes) != declarations {
			b.Fatal(err)
		}
		if err := r.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
