// Package gitrepo reads and moves what Git holds: objects, refs, configuration
// and signatures. It is the only caller of the git program. Where there is none,
// the package gogit below reads instead, behind the same Store.
//
// Objects come from one long-lived "git cat-file --batch-command" child in an
// environment that is built from a list (env.go), so that SHA-256 repositories,
// alternates, worktrees, packs and the push quarantine are Git's business, and
// replace refs, grafts and lazy fetching are off. Each object's size is capped
// before it is read, its bytes are hashed against its id, and trees are parsed
// by us, strictly. Refs move through "git update-ref --stdin" only.
//
// What goes wrong is a *fault.Fault in our own words; what git printed is never
// shown.
package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// ID is an object id in lowercase hex: 40 digits in a SHA-1 repository, 64 in a
// SHA-256 one. The empty ID stands for a ref that does not exist.
type ID string

// ErrNoGit is in the chain of the error with which Open says that there is no
// git program.
var ErrNoGit = errors.New("no git program")

// Options say how a repository is opened.
type Options struct {
	// Dir is where discovery starts (evolve -C); "" is the present directory.
	Dir string
	// Env is the caller's environment, as os.Environ gives it. Reading uses
	// only the names listed in env.go; signing and moving use all of it.
	Env []string
	// Hook says that this is a hook: configuration given through the
	// environment is ignored.
	Hook bool
	// Namespace is what stands before the refs of the namespace that a push serves
	// (gitnamespaces(7)), such as "refs/namespaces/a/"; "" for none.
	Namespace string
	// Early says that the configuration will be read for certain, EarlyObjects
	// beside it that objects will too: their git children are started beside the
	// discovery, not after it.
	Early, EarlyObjects bool
	// EarlyRefs are full names of refs whose values, as they are now, are the
	// first thing that will be asked: they are listed early too, after Open was
	// called and no earlier.
	EarlyRefs []string
}

// Repo is an open repository with one long-lived object reader. It is safe for
// use by several goroutines. Close ends the reader.
type Repo struct {
	git       string // the program
	dir       string // where git runs: after discovery the top of the worktree, so that paths start there
	gitDir    string
	commonDir string
	workTree  string
	format    string
	bare      bool
	namespace string
	readEnv   []string
	userEnv   []string

	objects *objectReader
	store   *Store
	early   *early
}

// Open discovers the repository at o.Dir as Git does. The reader starts with the
// first object that is read, and lives no longer than ctx.
// Codes: repository_unreadable, unsupported.
func Open(ctx context.Context, o Options) (*Repo, error) {
	r := &Repo{
		dir: o.Dir, namespace: o.Namespace,
		readEnv: readEnvironment(o.Env, o.Hook),
		userEnv: userEnvironment(o.Env),
	}
	var err error
	if r.git, err = findProgram(o.Env, "git"); err != nil {
		return nil, fault.New(fault.Unsupported, "there is no git program in PATH").
			WithHint("install Git 2.38 or newer").WithCause(errors.Join(ErrNoGit, err))
	}
	if o.Early {
		r.early = r.startEarly(ctx, o)
	}
	if !o.Hook || !r.discoverHook() {
		if err := r.discover(ctx); err != nil {
			r.early.drop()
			return nil, err
		}
	}
	r.settle()
	r.objects = newObjectReader(ctx, r)
	r.objects.child = r.early.child()
	r.store = NewStore(r.objects, r.digits())
	return r, nil
}

func (r *Repo) discover(ctx context.Context) error {
	if r.dir != "" {
		if info, err := os.Stat(r.dir); err != nil || !info.IsDir() {
			return fault.New(fault.RepositoryUnreadable, "%s is no directory", safetext.Terminal(r.dir)).WithCause(err)
		}
	}
	out, failed := r.run(ctx, command{args: []string{
		"rev-parse", "--path-format=absolute", "--is-bare-repository", "--show-object-format",
		"--absolute-git-dir", "--git-common-dir", "--show-toplevel",
	}})
	lines := strings.Split(strings.TrimSuffix(string(out.stdout), "\n"), "\n")
	const always = 4 // the last one is missing where there is no worktree
	switch {
	case fault.CodeOf(failed) == fault.Interrupted:
		return failed
	case len(lines) < always:
		return r.notFound(out, failed)
	case len(lines) > always+1:
		return fault.New(fault.Unsupported, "the path of the repository holds a line break")
	}
	r.bare, r.format = lines[0] == "true", lines[1]
	r.gitDir, r.commonDir = filepath.FromSlash(lines[2]), filepath.FromSlash(lines[3])
	if len(lines) > always && failed == nil {
		r.workTree = filepath.FromSlash(lines[always])
	}
	if r.workTree == r.gitDir {
		r.workTree = "" // a hook of a push: Git takes its own directory for the worktree
	}
	if r.format != "sha1" && r.format != "sha256" {
		return fault.New(fault.Unsupported, "the repository uses an object format that evolve does not know")
	}
	return nil
}

// settle makes every later git work on what was found: the same repository and
// worktree, from the top, whatever a relative path in the environment means
// there.
func (r *Repo) settle() {
	r.dir = r.gitDir
	pin := []string{"GIT_DIR=" + r.gitDir}
	if r.workTree != "" {
		r.dir = r.workTree
		pin = append(pin, "GIT_WORK_TREE="+r.workTree)
	}
	r.readEnv = append(r.readEnv, pin...)
	r.userEnv = append(r.userEnv, pin...)
}

// notFound says why there is no repository here. Git's own text is looked at
// only to choose the hint.
func (r *Repo) notFound(out output, failed error) error {
	if !out.started {
		return fault.New(fault.GitFailed, "git could not be started").WithCause(failed)
	}
	where := r.dir
	if where == "" {
		where = "."
	}
	if strings.Contains(string(out.stderr), "safe.directory") {
		return fault.New(fault.RepositoryUnreadable, "the repository at %s belongs to another user", safetext.Terminal(where)).
			WithHint("git config --global --add safe.directory DIR, if you trust its owner").WithCause(failed)
	}
	return fault.New(fault.RepositoryUnreadable, "%s is in no Git repository, or Git refuses to read it", safetext.Terminal(where)).
		WithCause(failed).WithHint("run evolve inside a repository, or name one: evolve -C DIR ...")
}

// Close ends the object reader and waits for it.
func (r *Repo) Close() error {
	r.early.wait()
	return r.objects.close()
}

// GitDir is the absolute path of the Git directory of this worktree.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir is the absolute path of the Git directory shared by all worktrees.
func (r *Repo) CommonDir() string { return r.commonDir }

// WorkTree is the absolute path of the worktree, "" in a bare repository.
func (r *Repo) WorkTree() string { return r.workTree }

// Bare reports whether the repository has no worktree of its own.
func (r *Repo) Bare() bool { return r.bare }

// Namespace is what Options named.
func (r *Repo) Namespace() string { return r.namespace }

// ObjectFormat is "sha1" or "sha256".
func (r *Repo) ObjectFormat() string { return r.format }

func (r *Repo) digits() int {
	if r.format == "sha256" {
		return 64
	}
	return 40
}

// isID is IsID for the ids of this repository.
func (r *Repo) isID(s string) bool { return IsID(s, r.digits()) }

// IsID reports whether s is an object id of that many hex digits, and not the one
// of zeros that Git uses for "no object".
func IsID(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}
