//go:build unix

package gitrepo

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// What git started may live on and keep its standard error, such as a connection
// that is kept for the next push: the push is done all the same.
func TestAPushThatLeavesAProcessBehindIsDone(t *testing.T) {
	g, other := gittest.New(t), gittest.New(t, gittest.Bare)
	head := g.Commit(map[string]string{"a": "1\n"}, "one")
	fifo := g.Path(".git/wait")
	noError(t, syscall.Mkfifo(fifo, 0o600))
	writeFile(t, g.Path(".git/hooks/pre-push"), "#!/bin/sh\ncat '"+fifo+"' </dev/null >/dev/null &\n", 0o777)
	defer func() { // ends it
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		noError(t, err)
		noError(t, f.Close())
	}()
	var said bytes.Buffer
	if err := open(t, g).Push(t.Context(), Terminal{Out: os.Stderr, Err: &said}, other.Dir(), "HEAD:refs/heads/main"); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
	equal(t, "main over there", other.Git("rev-parse", "refs/heads/main"), head)
}
