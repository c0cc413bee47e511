package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// transaction is one git update-ref child.
type transaction struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	once sync.Once
}

// begin starts the child. It does not end with ctx: once the commit is
// sent, ending Git could leave a lock behind.
func (r *Repo) begin(ctx context.Context, m Move) (*transaction, error) {
	message := m.Message
	if message == "" {
		message = "evolve"
	}
	cmd := r.child(context.WithoutCancel(ctx), command{user: true, args: []string{
		"-c", "core.warnAmbiguousRefs=false", "update-ref", "-m", message, "--create-reflog", "--stdin", "-z",
	}})
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, cannotStart(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, cannotStart(err)
	}
	if err := cmd.Start(); err != nil {
		return nil, cannotStart(err)
	}
	return &transaction{cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

func cannotStart(cause error) error {
	return fault.New(fault.GitFailed, "git update-ref could not be started; no ref has changed").WithCause(cause)
}

// prepare brings Git to the point where it holds the lock and has compared the
// old value.
func (t *transaction) prepare(m Move) error {
	change := "update " + m.Ref + "\x00" + string(m.New) + "\x00" + string(m.Old) + "\x00"
	if m.Old == "" {
		change = "create " + m.Ref + "\x00" + string(m.New) + "\x00"
	}
	if err := t.say("start\x00", "start"); err != nil {
		return err
	}
	return t.say("option no-deref\x00"+change+"prepare\x00", "prepare")
}

// commit makes the move and waits for Git to end. A bad exit status after
// "commit: ok" is settled by reading the ref back.
func (t *transaction) commit() error {
	err := t.say("commit\x00", "commit")
	if err == nil {
		t.end()
	}
	return err
}

// say sends commands and waits for the one answer that may follow.
func (t *transaction) say(commands, verb string) error {
	if _, err := io.WriteString(t.in, commands); err != nil {
		return err
	}
	line, err := t.out.ReadString('\n')
	if err != nil {
		return err
	}
	if line != verb+": ok\n" {
		return errors.New("unexpected answer")
	}
	return nil
}

// interrupt asks Git and the hooks that it runs to end. Git removes its lock
// files before it does.
func (t *transaction) interrupt() { _ = terminate(t.cmd) }

// end ends the child and waits for it. Without a commit before, Git drops its
// locks at the end of its input, and no ref moves. It may be called again.
func (t *transaction) end() {
	t.once.Do(func() {
		_ = t.in.Close()
		_, _ = io.Copy(io.Discard, t.out)
		_ = t.cmd.Wait()
	})
}
