package promote

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/review"
)

// BenchmarkReport: the report on 1,000 changed declarations, beside reading the
// same blobs with git cat-file --batch.
func BenchmarkReport(b *testing.B) {
	const n = 1000
	g := gittest.New(b)
	first, second := files{"package.json": "{}"}, files{}
	for i := range n {
		path := fmt.Sprintf("agent/mcp/server-%04d.yaml", i)
		for v, to := range []files{first, second} {
			to[path] = fmt.Sprintf("# Server %d\ncommand: npx\nargs: [\"-y\", \"@acme/server-%d@1.%d.0\", \"--region\", \"eu\"]\nenv:\n  API_TOKEN: \"${API_TOKEN_%d}\"\n"+
				"  LOG_LEVEL: info\nrisk: low\ntimeout_seconds: 30\n", i, i, v, i)
		}
	}
	g.GitInput(commitStream("base", "", first)+commitStream("head", "from refs/heads/base\n", second)+"done\n", "fast-import", "--quiet", "--done")
	base, head := gitrepo.ID(g.Git("rev-parse", "base")), gitrepo.ID(g.Git("rev-parse", "head"))
	var ids strings.Builder
	for _, branch := range []string{"base", "head"} {
		for line := range strings.Lines(g.Git("ls-tree", "-r", branch, "agent/mcp")) {
			ids.WriteString(strings.Fields(line)[2] + "\n")
		}
	}
	b.Run("evolve", func(b *testing.B) {
		for b.Loop() {
			repo, err := gitrepo.Open(b.Context(), gitrepo.Options{Dir: g.Dir(), Env: g.Env()})
			if err != nil {
				b.Fatal(err)
			}
			gate := &Gate{Repo: repo, Policy: &review.Policy{}, Now: time.Now}
			j, err := gate.Examine(b.Context(), Proposal{Ref: live, Old: base, New: head})
			if err != nil || len(j.Deltas) != n {
				b.Fatal(err)
			}
			if err := repo.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cat-file", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("git", "cat-file", "--batch")
			cmd.Dir, cmd.Env, cmd.Stdin = g.Dir(), g.Env(), strings.NewReader(ids.String())
			if out, err := cmd.Output(); err != nil || len(out) < n {
				b.Fatal(err)
			}
		}
	})
}
