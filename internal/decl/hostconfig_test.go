package decl_test

import (
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
)

func TestHostConfig(t *testing.T) {
	c, problems := decl.ParseHostConfig("evolve.yaml", []byte(`trusted_networks: [127.0.0.0/8, "::1/128"]
environment: [DOCS_TOKEN]
approval: {default: prompt, tools: {docs__delete: deny}}
approve_connect: [docs]
discoveries: 2
max_tools: 2000
max_pages: 7
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(c.TrustedNetworks) != 2 || c.Environment[0] != "DOCS_TOKEN" || c.Approval.Default != decl.ApprovalPrompt ||
		c.Approval.Tools[0].Policy != decl.ApprovalDeny || c.ApproveConnect[0] != "docs" || c.Discoveries != 2 || c.MaxTools != 2000 || c.MaxPages != 7 {
		t.Errorf("%+v", c)
	}
	if c, problems := decl.ParseHostConfig("evolve.yaml", nil); len(problems) > 0 || c.Discoveries != 0 {
		t.Errorf("an empty file: %+v %v", c, problems)
	}
}

func TestHostConfigIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		"trusted_network: []\n":             "did you mean trusted_networks",
		"trusted_networks: [10.0.0.1]\n":    "no network",
		"environment: [\"A=B\"]\n":          "no name",
		"environment: [HOME]\n":             "no name",
		"approve_connect: [\"*\"]\n":        "no server's id",
		"discoveries: 0\n":                  "from 1 to 64",
		"discoveries: 65\n":                 "from 1 to 64",
		"max_tools: 0\n":                    "from 1 to 10000",
		"max_pages: 10001\n":                "from 1 to 10000",
		"discoveries: 1.5\n":                "from 1 to 64",
		"approval: {default: never}\n":      "must be one of",
		"a: &x 1\nb: *x\n":                  "anchor",
		"approval: {}\napproval: {}\n":      "given twice",
		"trusted_networks: 10.0.0.0/8\n":    "list of strings",
		"environment: [A]\n---\nother: 1\n": "more than one YAML document",
	} {
		_, problems := decl.ParseHostConfig("evolve.yaml", []byte(text))
		all := ""
		for _, p := range problems {
			all += p.String() + "\n"
		}
		if !strings.Contains(all, want) {
			t.Errorf("%q: %q, want %q", text, all, want)
		}
	}
}
