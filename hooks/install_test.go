package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/review"
)

// setup is a setup of evolve-hook in a repository, read anew.
func (s *site) setup(change func(*hooks.Setup)) hooks.Setup {
	s.t.Helper()
	repo, policy := s.open(s.server)
	out := hooks.Setup{Repo: repo, Policy: policy, Program: []string{hookProgram}, Now: time.Now}
	if change != nil {
		change(&out)
	}
	return out
}

// bare removes the hooks that newSite wrote.
func (s *site) bare() *site {
	s.t.Helper()
	for _, name := range hooks.Names {
		noError(s.t, os.Remove(s.server.Path("hooks/"+name)))
	}
	return s
}

func (s *site) install(change func(*hooks.Setup)) {
	s.t.Helper()
	_, err := hooks.Install(s.t.Context(), s.setup(change))
	noError(s.t, err)
}

// files is every hook of a directory with its mode and bytes.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	out := ""
	for _, e := range entries {
		info, err := e.Info()
		noError(t, err)
		if info.Mode().IsRegular() && !strings.HasSuffix(e.Name(), ".sample") {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			noError(t, err)
			out += fmt.Sprintf("%s %v\n%s\n", e.Name(), info.Mode(), data)
		}
	}
	return out
}

func (s *site) status(change func(*hooks.Setup)) map[string]review.Check {
	s.t.Helper()
	checks, err := hooks.Status(s.t.Context(), s.setup(change))
	noError(s.t, err)
	out := map[string]review.Check{}
	for _, c := range checks {
		if old, there := out[c.ID]; !there || old.Status == review.StatusOK {
			out[c.ID] = c
		}
	}
	return out
}

func (s *site) expect(checks map[string]review.Check, id string, want review.CheckStatus, hint string) {
	s.t.Helper()
	c, ok := checks[id]
	if !ok || c.Status != want || !strings.Contains(c.Hint, hint) {
		s.t.Errorf("%s: %+v, want %s and a hint with %q", id, c, want, hint)
	}
}

func TestInstallWritesHooksAndGuardAndCanBeRunAgain(t *testing.T) {
	s := newSite(t).bare()
	s.server.Git("config", "--unset-all", "evolve.guard")
	_, err := hooks.Install(t.Context(), s.setup(func(o *hooks.Setup) { o.DryRun = true }))
	noError(t, err)
	if got := files(t, s.server.Path("hooks")); got != "" {
		t.Errorf("--dry-run wrote %s", got)
	}
	s.install(nil)
	if got := s.server.Git("config", "--get-all", "evolve.guard"); got != "refs/heads/main\nrefs/heads/live" {
		t.Errorf("evolve.guard is %q", got)
	}
	once := files(t, s.server.Path("hooks"))
	s.install(nil)
	if again := files(t, s.server.Path("hooks")); again != once {
		t.Errorf("the second time wrote\n%s\nafter\n%s", again, once)
	}
	s.expect(s.status(nil), "hooks-mode", review.StatusOK, "")
	s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	_, err = hooks.Uninstall(t.Context(), s.setup(nil))
	noError(t, err)
	if got := files(t, s.server.Path("hooks")); got != "" {
		t.Errorf("left after uninstall: %s", got)
	}
}

func TestInstallNeedsTheRepositorysName(t *testing.T) {
	s := newSite(t).bare()
	s.server.Git("config", "--unset", "evolve.repository")
	_, err := hooks.Install(t.Context(), s.setup(nil))
	if fault.CodeOf(err) != fault.ConfigInvalid || !strings.Contains(err.Error(), "evolve.repository") {
		t.Errorf("got %v", err)
	}
}

