package law

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheHookProgramIsSmall: a push runs evolve-hook up to four times. It links
// neither the host runtime, nor an MCP client, nor the command line's library, nor
// what only a person's report needs. Each would cost every start of it.
func TestTheHookProgramIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"cmd/evolve-hook").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{
		module + "runtime", module + "internal/render", module + "securitydiff", module + "internal/gitrepo/gogit", "github.com/mark3labs/", "github.com/urfave/", "golang.org/x/term", "github.com/go-git/", "github.com/sergi/", "golang.org/x/net/", "encoding/gob", "html", "net/http",
	} {
		for imp := range strings.Lines(string(out)) {
			if strings.HasPrefix(imp, never) {
				t.Errorf("evolve-hook links %s", strings.TrimSpace(imp))
			}
		}
	}
}
