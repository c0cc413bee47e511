package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// maxOutput bounds what one git may print, in bytes. The longest honest answer
// is a list of some hundred thousand refs.
const maxOutput = 64 << 20

// waitDelay is how long a killed git may hold on to its pipes.
const waitDelay = 2 * time.Second

// command is one run of git.
type command struct {
	args  []string
	stdin []byte
	// user says that it runs in the user's own environment.
	user bool
	// env is added to the environment.
	env []string
	// dir is where it runs; "" is the top of the repository's own worktree.
	dir string
}

// output is what a git printed. stderr is looked at to choose a message, never
// shown.
type output struct {
	stdout, stderr []byte
	started        bool
	status         int
}

// quiet settings hold for every git: nothing of the repository's configuration
// runs a program or writes a file.
var quietSettings = []string{
	"-c", "core.fsmonitor=false", "-c", "core.warnAmbiguousRefs=true", "-c", "core.quotePath=false",
	"-c", "diff.external=", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// run runs git to its end. The error is nil only for status 0.
func (r *Repo) run(ctx context.Context, c command) (output, error) {
	cmd := r.child(ctx, c)
	if c.stdin != nil {
		cmd.Stdin = bytes.NewReader(c.stdin)
	}
	stdout, stderr := &capped{limit: maxOutput}, &capped{limit: 64 << 10, cut: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	out := output{stdout: stdout.buffer.Bytes(), stderr: stderr.buffer.Bytes(), started: cmd.ProcessState != nil, status: -1}
	if cmd.ProcessState != nil {
		out.status = cmd.ProcessState.ExitCode()
	}
	if ctx.Err() != nil {
		return out, interrupted(ctx)
	}
	if stdout.over {
		return out, fault.New(fault.GitFailed, "git printed more than %d MiB", maxOutput>>20)
	}
	return out, err
}

// child prepares a git that ends, with all that it started, when ctx does.
func (r *Repo) child(ctx context.Context, c command) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.git, append(append([]string{}, quietSettings...), c.args...)...)
	env := r.readEnv
	if c.user {
		env = r.userEnv
	}
	dir := r.dir
	if c.dir != "" {
		dir = c.dir
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(append([]string{}, env...), c.env...), waitDelay
	ownGroup(cmd)
	return cmd
}

func interrupted(ctx context.Context) error {
	return fault.New(fault.Interrupted, "interrupted").WithCause(ctx.Err())
}

// ask runs git where only an exit status of 0 is an answer.
func (r *Repo) ask(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, command{args: args})
	if err != nil {
		return "", r.failed(err, args[0])
	}
	return strings.TrimSuffix(string(out.stdout), "\n"), nil
}

// failed is git's failure in our words.
func (r *Repo) failed(err error, verb string) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f
	}
	return fault.New(fault.GitFailed, "git %s failed", verb).
		WithHint("run git fsck; evolve doctor checks the rest").WithCause(err)
}

// capped is a buffer with a limit. Beyond it, output is dropped (cut) or is an
// error that ends the child. The buffer is no embedded one: io.Copy would find
// its ReadFrom, which knows no limit.
type capped struct {
	buffer bytes.Buffer
	limit  int
	cut    bool
	over   bool
}

func (c *capped) Write(p []byte) (int, error) {
	if room := c.limit - c.buffer.Len(); len(p) > room {
		c.over = true
		if !c.cut {
			return 0, errors.New("output limit")
		}
		_, _ = c.buffer.Write(p[:room])
		return len(p), nil
	}
	return c.buffer.Write(p)
}
