package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Worktrees lists the absolute paths of all worktrees, without a bare one: those
// of "git worktree list", read from the files that it reads.
func (r *Repo) Worktrees(_ context.Context) ([]string, error) {
	var paths []string
	switch main := r.mainWorktree(); {
	case r.workTree != "" && r.gitDir == r.commonDir:
		paths = append(paths, r.workTree)
	case main != "":
		paths = append(paths, main)
	}
	parent := filepath.Join(r.commonDir, "worktrees")
	linked, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.RepositoryUnreadable, "the list of worktrees in the Git directory cannot be read").
			WithHint("check the owner and mode of worktrees in the Git directory").WithCause(err)
	}
	for _, d := range linked {
		if owner := LinkedTo(filepath.Join(parent, d.Name())); owner != "" {
			paths = append(paths, owner)
		}
	}
	return paths, nil
}

// mainWorktree is the directory around a Git directory that is named .git, ""
// for any other.
func (r *Repo) mainWorktree() string {
	if filepath.Base(r.commonDir) != ".git" {
		return ""
	}
	return filepath.Dir(r.commonDir)
}

// LinkedTo is the worktree that an administrative directory belongs to, "" if it
// names none.
func LinkedTo(dir string) string {
	data, err := ReadSmall(filepath.Join(dir, "gitdir"))
	if err != nil {
		return ""
	}
	owner := filepath.FromSlash(strings.TrimSpace(string(data)))
	if !filepath.IsAbs(owner) { // worktree.useRelativePaths
		owner = filepath.Join(dir, owner)
	}
	return filepath.Dir(owner)
}

type worktree struct {
	path, branch string
	detached     bool
	main         bool
}

func (r *Repo) worktrees(ctx context.Context) ([]worktree, error) {
	out, err := r.ask(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var trees []worktree
	first := true // Git lists the main worktree first
	for block := range strings.SplitSeq(out, "\x00\x00") {
		t := worktree{main: first}
		first = false
		bare := false
		for line := range strings.SplitSeq(block, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				t.path = filepath.FromSlash(value)
			case "branch":
				t.branch = value
			case "detached":
				t.detached = true
			case "bare":
				bare = true
			}
		}
		if t.path != "" && !bare {
			trees = append(trees, t)
		}
	}
	return trees, nil
}

// adminDir is the Git directory of one worktree, "" if there is none.
func (r *Repo) adminDir(t worktree) string {
	if t.main {
		return r.commonDir
	}
	parent := filepath.Join(r.commonDir, "worktrees")
	linked, err := os.ReadDir(parent)
	if err != nil {
		return ""
	}
	for _, d := range linked {
		dir := filepath.Join(parent, d.Name())
		if LinkedTo(dir) == t.path {
			return dir
		}
	}
	return ""
}

// operatesOn reports whether a worktree is in the middle of an operation that
// will move ref when it ends: a rebase or bisection of it, or a rebase that
// takes it along (--update-refs).
func operatesOn(adminDir, ref string) bool {
	if adminDir == "" {
		return false
	}
	holds := func(name, line string) bool {
		data, err := os.ReadFile(filepath.Join(adminDir, filepath.FromSlash(name)))
		return err == nil && slices.Contains(strings.Split(string(data), "\n"), line)
	}
	return holds("rebase-merge/head-name", ref) || holds("rebase-apply/head-name", ref) ||
		holds("rebase-merge/update-refs", ref) ||
		holds("BISECT_START", strings.TrimPrefix(ref, "refs/heads/"))
}
