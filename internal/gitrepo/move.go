package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Move is one compare-and-swap of a ref.
type Move struct {
	Ref      string
	Old, New ID // Old "" means that the ref must not exist
	Message  string
	// UnderLock runs while Git holds the ref's lock, after prepare and before
	// commit. An error aborts the transaction and is returned as it is.
	UnderLock func(ctx context.Context) error
}

// MoveRef drives "git update-ref --stdin -z" (start, update, prepare, UnderLock,
// commit) in the user's environment and reads the ref back. The lock, the
// reflog, hooks, packed refs and directory conflicts are Git's business.
//
// Codes: ref_moved, git_failed, interrupted. On every error but ref_moved after
// the commit, which says so, the ref has not changed through this call.
func (r *Repo) MoveRef(ctx context.Context, m Move) error {
	t, err := r.begin(ctx, m)
	if err != nil {
		return err
	}
	err = t.prepare(m)
	if err == nil && m.UnderLock != nil {
		if err = m.UnderLock(ctx); err != nil {
			t.abort()
			return err
		}
	}
	if err == nil && ctx.Err() != nil {
		t.abort()
		return fault.New(fault.Interrupted, "interrupted before the move; no ref has changed").WithCause(ctx.Err())
	}
	if err == nil {
		err = t.commit()
	}
	if err != nil {
		t.abort()
		return r.whyNotMoved(m, err)
	}
	return r.readBack(m)
}

// transaction is one git update-ref child.
type transaction struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (r *Repo) begin(ctx context.Context, m Move) (*transaction, error) {
	message := m.Message
	if message == "" {
		message = "evolve"
	}
	// Not bound to ctx: once the commit is sent, killing Git could leave a lock
	// behind. An interrupt is looked at before the commit, and aborts.
	cmd := exec.Command("git", append(append([]string{}, quietSettings...),
		"-c", "core.warnAmbiguousRefs=false", "update-ref", "-m", message, "--create-reflog", "--stdin", "-z")...)
	cmd.Dir = r.dir
	cmd.Env = r.environment(command{user: true})
	cmd.WaitDelay = waitDelay
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fault.New(fault.GitFailed, "git update-ref could not be started").WithCause(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fault.New(fault.GitFailed, "git update-ref could not be started").WithCause(err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fault.New(fault.GitFailed, "git update-ref could not be started").WithCause(err)
	}
	return &transaction{cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

// prepare brings Git to the point where it holds the lock and has compared the
// old value.
func (t *transaction) prepare(m Move) error {
	change := "update " + m.Ref + "\x00" + string(m.New) + "\x00" + string(m.Old) + "\x00"
	if m.Old == "" {
		change = "create " + m.Ref + "\x00" + string(m.New) + "\x00"
	}
	if err := t.say("start\x00", "start"); err != nil {
		return err
	}
	return t.say("option no-deref\x00"+change+"prepare\x00", "prepare")
}

// commit makes the move and waits for Git to end.
func (t *transaction) commit() error {
	if err := t.say("commit\x00", "commit"); err != nil {
		return err
	}
	_ = t.in.Close()
	// The move is made; a bad exit status after "commit: ok" is settled by
	// reading the ref back.
	_ = t.cmd.Wait()
	return nil
}

// say sends commands and waits for the one answer that may follow.
func (t *transaction) say(commands, verb string) error {
	if _, err := io.WriteString(t.in, commands); err != nil {
		return err
	}
	line, err := t.out.ReadString('\n')
	if err != nil {
		return err
	}
	if line != verb+": ok\n" {
		return errors.New("unexpected answer")
	}
	return nil
}

// abort ends a transaction without a move: at the end of input Git drops its
// locks.
func (t *transaction) abort() {
	_ = t.in.Close()
	_, _ = io.Copy(io.Discard, t.out)
	_ = t.cmd.Wait()
}

// settleTime bounds the reads that explain a failure or confirm a move. They
// run even after an interrupt, since the person must be told which it was.
const settleTime = 30 * time.Second

func (r *Repo) whyNotMoved(m Move, cause error) error {
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
	}
	f := fault.New(fault.GitFailed, "Git refused to move %s; no ref has changed", ref).WithCause(cause)
	if lock := filepath.Join(r.commonDir, filepath.FromSlash(m.Ref)+".lock"); exists(lock) {
		return f.WithHint("another git holds the ref, or died holding it: if none runs, remove %s", safetext.Terminal(lock))
	}
	if lock := filepath.Join(r.commonDir, "packed-refs.lock"); exists(lock) {
		return f.WithHint("another git holds packed-refs, or died holding it: if none runs, remove %s", safetext.Terminal(lock))
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
	if value != "" {
		if passed, err := r.IsAncestor(ctx, m.New, value); err == nil && passed {
			return nil // moved, and already moved on
		}
	}
	return fault.New(fault.RefMoved, "%s was moved to %s and now is at %s: another process wrote it at the same time",
		safetext.Terminal(m.Ref), orAbsent(m.New), orAbsent(value)).WithHint("look at git reflog, then run the command again")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func orAbsent(id ID) string {
	if id == "" {
		return "absent"
	}
	return short(id)
}
