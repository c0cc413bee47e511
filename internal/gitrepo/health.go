package gitrepo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Shallow reports whether this is a shallow clone, whose history ends early.
func (r *Repo) Shallow() bool {
	data, err := ReadSmall(filepath.Join(r.commonDir, "shallow"))
	return err == nil && len(data) > 0
}

// Grafted reports whether info/grafts gives commits other parents. Reading
// ignores that file.
func (r *Repo) Grafted() bool {
	data, err := ReadSmall(filepath.Join(r.commonDir, "info", "grafts"))
	return err == nil && strings.TrimSpace(string(data)) != ""
}

// Partial reports whether this is a partial clone, which lacks objects.
func (r *Repo) Partial(ctx context.Context) (bool, error) {
	config, err := r.Config(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range config.settings {
		if s.Key == "extensions.partialclone" || strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".promisor") && s.Value != "false" {
			return true, nil
		}
	}
	return false, nil
}

// LockOf returns the path of the lock file that a git holds on a ref, or left
// behind when it died; "" if there is none.
func (r *Repo) LockOf(ref string) string {
	lock := filepath.Join(r.commonDir, filepath.FromSlash(ref)+".lock")
	if !exists(lock) {
		return ""
	}
	return lock
}

// Version returns Git's version, its first two numbers.
func (r *Repo) Version(ctx context.Context) (major, minor int, err error) {
	out, err := r.ask(ctx, "version")
	if err != nil {
		return 0, 0, err
	}
	if n, _ := fmt.Sscanf(out, "git version %d.%d", &major, &minor); n != 2 {
		return 0, 0, fault.New(fault.GitFailed, "git does not say its version in a way that is known")
	}
	return major, minor, nil
}

// IndexIs reports whether the worktree's index holds exactly the tree of a
// commit.
func (o *Occupant) IndexIs(ctx context.Context, commit ID) (bool, error) {
	out, err := o.repo.run(ctx, o.git("diff-index", "--cached", "--quiet", "--no-ext-diff", "--ignore-submodules=none", string(commit)))
	switch {
	case err == nil:
		return true, nil
	case out.status == 1:
		return false, nil
	}
	return false, o.repo.failed(err, "diff-index")
}

// ReadSmall reads a file of Git's bookkeeping, which is small: over 1 MiB is an error.
func ReadSmall(path string) ([]byte, error) {
	const most = 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(data) > most {
		return nil, os.ErrInvalid
	}
	return data, err
}
