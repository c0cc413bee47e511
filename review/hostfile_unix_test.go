//go:build unix

package review

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// TestAPipeIsNoHostFile: nobody waits for a writer, which no interrupt would end.
func TestAPipeIsNoHostFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signers")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := place{}.readHostFile(path, "the signers file")
	if fault.CodeOf(err) != fault.ConfigInvalid || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}
