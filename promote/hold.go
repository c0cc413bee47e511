package promote

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// A hold says that a living process is making one move: it has the move's claim
// and will write its audit line. The kernel drops it with the process, so that a
// claim without a hold, and without an audit line, is of a move that was cut off.
// Processes that want the same move take turns; other moves are not held up.
type hold struct {
	file *os.File
	path string
}

// The patience of a process whose move another one is making.
const (
	holdWait  = 30 * time.Second
	holdPause = 5 * time.Millisecond
)

const holdSuffix = ".lock"

// tryHold takes the hold of the claim at path, nil if another process has it.
func (c claims) tryHold(path string) (*hold, error) {
	path = strings.TrimSuffix(path, claimSuffix) + holdSuffix
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, c.perms.creation(false))
		if err != nil {
			return nil, fault.New(fault.IOFailed, "the Git directory is not writable: no file can be made in evolve/").
				WithHint("give this user write permission to the Git directory").WithCause(err)
		}
		_ = c.perms.setFile(f) // only the owner may, who did
		if !tryLock(f) {
			_ = f.Close()
			return nil, nil //nolint:nilnil // held by another is an answer, not an error
		}
		if isAt(f, path) {
			return &hold{file: f, path: path}, nil
		}
		_ = f.Close() // its last holder removed it between the open and the lock
	}
}

// isAt reports whether path still names the open file.
func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}

// hold waits for the hold of a move.
func (c claims) hold(ctx context.Context, ref string, old, new gitrepo.ID) (*hold, error) {
	if err := c.perms.makeDir(c.dir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, holdWait)
	defer cancel()
	for {
		h, err := c.tryHold(c.path(ref, old, new))
		if h != nil || err != nil {
			return h, err
		}
		select {
		case <-time.After(holdPause):
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, fault.New(fault.GitFailed, "another evolve is making the same move and does not end").
					WithHint("look at what it waits for, perhaps a hook, and run the command again")
			}
			return nil, fault.New(fault.Interrupted, "interrupted before the move; no ref has changed").WithCause(ctx.Err())
		}
	}
}

// release removes the file while it is still locked, so that whoever opened it
// meanwhile sees that it is no longer the one at its path.
func (h *hold) release() {
	if err := os.Remove(h.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = err // an empty file is left; it is taken over by the next hold
	}
	_ = h.file.Close()
}
