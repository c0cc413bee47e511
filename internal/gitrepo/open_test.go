package gitrepo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestOpenFindsTheRepositoryFromASubdirectory(t *testing.T) {
	g := gittest.New(t)
	g.Commit(map[string]string{"a/b/c": "1\n"}, "one")
	r := openWith(t, Options{Dir: g.Path("a/b"), Env: g.Env()})
	equal(t, "git directory", r.GitDir(), g.Path(".git"))
	equal(t, "common directory", r.CommonDir(), g.Path(".git"))
	equal(t, "worktree", r.WorkTree(), g.Dir())
	equal(t, "bare", r.Bare(), false)
	equal(t, "format", r.ObjectFormat(), "sha1")
	tree, err := r.WorkingTree()
	noError(t, err)
	entries, err := tree.List(t.Context(), "")
	noError(t, err)
	if len(entries) != 1 || entries[0].Name != "a" {
		t.Errorf("the working tree starts at its top, and not at %v", entries)
	}
}

func TestOpenBare(t *testing.T) {
	g := gittest.New(t, gittest.Bare)
	r := open(t, g)
	equal(t, "git directory", r.GitDir(), g.Dir())
	equal(t, "bare", r.Bare(), true)
	equal(t, "worktree", r.WorkTree(), "")
	_, err := r.WorkingTree()
	wantCode(t, err, fault.RepositoryUnreadable)
}

func TestOpenInsideTheGitDirectoryHasNoWorktree(t *testing.T) {
	g := gittest.New(t)
	for _, env := range [][]string{nil, {"GIT_DIR=."}} {
		r := openWith(t, Options{Dir: g.Path(".git"), Env: g.Env(env...)})
		equal(t, "worktree", r.WorkTree(), "")
		equal(t, "git directory", r.GitDir(), g.Path(".git"))
	}
}

func TestOpenLinkedWorktree(t *testing.T) {
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("config", "extensions.worktreeConfig", "true")
	linked := filepath.Join(filepath.Dir(g.Dir()), "linked")
	g.Git("worktree", "add", "-q", "-b", "side", linked)
	w := g.At(linked)
	w.Git("config", "--worktree", "evolve.repository", "linked only")

	r := open(t, w)
	equal(t, "git directory", r.GitDir(), g.Path(".git/worktrees/linked"))
	equal(t, "common directory", r.CommonDir(), g.Path(".git"))
	equal(t, "worktree", r.WorkTree(), linked)
	got, err := r.ResolveCommit(t.Context(), "HEAD")
	noError(t, err)
	equal(t, "HEAD", got, ID(id))
	branch, err := resolveRef(t, r, "HEAD")
	noError(t, err)
	equal(t, "branch", branch, "refs/heads/side")

	for repo, want := range map[*Repo]string{r: "linked only", open(t, g): ""} {
		c, err := repo.Config(t.Context())
		noError(t, err)
		s, _ := c.Last("evolve.repository")
		equal(t, "worktree setting", s.Value, want)
		if want != "" {
			equal(t, "scope", s.Scope, "worktree")
		}
	}
}

func TestOpenSHA256(t *testing.T) {
	g := gittest.New(t, gittest.SHA256)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	r := open(t, g)
	equal(t, "format", r.ObjectFormat(), "sha256")
	got, err := r.ResolveCommit(t.Context(), "main")
	noError(t, err)
	equal(t, "main", got, ID(id))
	data, err := readBlobAt(t.Context(), r, got, "a", 100)
	noError(t, err)
	equal(t, "a", string(data), "1\n")
}

func TestOpenHonoursGitDirAndWorkTree(t *testing.T) {
	g, other := gittest.New(t), gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	env := g.Env("GIT_DIR="+g.Path(".git"), "GIT_WORK_TREE="+g.Dir())
	r := openWith(t, Options{Dir: other.Dir(), Env: env})
	equal(t, "git directory", r.GitDir(), g.Path(".git"))
	equal(t, "worktree", r.WorkTree(), g.Dir())
	got, err := r.ResolveCommit(t.Context(), "HEAD")
	noError(t, err)
	equal(t, "HEAD", got, ID(id))

	// A relative one means what it means where evolve was started.
	r = openWith(t, Options{Dir: filepath.Dir(g.Dir()), Env: g.Env("GIT_DIR=repo/.git", "GIT_WORK_TREE=repo")})
	got, err = r.ResolveCommit(t.Context(), "HEAD")
	noError(t, err)
	equal(t, "HEAD", got, ID(id))
	equal(t, "worktree", r.WorkTree(), g.Dir())
}

