//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// readerGone reports whether f is a pipe or a socket that nobody reads any more.
func readerGone(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