// A chained hook reads the same bytes, and its exit status counts.
func TestInstallChainsWhatIsThere(t *testing.T) {
	s := newSite(t).bare()
	seen := filepath.Join(t.TempDir(), "seen")
	before := fmt.Sprintf("#!/bin/sh\ncat >'%[1]s'\n[ ! -e '%[1]s.no' ] || exit 7\n", seen)
	for _, name := range hooks.Names {
		text := "#!/bin/sh\ncat >/dev/null\n"
		if name == "pre-receive" {
			text = before
		}
		noError(t, os.WriteFile(s.server.Path("hooks/"+name), []byte(text), 0o755))
	}
	noError(t, os.WriteFile(s.server.Path("hooks/update"), []byte("#!/bin/sh\n"), 0o700))
	want := files(t, s.server.Path("hooks"))
	s.install(nil)
	s.install(nil)
	head := s.note("two")
	s.accepted("HEAD:main")
	got, err := os.ReadFile(seen)
	noError(t, err)
	if string(got) != s.base+" "+head+" refs/heads/main\n" {
		t.Errorf("the chained hook read %q", got)
	}
	s.reaped()
	noError(t, os.WriteFile(seen+".no", nil, 0o600))
	s.note("three")
	if out, err := s.push("HEAD:main"); err == nil {
		t.Errorf("the chained hook's refusal did not count:\n%s", out)
	}
	s.at(mainRef, head)
	s.reaped() // it refused first, so no claim was left
	noError(t, os.Remove(seen+".no"))
	s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	_, err = hooks.Uninstall(t.Context(), s.setup(nil))
	noError(t, err)
	if got := files(t, s.server.Path("hooks")); got != want {
		t.Errorf("uninstall left\n%s\nwant\n%s", got, want)
	}
}

func TestInstallReplacesAnOlderBodyAndKeepsTheChain(t *testing.T) {
	s := newSite(t).bare()
	noError(t, os.WriteFile(s.server.Path("hooks/pre-receive"), []byte("#!/bin/sh\nexit 3\n"), 0o755))
	s.install(nil)
	path := s.server.Path("hooks/pre-receive")
	text, err := os.ReadFile(path)
	noError(t, err)
	old := strings.Replace(string(text), "# evolve hook body 1:", "# evolve hook body 0:", 1)
	noError(t, os.WriteFile(path, []byte(old), 0o755))
	s.expect(s.status(nil), "hook-pre-receive", review.StatusWarning, "evolve hook install")
	s.install(nil)
	if got, _ := os.ReadFile(path); string(got) != string(text) {
		t.Errorf("the body is\n%s\nwant\n%s", got, text)
	}
	s.note("two")
	if out, err := s.push("HEAD:main"); err == nil {
		t.Errorf("the chain is lost:\n%s", out)
	}
}

// Another tool wrote its hook over ours: neither is thrown away.
func TestInstallRefusesTwoHooksFromBefore(t *testing.T) {
	s := newSite(t).bare()
	path := s.server.Path("hooks/pre-receive")
	noError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	s.install(nil)
	noError(t, os.WriteFile(path, []byte("#!/bin/sh\n# another\n"), 0o755))
	want := files(t, s.server.Path("hooks"))
	_, err := hooks.Install(t.Context(), s.setup(nil))
	if fault.CodeOf(err) != fault.IOFailed {
		t.Errorf("got %v", err)
	}
	if got := files(t, s.server.Path("hooks")); got != want {
		t.Errorf("it wrote\n%s", got)
	}
}

func TestInstallAndHooksPath(t *testing.T) {
	shared := t.TempDir()
	for name, c := range map[string]struct {
		scope, value string
		code         fault.Code
		hint         string
	}{
		"local":        {"--local", shared, "", ""},
		"user's":       {"--global", shared, fault.ConfigInvalid, "evolve hook install --hooks-dir '" + shared + "'"},
		"in worktrees": {"--local", ".husky", fault.ConfigInvalid, "git config --unset core.hooksPath"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t)
			g.Commit(map[string]string{"a": "1\n"}, "one")
			g.Git("config", "evolve.repository", repository)
			g.Git("config", c.scope, "core.hooksPath", c.value)
			s := &site{t: t, server: g}
			_, err := hooks.Install(t.Context(), s.setup(nil))
			var hint string
			if f, ok := err.(*fault.Fault); ok { //nolint:errorlint // it is returned as it is
				hint = f.Hint
			}
			if fault.CodeOf(err) != c.code || !strings.Contains(hint, c.hint) {
				t.Errorf("got %v, hint %q", err, hint)
			}
		})
	}
	if got := files(t, shared); !strings.Contains(got, "pre-receive") {
		t.Errorf("local core.hooksPath was not used: %s", got)
	}
}