func TestOpenIgnoresWhatWouldChangeWhatIsRead(t *testing.T) {
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	empty := t.TempDir()
	r := openWith(t, Options{Dir: g.Dir(), Env: g.Env(
		"GIT_COMMON_DIR="+empty, "GIT_INDEX_FILE="+empty, "GIT_NAMESPACE=x", "GIT_REPLACE_REF_BASE=refs/heads/",
		"GIT_SHALLOW_FILE="+empty, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0="+empty,
	)})
	equal(t, "worktree", r.WorkTree(), g.Dir())
	got, err := r.ResolveCommit(t.Context(), "HEAD")
	noError(t, err)
	equal(t, "HEAD", got, ID(id))
}

func TestOpenRefuses(t *testing.T) {
	g := gittest.New(t)
	nowhere := t.TempDir()
	file := filepath.Join(nowhere, "file")
	writeFile(t, file, "", 0o666)
	broken := gittest.New(t)
	writeFile(t, broken.Path(".git/config"), "[core\n", 0o666)
	future := gittest.New(t)
	future.Git("config", "core.repositoryFormatVersion", "1")
	future.Git("config", "extensions.evolveTest", "true")

	for name, c := range map[string]struct {
		options Options
		code    fault.Code
	}{
		"no repository":        {Options{Dir: nowhere, Env: g.Env("GIT_CEILING_DIRECTORIES=" + filepath.Dir(nowhere))}, fault.RepositoryUnreadable},
		"no directory":         {Options{Dir: filepath.Join(nowhere, "absent"), Env: g.Env()}, fault.RepositoryUnreadable},
		"a file":               {Options{Dir: file, Env: g.Env()}, fault.RepositoryUnreadable},
		"broken configuration": {Options{Dir: broken.Dir(), Env: g.Env()}, fault.RepositoryUnreadable},
		"unknown extension":    {Options{Dir: future.Dir(), Env: g.Env()}, fault.RepositoryUnreadable},
		"no git":               {Options{Dir: g.Dir(), Env: g.Env("PATH=" + nowhere)}, fault.Unsupported},
		"git in .":             {Options{Dir: g.Dir(), Env: g.Env("PATH=.:")}, fault.Unsupported},
		"GIT_DIR elsewhere":    {Options{Dir: g.Dir(), Env: g.Env("GIT_DIR=" + nowhere)}, fault.RepositoryUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), c.options)
			if f := wantCode(t, err, c.code); f.Hint == "" && name != "no directory" && name != "a file" {
				t.Error("no hint")
			}
		})
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, Options{Dir: g.Dir(), Env: g.Env()})
	wantCode(t, err, fault.Interrupted)
}

func TestOpenForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	for _, p := range []string{g.Dir(), g.Path(".git")} {
		noError(t, os.Chown(p, 12345, 12345))
	}
	_, err := Open(t.Context(), Options{Dir: g.Dir(), Env: g.Env()})
	if f := wantCode(t, err, fault.RepositoryUnreadable); !strings.Contains(f.Hint, "safe.directory") {
		t.Errorf("the hint is %q", f.Hint)
	}
	for name, env := range map[string][]string{
		"environment": {"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
			"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=" + g.Dir()},
		"git -c": {"GIT_CONFIG_PARAMETERS='core.bare'='true' 'safe.directory'='" + g.Dir() + "'"},
	} {
		t.Run(name, func(t *testing.T) {
			r := openWith(t, Options{Dir: g.Dir(), Env: g.Env(env...)})
			equal(t, "bare", r.Bare(), false)
			got, err := r.ResolveCommit(t.Context(), "HEAD")
			noError(t, err)
			equal(t, "HEAD", got, ID(id))
			_, err = Open(t.Context(), Options{Dir: g.Dir(), Env: g.Env(env...), Hook: true})
			wantCode(t, err, fault.RepositoryUnreadable)
		})
	}
}
