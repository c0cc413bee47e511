package securitydiff_test

import (
	"slices"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/securitydiff"
)

func TestMetadataServicesAreFoundInEveryNotation(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"169.254.169.254": true, "0xa9fea9fe": true, "2852039166": true, "[fd00:ec2::254]": true, "metadata.google.internal": true,
		"100.100.100.200": true, "mcp.acme.test": false, "127.0.0.1": false,
	} {
		r := compare(t, decltest.Files(nil), decltest.Files(map[string]string{
			"agent/mcp/docs.yaml": "transport: streamable_http\nurl: \"https://" + host + "/mcp\"\n",
		}))
		got := slices.ContainsFunc(r.Changes[0].Findings, func(f securitydiff.Finding) bool { return f.ID == "metadata-target" })
		if got != want {
			t.Errorf("%s: metadata-target %v", host, got)
		}
	}
}