// One directory serves many repositories; one that guards nothing is let alone.
func TestOneHooksDirServesMany(t *testing.T) {
	s := newSite(t).bare()
	shared := filepath.Join(t.TempDir(), "hooks")
	s.install(func(o *hooks.Setup) { o.Dir = shared })
	s.server.Git("config", "core.hooksPath", shared)
	s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	other := gittest.New(t, gittest.Bare)
	other.Git("config", "core.hooksPath", shared)
	if out, err := pushFrom(s.clone, other.Dir(), "HEAD:main"); err != nil {
		t.Errorf("a repository that guards nothing: %v\n%s", err, out)
	}
	// gitolite links the hooks of a common directory into each repository.
	s.server.Git("config", "--unset", "core.hooksPath")
	for _, name := range hooks.Names {
		noError(t, os.Symlink(filepath.Join(shared, name), s.server.Path("hooks/"+name)))
	}
	s.refused("token_missing", "HEAD:main")
	s.expect(s.status(nil), "hooks-mode", review.StatusOK, "")
}

// A server's own hook that runs a directory of hooks (Gitea, Forgejo, GitLab).
func TestInstallUsesADirectoryOfHooks(t *testing.T) {
	s := newSite(t).bare()
	for _, name := range hooks.Names {
		noError(t, os.Mkdir(s.server.Path("hooks/"+name+".d"), 0o755))
		body := "#!/bin/sh\ndata=$(cat)\nfor h in \"$0\".d/*; do [ -x \"$h\" ] || continue; printf '%s\\n' \"$data\" | \"$h\" \"$@\" || exit 1; done\n"
		noError(t, os.WriteFile(s.server.Path("hooks/"+name), []byte(body), 0o755))
	}
	want := files(t, s.server.Path("hooks"))
	s.install(nil)
	if got := files(t, s.server.Path("hooks")); got != want {
		t.Errorf("the server's own hooks became\n%s", got)
	}
	s.change("1.1.0")
	s.refused("token_missing", "HEAD:main")
	s.expect(s.status(nil), "hooks-mode", review.StatusOK, "")
	_, err := hooks.Uninstall(t.Context(), s.setup(nil))
	noError(t, err)
	s.accepted("HEAD:main")
}

func TestStatusSaysWhatToMend(t *testing.T) {
	s := newSite(t).bare()
	s.expect(s.status(nil), "hooks-mode", review.StatusProblem, "evolve hook install")
	s.install(nil)
	path := s.server.Path("hooks/pre-receive")
	noError(t, os.Chmod(path, 0o644))
	s.expect(s.status(nil), "hook-pre-receive", review.StatusProblem, "chmod +x ")
	s.expect(s.status(nil), "hooks-mode", review.StatusProblem, "")
	noError(t, os.Chmod(path, 0o755))
	noError(t, os.Chmod(s.server.Path("hooks/reference-transaction"), 0o644))
	s.expect(s.status(nil), "hooks-mode", review.StatusWarning, "reference-transaction")
	s.install(nil) // mends the run bit
	s.expect(s.status(nil), "hooks-mode", review.StatusOK, "")
	s.server.Git("config", "receive.advertisePushOptions", "false")
	s.expect(s.status(nil), "push-options", review.StatusOK, "git config receive.advertisePushOptions true")
	s.server.Git("config", "core.hooksPath", "/dev/null") // switched off by configuration
	s.expect(s.status(nil), "hooks-mode", review.StatusProblem, "")
	s.server.Git("config", "--unset", "core.hooksPath")
	lock := s.server.Path("packed-refs.lock")
	noError(t, os.WriteFile(lock, nil, 0o600))
	s.expect(s.status(func(o *hooks.Setup) { o.Now = func() time.Time { return time.Now().Add(48 * time.Hour) } }), "leftovers", review.StatusWarning, "packed-refs.lock")
	s.install(func(o *hooks.Setup) { o.Program = []string{"/nowhere/evolve-hook"} })
	s.expect(s.status(nil), "hook-pre-receive", review.StatusProblem, "install evolve-hook there")
	s.note("two")
	if out, err := s.push("HEAD:main"); err == nil {
		t.Errorf("a hook without its program let a push through:\n%s", out)
	}
}

// What runs no hook is found by status, and told by the next hook.
func TestSymbolicRefIsFound(t *testing.T) {
	s := newSite(t)
	s.server.Git("branch", "evil", mainRef)
	// A newer Git asks the hooks, which veto it.
	s.server.Git("-c", "core.hooksPath=/dev/null", "symbolic-ref", mainRef, "refs/heads/evil")
	s.expect(s.status(nil), "guard", review.StatusProblem, "git symbolic-ref -d refs/heads/main")
	s.note("two")
	s.refused("ref_protected", "HEAD:main")
}
