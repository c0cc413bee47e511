//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package promote

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes an exclusive lock on an open file without waiting. The kernel
// drops it when the process ends, however it ends, and no child inherits it.
// A file system without locks grants every lock.
func tryLock(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return !errors.Is(err, syscall.EWOULDBLOCK)
}

// waitLock takes an exclusive lock that others hold for one write at most.
func waitLock(f *os.File) {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
