//go:build unix

package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// noChildren checks that this process has no child, not even a dead one.
func noChildren(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("child %d is left (%v)", pid, err)
	}
}

func TestMoveRefInterruptedUnderTheLock(t *testing.T) {
	m := newMoving(t)
	before := state(t, m.g)
	for name, then := range map[string]error{"it goes on": nil, "it gives up": errors.New("stopped")} {
		ctx, cancel := context.WithCancel(t.Context())
		err := m.r.MoveRef(ctx, m.move(func(mv *Move) {
			mv.UnderLock = func(context.Context) error {
				cancel()
				return then
			}
		}))
		if then == nil {
			wantCode(t, err, fault.Interrupted)
		} else if !errors.Is(err, then) {
			t.Errorf("%s: got %v", name, err)
		}
		m.nothingLeft(t, before)
		noChildren(t)
	}
}

func TestMoveRefInterruptedBefore(t *testing.T) {
	m := newMoving(t)
	before := state(t, m.g)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, m.r.MoveRef(ctx, m.move(nil)), fault.Interrupted)
	m.nothingLeft(t, before)
	noChildren(t)
}

// Git itself may wait, here for a hook that never ends; an interrupt ends both,
// and the lock goes with them.
func TestMoveRefInterruptedWhileGitWaits(t *testing.T) {
	m := newMoving(t)
	dir := t.TempDir()
	pipe, pidFile := filepath.Join(dir, "pipe"), filepath.Join(dir, "pid")
	noError(t, syscall.Mkfifo(pipe, 0o666))
	before := state(t, m.g)
	hook := m.g.Path(".git/hooks/reference-transaction")
	writeFile(t, hook, "#!/bin/sh\necho $$ >'"+pidFile+"'\necho here >'"+pipe+"'\nexec sleep 1000\n", 0o755)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = os.ReadFile(pipe) // returns when the hook has written
		cancel()
	}()
	wantCode(t, m.r.MoveRef(ctx, m.move(nil)), fault.Interrupted)
	noChildren(t)
	noLocks(t, m.g)
	noError(t, os.Remove(hook))
	equal(t, "refs, index and worktree", state(t, m.g), before)
	noError(t, m.r.MoveRef(t.Context(), m.move(nil)))
	if pid := strings.TrimSpace(readFile(t, pidFile)); pid == "" {
		t.Error("the hook did not run")
	}
}

// A panic of the caller's code leaves no lock either.
func TestMoveRefPanicUnderTheLock(t *testing.T) {
	m := newMoving(t)
	before := state(t, m.g)
	func() {
		defer func() { _ = recover() }()
		_ = m.r.MoveRef(t.Context(), m.move(func(mv *Move) { mv.UnderLock = func(context.Context) error { panic("bug") } }))
	}()
	m.nothingLeft(t, before)
	noChildren(t)
}

func TestCloseLeavesNoChild(t *testing.T) {
	m := newMoving(t)
	_, err := m.r.ReadCommit(t.Context(), m.one)
	noError(t, err)
	noError(t, m.r.Close())
	noChildren(t)
}

// What happens between the commit and the reading back is told as it is.
func TestMoveRefReadsBack(t *testing.T) {
	for name, c := range map[string]struct {
		hook string // run when the move is made; $1, $2 and $3 are the three commits
		code fault.Code
	}{
		"moved on":           {"git update-ref " + mainRef + " $3", ""},
		"moved back":         {"git update-ref " + mainRef + " $1", fault.RefMoved},
		"deleted":            {"git update-ref -d " + mainRef, fault.RefMoved},
		"the answer is lost": {"kill -9 $PPID", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMoving(t)
			writeFile(t, m.g.Path(".git/hooks/reference-transaction"), strings.Join([]string{
				"#!/bin/sh", "test \"$1\" = committed && test ! -e once || exit 0", "touch once",
				"set -- " + string(m.one) + " " + string(m.two) + " " + string(m.three), c.hook, "",
			}, "\n"), 0o755)
			err := m.r.MoveRef(t.Context(), m.move(nil))
			if c.code == "" {
				noError(t, err)
			} else {
				wantCode(t, err, c.code)
			}
			noError(t, m.r.Close()) // objects may have been read
			noChildren(t)
			noLocks(t, m.g)
		})
	}
}
