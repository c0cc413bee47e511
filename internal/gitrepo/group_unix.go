//go:build unix

package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a child into its own process group: an interrupt typed at the
// terminal reaches evolve, which decides, and not a git in the middle of a
// transaction. When the child's context ends, the whole group is asked to end,
// hooks included, and Git removes its lock files.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return terminate(cmd) }
}

func terminate(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
