package gitrepo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// recordingGit is a PATH whose git writes its arguments into log and goes on.
func recordingGit(t *testing.T) (path, log string) {
	t.Helper()
	dir := t.TempDir()
	git, err := exec.LookPath("git")
	noError(t, err)
	log = filepath.Join(dir, "log")
	writeFile(t, filepath.Join(dir, "bin", "git"), fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", log, git), 0o777)
	return "PATH=" + filepath.Join(dir, "bin"), log
}

// TestAHookFindsWhatGitFinds: where a hook's place is told without asking Git, it
// is what Git says, and it is told where a push's hooks run.
func TestAHookFindsWhatGitFinds(t *testing.T) {
	gitDir := func(g *gittest.Repo) string { return g.Git("rev-parse", "--absolute-git-dir") }
	type place struct {
		options []gittest.Option
		change  func(t *testing.T, g *gittest.Repo) (dir string, env []string) // nil: GIT_DIR=. in the Git directory
		asked   bool                                                           // Git must be asked
	}
	cases := map[string]place{
		"bare":                    {options: []gittest.Option{gittest.Bare}},
		"with a worktree":         {},
		"SHA-256":                 {options: []gittest.Option{gittest.Bare, gittest.SHA256}},
		"SHA-256 with a worktree": {options: []gittest.Option{gittest.SHA256}},
		"by its whole path": {change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			return gitDir(g), []string{"GIT_DIR=" + gitDir(g)}
		}},
		"through a symbolic link": {change: func(t *testing.T, g *gittest.Repo) (string, []string) {
			link := filepath.Join(t.TempDir(), "link")
			noError(t, os.Symlink(gitDir(g), link))
			return link, []string{"GIT_DIR=."}
		}},
		"a hook in the worktree": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			return g.Dir(), []string{"GIT_DIR=.git"}
		}},
		"without GIT_DIR": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) { return gitDir(g), nil }},
		"a linked worktree": {asked: true, change: func(t *testing.T, g *gittest.Repo) (string, []string) {
			linked := filepath.Join(t.TempDir(), "linked")
			g.Git("worktree", "add", "-q", "-b", "side", linked)
			return gitDir(g.At(linked)), []string{"GIT_DIR=."}
		}},
		"core.worktree": {asked: true, change: func(t *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "core.worktree", t.TempDir())
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"an included file": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "include.path", "more")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"a conditional included file": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "includeIf.gitdir:/x/.path", "more")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"settings of each worktree": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "extensions.worktreeConfig", "true")
			g.Git("config", "--worktree", "core.bare", "true")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"a bare in other words": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "core.bare", "no")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"a bare set twice": {change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "--add", "core.bare", "true")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"a bare of the user's": {change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "--global", "core.bare", "true")
			g.Git("config", "--global", "core.worktree", "/nowhere")
			g.Git("config", "--global", "extensions.objectFormat", "sha256")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
		"no version": {asked: true, change: func(_ *testing.T, g *gittest.Repo) (string, []string) {
			g.Git("config", "--unset", "core.repositoryFormatVersion")
			return gitDir(g), []string{"GIT_DIR=."}
		}},
	}
	if gittest.HasReftable() {
		cases["reftable"] = place{options: []gittest.Option{gittest.Bare, gittest.Reftable}}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t, c.options...)
			var dir string
			env := []string{"GIT_DIR=."}
			if c.change == nil {
				dir = gitDir(g)
			} else {
				g.Commit(map[string]string{"a": "1\n"}, "one")
				dir, env = c.change(t, g)
			}
			path, log := recordingGit(t)
			told := openWith(t, Options{Dir: dir, Env: g.Env(append(env, path)...), Hook: true, Early: true})
			noError(t, told.Close())
			calls, err := os.ReadFile(log)
			noError(t, err)
			if asked := strings.Contains(string(calls), " rev-parse "); asked != c.asked {
				t.Errorf("Git was asked: %v, want %v; it was called so:\n%s", asked, c.asked, calls)
			}
			want := openWith(t, Options{Dir: dir, Env: g.Env(env...), Hook: true})
			equal(t, "Git directory", told.GitDir(), want.GitDir())
			equal(t, "common directory", told.CommonDir(), want.CommonDir())
			equal(t, "worktree", told.WorkTree(), want.WorkTree())
			equal(t, "bare", told.Bare(), want.Bare())
			equal(t, "format", told.ObjectFormat(), want.ObjectFormat())
			equal(t, "where git runs", told.dir, want.dir)
		})
	}
}

// A directory that Git takes for no repository is none for a hook either.
func TestAHookOutsideOfARepositoryFails(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, g *gittest.Repo){
		"no HEAD":      func(t *testing.T, g *gittest.Repo) { noError(t, os.Remove(g.Path("HEAD"))) },
		"a wrong HEAD": func(t *testing.T, g *gittest.Repo) { writeFile(t, g.Path("HEAD"), "nonsense\n", 0o666) },
		"no objects":   func(t *testing.T, g *gittest.Repo) { noError(t, os.RemoveAll(g.Path("objects"))) },
		"a later version": func(t *testing.T, g *gittest.Repo) {
			g.Git("config", "core.repositoryFormatVersion", "7")
		},
		"an unknown extension": func(t *testing.T, g *gittest.Repo) {
			g.Git("config", "core.repositoryFormatVersion", "1")
			g.Git("config", "extensions.evolveTest", "true")
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t, gittest.Bare)
			spoil(t, g)
			env := append(g.Env("GIT_DIR=."), "GIT_CEILING_DIRECTORIES="+filepath.Dir(g.Dir()))
			r, err := Open(t.Context(), Options{Dir: g.Dir(), Env: env, Hook: true, Early: true})
			if err == nil {
				_ = r.Close()
				t.Error("it was opened")
			}
		})
	}
}
