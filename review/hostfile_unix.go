//go:build unix

package review

import (
	"io/fs"
	"os"
	"syscall"
)

// modesMean says that a file's mode says who may read and write it.
const modesMean = true

// owned reports whether a file belongs to this user or to the administrator.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Uid == 0 || int64(st.Uid) == int64(os.Geteuid())
}
