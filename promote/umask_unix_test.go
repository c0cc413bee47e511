//go:build unix

package promote

import (
	"syscall"
	"testing"
)

// umask sets the umask of the process for one test, which must not be parallel.
func umask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}
