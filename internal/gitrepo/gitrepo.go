// Package gitrepo reads and moves what Git holds: objects, refs, configuration
// and signatures. It is the only caller of the git program and the only
// importer of go-git.
package gitrepo

import (
	"context"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// ID is an object id in lowercase hex: 40 digits in a SHA-1 repository, 64 in a
// SHA-256 one. The empty ID stands for a ref that does not exist.
type ID string

// Options say how a repository is opened. The zero value is not usable: Env is
// required, since nothing below cmd reads the process environment.
type Options struct {
	// Dir is where discovery starts (evolve -C).
	Dir string
	// Env is the caller's environment, as os.Environ gives it. Reading uses
	// only the listed names of DESIGN section 6; signing uses all of it.
	Env []string
	// Hook says that this is a hook: configuration given through the
	// environment is ignored, and the quarantine variables are passed on.
	Hook bool
}

// Repo is an open repository with one long-lived object reader. It is safe for
// use by several goroutines. Close ends the reader.
type Repo struct{}

// Open discovers the repository at o.Dir as Git does and starts the reader.
func Open(ctx context.Context, o Options) (*Repo, error) { panic("to be written") }

// Close ends the object reader and waits for it.
func (r *Repo) Close() error { panic("to be written") }

// GitDir is the absolute path of the Git directory of this worktree.
func (r *Repo) GitDir() string { panic("to be written") }

// CommonDir is the absolute path of the Git directory shared by all worktrees.
func (r *Repo) CommonDir() string { panic("to be written") }

// WorkTree is the absolute path of the worktree, "" in a bare repository.
func (r *Repo) WorkTree() string { panic("to be written") }

// ObjectFormat is "sha1" or "sha256".
func (r *Repo) ObjectFormat() string { panic("to be written") }

// ResolveCommit resolves a revision to a commit id, once, by Git.
// Codes: revision_unknown (missing, ambiguous, not a commit, unborn branch).
func (r *Repo) ResolveCommit(ctx context.Context, rev string) (ID, error) { panic("to be written") }

// ResolveRef resolves what a person wrote after --ref (main, heads/main,
// refs/heads/main) to a full ref name, following symbolic refs to their
// target. The ref need not exist when its full name is given (refs/heads/...).
// Codes: ref_invalid.
func (r *Repo) ResolveRef(ctx context.Context, name string) (string, error) { panic("to be written") }

// ReadRef returns a ref's present value, "" if it does not exist, read in a
// fresh Git process. It never follows a symbolic ref of that name silently:
// the value is that of the target.
func (r *Repo) ReadRef(ctx context.Context, ref string) (ID, error) { panic("to be written") }

// Commit is what is read of a commit object.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID
	Author    Person
	Committer Person
	Message   string // untrusted text
}

// Person is an author or committer line: free text that anyone can write.
type Person struct {
	Name, Email string
	When        time.Time
}

// ReadCommit reads and hashes one commit.
func (r *Repo) ReadCommit(ctx context.Context, id ID) (*Commit, error) { panic("to be written") }

// Tree returns the tree of a commit as decl reads it.
func (r *Repo) Tree(ctx context.Context, commit ID) (decl.Tree, error) { panic("to be written") }

// WorkingTree returns the worktree's bytes on disk, untracked files included,
// ignoring the index. Codes: repository_unreadable in a bare repository.
func (r *Repo) WorkingTree() (decl.Tree, error) { panic("to be written") }

// IsAncestor reports whether a is an ancestor of b or equal to it.
func (r *Repo) IsAncestor(ctx context.Context, a, b ID) (bool, error) { panic("to be written") }

// MergeBase returns the one best common ancestor. Codes: revision_unknown if
// there is none or more than one.
func (r *Repo) MergeBase(ctx context.Context, a, b ID) (ID, error) { panic("to be written") }

// Step is a commit and one parent to compare it with ("" for a root commit).
type Step struct{ Parent, Commit ID }

// ChangingSteps lists, oldest first, the steps within base..tip whose trees
// differ at or under one of the literal paths. The steps compared are every
// commit with its first parent, and every commit that descends from base with
// each parent that is base or descends from it, so that any path from base to
// tip that changes one of the paths contains a listed step. base "" means the
// whole history of tip.
func (r *Repo) ChangingSteps(ctx context.Context, base, tip ID, paths []string) ([]Step, error) {
	panic("to be written")
}

