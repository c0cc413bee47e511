package securitydiff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

// TestShapesThatPeopleWrite: what is shown of the arguments (every value that is
// withheld as <...>), and what is found besides that the server is new.
func TestShapesThatPeopleWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ yaml, shown, findings string }{
		{"command: uv\nargs: [tool, run, --from, 'x-mcp@latest', x-mcp]", "tool run --from x-mcp@latest x-mcp", "unpinned-package"},
		{"command: uv\nargs: [tool, run, acme-mcp]", "tool run acme-mcp", "unpinned-package"},
		{"command: uv\nargs: [--directory, /srv/app, run, server.py]", "--directory <...> run <...>", ""},
		{"command: uv\nargs: [run, --with, 'mcp==1.2', mcp, run, --with, hunter2x]", "run --with mcp==1.2 mcp run --with <...>", ""},
		{"command: python3.12\nargs: [-m, mcp_server_git, --repository, /srv/x]", "-m mcp_server_git --repository <...>", ""},
		{"command: go\nargs: [run, 'github.com/acme/mcp@latest']", "run github.com/acme/mcp@latest", "unpinned-package"},
		{"command: go\nargs: [run, 'github.com/acme/mcp@v1.2.3']", "run github.com/acme/mcp@v1.2.3", ""},
		{"command: npm\nargs: [exec, -y, --, '@acme/x']", "exec -y -- @acme/x", "unpinned-package"},
		{"command: deno\nargs: [run, 'npm:@acme/x@1.0.0']", "run npm:@acme/x@1.0.0", ""},
		{"command: bunx\nargs: [-p, 'acme-mcp@1.2.3', acme]", "-p acme-mcp@1.2.3 acme", ""},
		{"command: env\nargs: [FOO=hunter2, npx, -y, 'x@1.0.0']", "FOO=<...> npx -y x@1.0.0", ""},
		{"command: op\nargs: [run, --env-file, tpl, --, npx, -y, acme-mcp]", "run --env-file <...> -- npx -y acme-mcp", "unpinned-package"},
		{"command: docker\nargs: [run, --rm, -e, A_TOKEN, acme/x, -e, hunter2]", "run --rm -e A_TOKEN acme/x -e <...>", "unpinned-image"},
		{"command: docker\nargs: [run, -v, '/home/me/.ssh:/ssh', --network=host, acme/x:1]", "run -v <...> --network=host acme/x:1", "host-mount host-network"},
		{"command: docker\nargs: [run, -e, LD_PRELOAD=/x.so, acme/x:1]", "run -e LD_PRELOAD=<...> acme/x:1", "code-injection-env"},
		{"command: node\nargs: [-e, 'require(1)']", "-e <...>", "shell-wrapper"},
		{"command: sh\nargs: [-c, 'x --token=hunter2-prod']", "-c <...>", "secret-in-args shell-wrapper"},
		{"command: cmd\nargs: [/c, npx, -y, acme-mcp]", "/c npx -y acme-mcp", "shell-wrapper unpinned-package"},
		{"command: acme\nargs: [-token=hunter2, -api-key, hunter2]", "-token=<...> -api-key <...>", "secret-in-args"},
		{"command: acme\nargs: [-phunter2=prod, -config, hunter2, -transport=stdio]", "-p<...> -config <...> -transport=stdio", "secret-in-args"},
		{"command: java\nargs: [-jar, target/x.jar]", "-jar <...>", ""},
		{"command: acme\nargs: [--allow-write=false]", "--allow-write=false", ""},
		{"command: acme\nargs: [--header, 'X-Key: hunterpass ${gh" + "p_2H0O5JD8iLOa786Tx7T21c86hgCKmkR4eRFp}']", "--header X-Key: <...>", "secret-in-args"},
		{"command: x\nenv: {NODE_OPTIONS: '--max-old-space-size=4096'}", "", ""},
		{"command: x\nenv: {NODE_OPTIONS: '--require ./x.js'}", "", "code-injection-env"},
		{"command: x\nenv: {ACME_SSL_VERIFY: 'false', OPENAI_BASE_URL: 'https://b.test'}", "", "tls-verification-off traffic-interception-env"},
	} {
		r := compare(t, decltest.Files(nil), decltest.Files(map[string]string{"agent/mcp/docs.yaml": c.yaml + "\n"}))
		change := r.Changes[0]
		var args []string
		for _, a := range change.After.Args {
			args = append(args, withheldAsDots(string(a)))
		}
		var ids []string
		for _, f := range change.Findings {
			if f.ID != "server-added" && !slices.Contains(ids, f.ID) {
				ids = append(ids, f.ID)
			}
		}
		slices.Sort(ids)
		if got := strings.Join(args, " "); got != c.shown {
			t.Errorf("%s\n shown %s\n want  %s", c.yaml, got, c.shown)
		}
		if got := strings.Join(ids, " "); got != c.findings {
			t.Errorf("%s\n found %s\n want  %s", c.yaml, got, c.findings)
		}
		if len(r.Problems) > 0 {
			t.Errorf("%s: %v", c.yaml, fmt.Sprint(r.Problems))
		}
	}
}

// withheldAsDots replaces <...> of any kind.
func withheldAsDots(s string) string {
	start, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if start < 0 || end < start {
		return s
	}
	return s[:start] + "<...>" + s[end+1:]
}
