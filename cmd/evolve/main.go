// Command evolve reviews and promotes changes to MCP server declarations.
//
// It is thin: it reads arguments, opens the repository, calls the packages that
// do the work, renders what they return, and maps errors to exit statuses.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ()})
	stop()
	os.Exit(status)
}
