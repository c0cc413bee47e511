// Command mkrepo makes a repository from a history in testdata/repos:
// mkrepo HISTORY.txtar DIR. The demo and a curious person use it.
package main

import (
	"fmt"
	"os"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mkrepo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: mkrepo HISTORY.txtar DIR")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	return gittest.BuildHistory(args[1], text)
}
