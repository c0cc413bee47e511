package gitrepo

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Terminal is where git talks to the person: a push or a fetch may ask for a
// pass phrase, and shows its progress.
type Terminal struct {
	In       *os.File
	Out, Err io.Writer
	// Progress says that Err leads to a terminal, which Git cannot see.
	Progress bool
}

// Push runs "git push --atomic" of refspecs in the user's own environment.
// Nothing arrives, or everything. Codes: git_failed, interrupted.
func (r *Repo) Push(ctx context.Context, t Terminal, remote string, refspecs ...string) error {
	return r.network(ctx, t, "push", append([]string{"push", "--atomic"}, t.rest(remote, refspecs)...))
}

// Fetch runs "git fetch" of refspecs in the user's own environment.
// Codes: git_failed, interrupted.
func (r *Repo) Fetch(ctx context.Context, t Terminal, remote string, refspecs ...string) error {
	return r.network(ctx, t, "fetch",
		append([]string{"fetch", "--no-tags", "--no-write-fetch-head"}, t.rest(remote, refspecs)...))
}

// rest are the arguments that a push and a fetch share.
func (t Terminal) rest(remote string, refspecs []string) []string {
	args := []string{"--end-of-options", remote}
	if t.Progress {
		args = append([]string{"--progress"}, args...)
	}
	return append(args, refspecs...)
}

func (r *Repo) network(ctx context.Context, t Terminal, verb string, args []string) error {
	// No quiet settings: they are for reading, and a push may want the user's own.
	cmd := exec.CommandContext(ctx, r.git, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.userEnv, waitDelay
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, t.Out, t.Err
	// No process group of its own: a pass phrase is asked for on the terminal.
	err := cmd.Run()
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // git is done; what it started may keep its pipes
		// The remote is not named: a URL can hold a password, which Git leaves out.
		return fault.New(fault.GitFailed, "git %s did not succeed; what it said is above", verb).
			WithHint("do what the remote's message says, or check the remote: git remote -v").WithCause(err)
	}
	return nil
}
