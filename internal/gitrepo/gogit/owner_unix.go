//go:build unix

package gogit

import (
	"os"
	"strconv"
	"syscall"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// ownedHere reports whether a path belongs to this user, or, for root under
// sudo, to the user that called it.
func ownedHere(path string, env []string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	user := os.Geteuid()
	if int(stat.Uid) == user {
		return true
	}
	caller, _ := gitrepo.Lookup(env, "SUDO_UID")
	return user == 0 && caller == strconv.Itoa(int(stat.Uid))
}
