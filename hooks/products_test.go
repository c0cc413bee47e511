package hooks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/promote"
)

// The set-ups of docs/server.md for servers that are not run here, on the hooks and
// in the environment that these document.
func TestServerPageForOtherProducts(t *testing.T) {
	bin := programs(t)
	for _, product := range []struct {
		name, place string
		// hooks are the product's own, from testdata/servers, and where they lie.
		script string
		dir    func(*site) string
		who    string
		mode   string
	}{
		{
			"gitea", "/var/lib/gitea/data/gitea-repositories/team/agent.git", "gitea-hook",
			func(s *site) string { return s.server.Path("hooks") }, "GITEA_PUSHER_NAME", "all hooks hold",
		},
		{
			"gitlab", "/var/opt/gitlab/git-data/repositories/@hashed/ab/cd/abcd.git", "gitaly-hook",
			func(s *site) string { return filepath.Join(filepath.Dir(s.server.Dir()), "gitaly") }, "GL_USERNAME", "pre-receive alone holds",
		},
	} {
		t.Run(product.name, func(t *testing.T) {
			s := newSite(t).bare()
			for _, key := range []string{"evolve.repository", "evolve.guard"} {
				s.server.Git("config", "--unset", key)
			}
			signers := s.server.Git("config", "gpg.ssh.allowedSignersFile")
			dir := product.dir(s)
			script, err := os.ReadFile(filepath.Join("..", "testdata", "servers", product.script))
			noError(t, err)
			for _, name := range []string{"pre-receive", "update", "post-receive"} {
				noError(t, os.MkdirAll(filepath.Join(dir, name+".d"), 0o755))
				noError(t, os.WriteFile(filepath.Join(dir, name), script, 0o755))
				noError(t, os.WriteFile(filepath.Join(dir, name+".d", "gitea"), []byte("#!/bin/sh\nexit 0\n"), 0o755))
			}
			text := strings.NewReplacer(product.place, "'"+s.server.Dir()+"'", "/etc/evolve/signers", "'"+signers+"'").Replace(block(t, product.name))
			cmd := exec.Command("bash", "-e", "-c", text)
			cmd.Env = s.server.Env("PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), product.mode) {
				t.Errorf("%v, want %q\n%s", err, product.mode, out)
			}
			if product.name == "gitlab" {
				s.server.Git("config", "core.hooksPath", dir) // Gitaly gives it to each git
			}
			s.server.Git("config", "evolve.forbidSelfReview", "true")
			head := s.change("1.1.0")
			s.refused("token_missing", "HEAD:main")
			token := s.review(mainRef, s.base, head)
			as := func(who string) (string, error) {
				cmd := exec.Command("git", "push", "-q", "--atomic", s.server.Dir(), "HEAD:main", record(token))
				cmd.Dir, cmd.Env = s.clone.Dir(), s.clone.Env(product.who+"="+who)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := as("grace@example.com"); err == nil || !strings.Contains(out, "evolve: self_review: ") {
				t.Errorf("the reviewer's own push: %v\n%s", err, out)
			}
			if out, err := as("alice"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			s.at(mainRef, head)
			s.reaped()
			entries := audit(t, s.server)
			if last := entries[len(entries)-1]; last.Who != "alice" || last.Verdict != promote.VerdictMoved {
				t.Errorf("audited %+v", last)
			}
			if _, err := os.Stat(filepath.Join(dir, hooks.Names[0]+".before-evolve")); err == nil {
				t.Error("the product's own hook was moved aside")
			}
		})
	}
}
