//go:build unix

package review

import (
	"io/fs"
	"os"
	"syscall"
)

const windows = false

// unsafe says why a file that policy rests on could have been written by someone
// else, "" if it could not.
func unsafe(info fs.FileInfo) string {
	const othersWrite = 0o022
	if info.Mode().Perm()&othersWrite != 0 {
		return "can be written by others than its owner"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return "belongs to another user"
	}
	return ""
}
