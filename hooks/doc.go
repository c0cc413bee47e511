// Package hooks is the gate at the server: what Git's pre-receive,
// reference-transaction and post-receive hooks run, and how they are installed.
//
// One function decides, promote.Gate.JudgePush, which is promote's own with the
// records of a push; the hooks only bring it what Git tells them. pre-receive
// sees a push before any ref moves: it judges every guarded ref and leaves a
// claim for each move that may happen. reference-transaction runs under the ref's
// lock, for pushes and for every other move on this machine that runs hooks, and
// vetoes a move without a claim that fits. After the move it writes the audit
// line; where a server runs no reference-transaction, post-receive does.
//
// A hook never moves or writes a ref, and repeats nothing that a client sent but
// names of refs, escaped.
// Everything it needs comes in through Input; it reads no global.
//
// What is not promised: whoever can write the Git directory, or switch its hooks
// off, moves what they like. The next hook and doctor report that (ref_moved).
package hooks

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Input is what Git gives a hook, and the host's clock.
type Input struct {
	// Dir is where discovery starts; "" is where Git started the hook, as it
	// should be for one.
	Dir string
	Env []string
	// Args are the hook's arguments; reference-transaction has the phase.
	Args   []string
	Stdin  io.Reader
	Stderr io.Writer
	Now    func() time.Time
}

// Names are the hooks that evolve installs, in the order in which Git runs them.
var Names = [...]string{"pre-receive", "reference-transaction", "post-receive"}

// Run runs the hook of that name. Its error refuses what Git was about to do;
// Refusal writes it for the pusher.
func Run(ctx context.Context, name string, in Input) error {
	switch name {
	case "pre-receive":
		return PreReceive(ctx, in)
	case "reference-transaction":
		return ReferenceTransaction(ctx, in)
	case "post-receive":
		return PostReceive(ctx, in)
	}
	return fault.New(fault.Usage, "there is no such hook").
		WithHint("evolve-hook %s", strings.Join(Names[:], " | "))
}

// Refusal writes an error for a pusher: what and why in one line, then the next
// step, which is one line too, or two where it is a review and a push.
func Refusal(w io.Writer, f *fault.Fault) {
	text := "evolve: " + f.Error() + "\n"
	for line := range strings.SplitSeq(f.Hint, "\n") {
		if line != "" {
			text += "next: " + line + "\n"
		}
	}
	// Where nobody listens, the refusal holds all the same.
	_, _ = fmt.Fprint(w, text)
}

// maxInput bounds what is read from Git's standard input, in bytes: 200,000 refs
// of a mirror push fit.
const maxInput = 64 << 20

// The bounds of one push. Each record and each guarded ref costs some work.
const (
	maxGuarded = 100
	maxRecords = 500
	maxOptions = 64
)
