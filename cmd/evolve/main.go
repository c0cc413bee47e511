// Command evolve reviews and promotes changes to MCP server declarations.
//
// It is thin: it reads arguments, opens the repository, calls the packages that
// do the work, renders what they return, and maps errors to exit statuses.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent is how far the heap may grow before it is collected again, in percent
// of what was alive (runtime/debug.SetGCPercent; Go's own is 100).
const gcPercent = 400

func main() {
	// Caught, a closed pipe is a failed write with a status of its own, and not
	// the end of the process in the middle of its work. Ignoring it instead
	// would be inherited by every git.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// A command lives for moments: collecting less often costs it some memory and
	// spares a tenth of its time. A host that keeps running sets its own.
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	status := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ()})
	stop()
	os.Exit(status)
}
