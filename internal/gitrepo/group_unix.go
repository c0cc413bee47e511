//go:build unix

package gitrepo

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a child into its own process group: an interrupt typed at the
// terminal reaches evolve, which decides, and not a git in the middle of a
// transaction.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
