package gitrepo

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Move is one compare-and-swap of a ref.
type Move struct {
	Ref      string // the full name, no symbolic ref
	Old, New ID     // Old "" means that the ref must not exist
	Message  string // of the reflog; "" is "evolve"
	// UnderLock runs while Git holds the ref's lock, after prepare and before
	// commit. An error aborts the transaction and is returned as it is.
	UnderLock func(ctx context.Context) error
}

// MoveRef drives "git update-ref --stdin -z" (start, update, prepare, UnderLock,
// commit) in the user's environment and reads the ref back. The lock, the
// reflog, hooks, packed refs and directory conflicts are Git's business.
//
// Codes: ref_moved, git_failed, interrupted. On every error but ref_moved after
// the commit, which says so, and one with ErrCommitted in its chain, the ref has not
// changed through this call. When ctx ends before the commit, Git is asked to end
// and drops its lock.
func (r *Repo) MoveRef(ctx context.Context, m Move) error {
	if err := r.checkMove(m); err != nil {
		return err
	}
	t, err := r.begin(ctx, m)
	if err != nil {
		return err
	}
	defer t.end()
	release := context.AfterFunc(ctx, t.interrupt)
	if err := t.prepare(m); err != nil {
		release()
		t.end()
		return r.whyNotMoved(ctx, m, err)
	}
	if m.UnderLock != nil {
		if err := m.UnderLock(ctx); err != nil {
			release()
			return err
		}
	}
	if !release() {
		return notMoved(ctx)
	}
	if err := t.commit(); err != nil {
		t.end()
		back := r.readBack(m)
		switch {
		case back == nil:
			return nil // made, and only the answer was lost
		case fault.CodeOf(back) != fault.RefMoved: // nobody knows that it was not made
			return unread(m, "was told to move", errors.Join(err, back))
		}
		return r.whyNotMoved(ctx, m, err)
	}
	err = r.readBack(m)
	if err != nil && fault.CodeOf(err) != fault.RefMoved {
		err = unread(m, "moved", err)
	}
	return err
}

// unread is the error about a move after which the ref could not be read.
func unread(m Move, did string, cause error) error {
	return fault.New(fault.GitFailed, "Git %s %s to %s, and the ref cannot be read since", did, safetext.Terminal(m.Ref), Short(m.New)).
		WithHint("git fsck names what is broken; the next promotion writes the move down").WithCause(errors.Join(ErrCommitted, cause))
}

// ErrCommitted is in the chain of the error with which MoveRef says that Git made
// the move, or was told to and did not answer, and that the ref could not be read
// afterwards.
var ErrCommitted = errors.New("git made the move")

// checkMove keeps from Git what it would understand as another command: no new
// value is a deletion, no old one "whatever it is".
func (r *Repo) checkMove(m Move) error {
	if !r.isID(string(m.New)) || m.Old != "" && !r.isID(string(m.Old)) {
		return fault.New(fault.Internal, "a ref moves between whole object ids only")
	}
	return checkRefWord(m.Ref)
}

// checkRefWord keeps a name from being read as more than a ref.
func checkRefWord(ref string) error {
	if strangeWord(ref) != "" || !strings.HasPrefix(ref, "refs/") {
		return fault.New(fault.RefInvalid, "%s is no full name of a ref", safetext.Terminal(Clip(ref)))
	}
	return nil
}

func notMoved(ctx context.Context) error {
	return fault.New(fault.Interrupted, "interrupted before the move; no ref has changed").WithCause(ctx.Err())
}

// settleTime bounds the reads that explain a failure or confirm a move. They
// run even after an interrupt, since the person must be told which it was.
const settleTime = 30 * time.Second

// whyNotMoved explains the failure of a transaction that has ended.
func (r *Repo) whyNotMoved(interrupt context.Context, m Move, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	ref := safetext.Terminal(m.Ref)
	value, err := r.ReadRef(ctx, m.Ref)
	switch {
	case err != nil:
		return err
	case value != m.Old:
		return fault.New(fault.RefMoved, "%s moved meanwhile, from %s to %s", ref, orAbsent(m.Old), orAbsent(value)).
			WithHint("run the command again: it judges the change against the ref's new value").WithCause(cause)
	case interrupt.Err() != nil:
		return notMoved(interrupt)
	}
	f := fault.New(fault.GitFailed, "Git refused to move %s; no ref has changed", ref).WithCause(cause)
	if lock := r.LockOf(m.Ref); lock != "" {
		return f.WithHint("another git holds the ref, or died holding it: if none runs, remove %s", safetext.Terminal(lock))
	}
	return f.WithHint("a reference-transaction hook may have refused, a ref of a conflicting name may exist, or the Git directory is not writable")
}

// readBack confirms the move in a fresh process: while packed-refs is being
// rewritten, Git itself can lose an update that it reported as done.
func (r *Repo) readBack(m Move) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	value, err := r.ReadRef(ctx, m.Ref)
	if err != nil {
		return err
	}
	if value == m.New {
		return nil
	}
	if value != "" && value != m.Old {
		if passed, err := r.IsAncestor(ctx, m.New, value); err == nil && passed {
			return nil // moved, and already moved on
		}
	}
	return fault.New(fault.RefMoved, "%s was moved to %s and now is at %s: another process wrote it at the same time",
		safetext.Terminal(m.Ref), orAbsent(m.New), orAbsent(value)).WithHint("look at git reflog, then run the command again")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func orAbsent(id ID) string {
	if id == "" {
		return "absent"
	}
	return Short(id)
}
