package gogit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// place is where a repository lies, found without Git.
type place struct {
	gitDir, commonDir string
	workTree          string // "" if there is none
	gitFile           string // the .git file that names gitDir, "" if it is a directory
	named             bool   // by GIT_DIR
	inside            bool   // discovery met the Git directory itself, as in a bare repository
}

// locate finds the Git directory: GIT_DIR, or upwards from where evolve was
// started, as gitrepository-layout(5) and git(1) describe it.
func locate(o gitrepo.Options) (place, error) {
	start, err := filepath.Abs(o.Dir)
	if err != nil {
		return place{}, fault.New(fault.RepositoryUnreadable, "the present directory cannot be told").WithCause(err)
	}
	if real, err := filepath.EvalSymlinks(start); err == nil {
		start = real
	}
	if info, err := os.Stat(start); err != nil || !info.IsDir() {
		return place{}, fault.New(fault.RepositoryUnreadable, "%s is no directory", safetext.Terminal(o.Dir)).WithCause(err)
	}
	if dir, ok := gitrepo.Lookup(o.Env, "GIT_DIR"); ok {
		at := place{named: true, workTree: start, gitDir: absolute(start, dir)}
		if target, ok := readGitFile(at.gitDir); ok {
			at.gitFile, at.gitDir = at.gitDir, target
		}
		if !isGitDir(at.gitDir) {
			return place{}, noRepository(dir)
		}
		at.findCommon()
		return at, nil
	}
	ceilings := ceilingDirectories(o.Env)
	for dir := start; ; dir = filepath.Dir(dir) {
		at, found, err := placeAt(dir)
		if err != nil {
			return place{}, err
		}
		if found {
			at.findCommon()
			return at, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir || slices.Contains(ceilings, parent) {
			return place{}, noRepository(o.Dir)
		}
	}
}

func noRepository(where string) error {
	if where == "" {
		where = "."
	}
	return fault.New(fault.RepositoryUnreadable, "%s is in no Git repository", safetext.Terminal(where)).
		WithHint("run evolve inside a repository, or name one: evolve -C DIR ...")
}

// placeAt looks at one directory on the way up. A .git file that leads nowhere
// is an error, as for Git, and not one more step up.
func placeAt(dir string) (at place, found bool, err error) {
	dotGit := filepath.Join(dir, ".git")
	if info, err := os.Stat(dotGit); err == nil && info.Mode().IsRegular() {
		target, ok := readGitFile(dotGit)
		if !ok || !isGitDir(target) {
			return place{}, false, fault.New(fault.RepositoryUnreadable, "%s names no Git directory", safetext.Terminal(dotGit)).
				WithHint("git worktree repair, where there is a git program")
		}
		return place{gitDir: target, workTree: dir, gitFile: dotGit}, true, nil
	}
	if isGitDir(dotGit) {
		return place{gitDir: dotGit, workTree: dir}, true, nil
	}
	return place{gitDir: dir, inside: true}, isGitDir(dir), nil
}

// readGitFile reads a .git file, which names the Git directory of a linked
// worktree or a submodule.
func readGitFile(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := gitrepo.ReadSmall(path)
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	if err != nil || !ok {
		return "", false
	}
	return absolute(filepath.Dir(path), strings.TrimRight(target, "\r\n")), true
}

// isGitDir recognises a Git directory as Git does: by HEAD, objects and refs.
func isGitDir(dir string) bool {
	if info, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil || info.IsDir() {
		return false
	}
	common := commonOf(dir)
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// commonOf is the directory that a linked worktree's Git directory shares.
func commonOf(dir string) string {
	data, err := gitrepo.ReadSmall(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	return absolute(dir, strings.TrimRight(string(data), "\r\n"))
}

// findCommon makes the paths real ones and finds the shared directory.
func (p *place) findCommon() {
	for _, path := range []*string{&p.gitDir, &p.workTree} {
		if real, err := filepath.EvalSymlinks(*path); *path != "" && err == nil {
			*path = real
		}
	}
	p.commonDir = commonOf(p.gitDir)
}

// settle finds the worktree, as far as settings decide it.
func (p *place) settle(config *gitrepo.Config, o gitrepo.Options) error {
	set, configured := config.Last("core.worktree")
	given, fromEnv := gitrepo.Lookup(o.Env, "GIT_WORK_TREE")
	bare, _ := config.Last("core.bare")
	linked := p.commonDir != p.gitDir
	switch {
	case fromEnv:
		start, err := filepath.Abs(o.Dir)
		if err != nil {
			return fault.New(fault.RepositoryUnreadable, "the present directory cannot be told").WithCause(err)
		}
		p.workTree = absolute(start, given)
	case configured && !linked:
		p.workTree = absolute(p.gitDir, set.Value)
	case p.inside, isTrue(bare.Value) && !linked:
		p.workTree = ""
	}
	if real, err := filepath.EvalSymlinks(p.workTree); p.workTree != "" && err == nil {
		p.workTree = real
	}
	return nil
}

// worktrees lists the worktrees as their files say, without asking Git.
func (p place) worktrees() []string {
	var out []string
	if p.workTree != "" {
		out = append(out, p.workTree)
	}
	if filepath.Base(p.commonDir) == ".git" {
		out = append(out, filepath.Dir(p.commonDir))
	}
	parent := filepath.Join(p.commonDir, "worktrees")
	linked, _ := os.ReadDir(parent) // absent where there are none
	for _, d := range linked {
		if owner := gitrepo.LinkedTo(filepath.Join(parent, d.Name())); owner != "" {
			out = append(out, owner)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func ceilingDirectories(env []string) []string {
	value, _ := gitrepo.Lookup(env, "GIT_CEILING_DIRECTORIES")
	var out []string
	for _, dir := range filepath.SplitList(value) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		out = append(out, filepath.Clean(dir))
	}
	return out
}

func absolute(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