// Range lists the commits of base..tip, newest first, at most limit (an error
// beyond it).
func (r *Repo) Range(ctx context.Context, base, tip ID, limit int) ([]ID, error) {
	panic("to be written")
}

// ReadBlobAt reads the regular file at path in a commit, capped at limit bytes.
// It wraps fs.ErrNotExist when the path is absent or no regular file.
func (r *Repo) ReadBlobAt(ctx context.Context, commit ID, path string, limit int64) ([]byte, error) {
	panic("to be written")
}

// CheckedOut lists the worktrees that have ref checked out (or are busy with an
// operation on it), as absolute paths.
func (r *Repo) CheckedOut(ctx context.Context, ref string) ([]string, error) {
	panic("to be written")
}

// Worktrees lists the absolute paths of all worktrees (without bare ones).
func (r *Repo) Worktrees(ctx context.Context) ([]string, error) { panic("to be written") }

// Upstream returns the full name of ref's upstream, "" if none is configured.
func (r *Repo) Upstream(ctx context.Context, ref string) (string, error) { panic("to be written") }

// RefInfo is one ref and its value.
type RefInfo struct {
	Name string
	ID   ID
}

// Refs lists the refs under a prefix that ends in a slash, sorted by name.
func (r *Repo) Refs(ctx context.Context, prefix string) ([]RefInfo, error) { panic("to be written") }

// Setting is one configured value and where it comes from.
type Setting struct {
	Key    string // as Git prints it: section and name in lower case
	Value  string
	Scope  string // system, global, local, worktree, command
	Origin string // file:PATH, command line:, ...
}

// Config is Git's configuration as it is in force.
type Config struct{}

// Config reads the configuration (in a hook: without the environment's).
func (r *Repo) Config(ctx context.Context) (*Config, error) { panic("to be written") }

// Last returns the last value of a key, as Git would use it.
func (c *Config) Last(key string) (Setting, bool) { panic("to be written") }

// All returns every value of a key, in order.
func (c *Config) All(key string) []Setting { panic("to be written") }

// TreeFile is one file of a record's tree.
type TreeFile struct {
	Name string
	Data []byte
}

// WriteRecord stores files as a parentless commit with the given time and a
// fixed identity (deterministic: equal inputs give equal ids) and creates ref
// for it. It fails with ref_moved if the ref exists with another value; an
// equal value is no error.
func (r *Repo) WriteRecord(ctx context.Context, ref, subject string, when time.Time, files []TreeFile) (ID, error) {
	panic("to be written")
}

// DeleteRef deletes a ref if it still has the value old.
func (r *Repo) DeleteRef(ctx context.Context, ref string, old ID) error { panic("to be written") }

// Move is one compare-and-swap of a ref.
type Move struct {
	Ref      string
	Old, New ID // Old "" means that the ref must not exist
	Message  string
	// UnderLock runs while Git holds the ref's lock, after prepare and before
	// commit. An error aborts the transaction and is returned as it is.
	UnderLock func(ctx context.Context) error
}

// MoveRef drives git -c core.warnAmbiguousRefs=false update-ref --stdin -z
// (start, update, prepare, UnderLock, commit) in the user's environment and
// reads the ref back. Codes: ref_moved, git_failed. When it returns an error
// with code ref_moved, or UnderLock's, no ref has changed.
func (r *Repo) MoveRef(ctx context.Context, m Move) error { panic("to be written") }

// CreateCommit writes a commit object (no ref) with the user's identity.
func (r *Repo) CreateCommit(ctx context.Context, tree ID, parents []ID, message string) (ID, error) {
	panic("to be written")
}

// Identity returns Git's author identity for this user (git var).
func (r *Repo) Identity(ctx context.Context) (Person, error) { panic("to be written") }

// SSHSign signs data with ssh-keygen -Y sign (or gpg.ssh.program) in the user's
// own environment. key is a path or a literal "key::ssh-..." as Git takes it.
// The program's output is never shown. Codes: signing_failed.
func (r *Repo) SSHSign(ctx context.Context, program, key, namespace string, data []byte) ([]byte, error) {
	panic("to be written")
}

// RunInteractive is for git push and git fetch of the records, in the user's
// own environment with Git's own output on stderr.
func (r *Repo) RunInteractive(ctx context.Context, args ...string) error { panic("to be written") }
