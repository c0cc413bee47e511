// Command evolve-hook is what Git's hooks run at a server: pre-receive,
// reference-transaction and post-receive. It links no MCP client and opens no
// socket; a push starts it up to four times.
//
// A signal that asks it to end refuses the push, and ends the git children too, of
// which one may be walking a long history; what it was writing is written whole or
// not at all.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/fault"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	// Beside the work: being asked costs a tenth of a short run. A signal that comes
	// sooner ends the process, which has started nothing yet that lasts.
	go func() {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
		<-asked
		cancel()
	}()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stderr))
}

// run returns the exit status: 0 lets Git go on, 1 refuses, also on a bug of
// ours. Git makes no other difference.
func run(ctx context.Context, args, env []string, stdin io.Reader, stderr io.Writer) (status int) {
	defer func() {
		if recover() != nil { // a panic's value may quote anything
			hooks.Refusal(stderr, fault.New(fault.Internal, "evolve-hook stopped on a bug of its own; nothing moved"))
			status = 1
		}
	}()
	if len(args) == 0 {
		args = []string{""}
	}
	err := hooks.Run(ctx, args[0], hooks.Input{Env: env, Args: args[1:], Stdin: stdin, Stderr: stderr, Now: time.Now})
	if err == nil {
		return 0
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.New(fault.Internal, "evolve-hook met an error without a code; nothing moved")
	}
	hooks.Refusal(stderr, f)
	return 1
}
