package gittest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEqualCommitsHaveEqualIDs(t *testing.T) {
	for _, options := range [][]Option{nil, {SHA256}} {
		a, b := New(t, options...), New(t, append(options, Bare)...)
		for _, files := range []map[string]string{
			{"agent/mcp/docs.yaml": "command: docs\n", "README": "hello\n"},
			{"README": Removed, "LICENSE": "free\n"},
		} {
			if x, y := a.Commit(files, "a step"), b.Commit(files, "a step"); x != y {
				t.Errorf("with a worktree %s, bare %s", x, y)
			}
		}
		if got := a.Git("ls-tree", "-r", "--name-only", "HEAD"); got != "LICENSE\nagent/mcp/docs.yaml" {
			t.Errorf("files of the second commit: %q", got)
		}
		if got := a.Git("status", "--porcelain"); got != "" {
			t.Errorf("the worktree is not clean: %q", got)
		}
	}
}

func TestEnvironmentIsAllThatGitNeeds(t *testing.T) {
	r := New(t)
	env := Environment(filepath.Dir(r.Dir()))
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
		if rel, err := filepath.Rel(filepath.Dir(r.Dir()), env[name]); err != nil || !filepath.IsLocal(rel) {
			t.Errorf("%s lies outside the work directory", name)
		}
		if _, err := os.Stat(env[name]); err != nil {
			t.Error(err)
		}
	}
	if got := r.Git("var", "GIT_COMMITTER_IDENT"); got != "Grace Example <grace@example.com> 1767258000 +0000" {
		t.Errorf("committer is %q", got)
	}
	if got := r.Git("symbolic-ref", "HEAD"); got != "refs/heads/main" {
		t.Errorf("the first branch is %q", got)
	}
}

func TestStateSeesRefsIndexAndFiles(t *testing.T) {
	r := New(t)
	r.Commit(map[string]string{"a": "1\n"}, "one")
	for name, change := range map[string]func(){
		"a new ref":     func() { r.Git("update-ref", "refs/heads/x", "HEAD") },
		"a packed ref":  func() { r.Git("pack-refs", "--all") },
		"a file":        func() { r.Write(map[string]string{"b": "2\n"}) },
		"another index": func() { r.Git("add", "--intent-to-add", "--all"); r.Git("rm", "-q", "--cached", "a") },
	} {
		before, err := State(r.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := State(r.Dir()); again != before {
			t.Fatal("the state is not stable")
		}
		change()
		if after, _ := State(r.Dir()); after == before {
			t.Errorf("%s was not seen", name)
		}
	}
}
