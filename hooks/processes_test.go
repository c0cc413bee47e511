package hooks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/hooks"
)

// TestAPushStartsFewProcesses: what the gate costs a push is mostly the git
// processes that it starts, so that one more is seen here and not in a benchmark.
func TestAPushStartsFewProcesses(t *testing.T) {
	s := newSite(t)
	git, err := exec.LookPath("git")
	noError(t, err)
	top := t.TempDir()
	log := func(name string) string { return filepath.Join(top, name, "log") }
	for _, name := range hooks.Names {
		bin := filepath.Join(top, name, "bin")
		noError(t, os.MkdirAll(bin, 0o755))
		noError(t, os.WriteFile(filepath.Join(bin, "git"),
			fmt.Appendf(nil, "#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", log(name), git), 0o755))
		noError(t, os.WriteFile(s.server.Path("hooks/"+name),
			fmt.Appendf(nil, "#!/bin/sh\nPATH='%s':$PATH exec '%s' %s \"$@\"\n", bin, hookProgram, name), 0o755))
	}
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	for _, push := range []struct {
		what string
		args []string
		want map[string]string
	}{
		{"a declaration and its record", []string{"--atomic", "HEAD:main", record(token)}, map[string]string{
			"pre-receive": "config for-each-ref", "reference-transaction": "config config for-each-ref", "post-receive": "",
		}},
		{"a declaration whose record is there", []string{"", "HEAD:main"}, map[string]string{
			"pre-receive": "config for-each-ref", "reference-transaction": "config config for-each-ref", "post-receive": "",
		}},
		{"no declaration", []string{"HEAD:main"}, map[string]string{
			"pre-receive": "config for-each-ref", "reference-transaction": "config config for-each-ref", "post-receive": "",
		}},
		{"another branch", []string{"HEAD:topic"}, map[string]string{
			"pre-receive": "config for-each-ref for-each-ref", "reference-transaction": "config", "post-receive": "",
		}},
	} {
		switch push.what {
		case "a declaration whose record is there":
			s.clone.Git("push", "-q", s.server.Dir(), record(token)) // it is there already
			base := head
			head = s.change("1.2.0")
			token = s.review(mainRef, base, head)
			s.clone.Git("push", "-q", s.server.Dir(), record(token))
			push.args[0] = "--push-option=" + token.String()
		case "no declaration", "another branch":
			s.note(push.what)
		}
		for _, name := range hooks.Names {
			noError(t, os.RemoveAll(log(name)))
		}
		s.accepted(push.args...)
		for _, name := range hooks.Names {
			calls, err := os.ReadFile(log(name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if got := verbs(string(calls)); got != push.want[name] {
				t.Errorf("a push of %s: %s starts git %s, want %s", push.what, name, got, push.want[name])
			}
			// It is started beside the others, and may be ended before it says so.
			if n := strings.Count(string(calls), " cat-file "); n > 1 {
				t.Errorf("a push of %s: %s starts git cat-file %d times", push.what, name, n)
			}
		}
	}
}

// verbs are git's commands in a log of its arguments, in the order of this list,
// without cat-file.
func verbs(log string) string {
	var out []string
	for _, verb := range []string{"config", "for-each-ref", "rev-parse", "rev-list", "merge-base", "symbolic-ref", "worktree"} {
		for line := range strings.Lines(log) {
			if strings.Contains(" "+line, " "+verb+" ") {
				out = append(out, verb)
			}
		}
	}
	return strings.Join(out, " ")
}
