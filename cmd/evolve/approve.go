package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// approved is the ordinary approval: --approve, or a yes on a terminal. The end
// of input, and anything but yes, is no. Without a terminal nobody is asked.
// Nothing is approved whose outcome nobody could be told.
func (p *program) approved(ctx context.Context, flag bool, question string) (bool, error) {
	if readerGone(p.out) {
		return false, fault.New(fault.IOFailed, "nobody reads standard output any more; nothing was changed").
			WithHint("check what the output is piped into")
	}
	if flag {
		return true, nil
	}
	if !term.IsTerminal(int(p.in.Fd())) {
		return false, fault.New(fault.ApprovalRequired, "approval is needed, and standard input is no terminal to ask on").
			WithHint("read the report, then run the command again with --approve")
	}
	if _, err := fmt.Fprintf(p.err, "%s [y/N] ", question); err != nil {
		return false, fault.New(fault.IOFailed, "the question could not be asked").WithCause(err)
	}
	answer := make(chan string, 1)
	go func() {
		// The read cannot be interrupted; after a signal the process ends and
		// takes this goroutine along.
		line, err := bufio.NewReader(io.LimitReader(p.in, 1<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answer <- line
	}()
	select {
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		}
		return false, nil
	case <-ctx.Done():
		_, _ = fmt.Fprintln(p.err)
		return false, fault.New(fault.Interrupted, "interrupted at the question; nothing was written")
	}
}
