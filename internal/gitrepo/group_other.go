//go:build !unix

package gitrepo

import "os/exec"

// ownGroup does nothing where process groups are not Unix's: a cancelled git is
// killed.
func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }
