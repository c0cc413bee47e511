package stdio

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Graces are how long a child that is being stopped gets for each step.
type Graces struct {
	Stdin time.Duration // after its standard input was closed
	Term  time.Duration // after TERM
	Kill  time.Duration // after KILL, until it is given up as stuck in the kernel
}

// DefaultGraces suit servers that flush and close a database on the way out.
func DefaultGraces() Graces {
	return Graces{Stdin: 2 * time.Second, Term: 2 * time.Second, Kill: 5 * time.Second}
}

// Spec describes a child.
type Spec struct {
	Path   string   // absolute
	Args   []string // without the program's own name
	Env    []string // the whole environment
	Dir    string   // absolute
	Name   string   // argv[0]
	Graces Graces
	// SpoolDir is where the unlinked file for standard error is made; "" is
	// the system's directory for temporary files.
	SpoolDir string
}

// Process is a running child and its standard streams. Read is its standard
// output and Write its standard input.
type Process struct {
	cmd    *exec.Cmd
	group  *group
	stdin  *os.File
	stdout *os.File
	spool  *Spool
	graces Graces

	exited chan struct{} // closed when it is reaped
	once   sync.Once
}

var _ Stream = (*Process)(nil)

// Start runs a child. The error is an Error.
func Start(spec Spec) (*Process, error) {
	spool, stderr, err := newSpool(spec.SpoolDir)
	if err != nil {
		return nil, ErrStderr
	}
	p := &Process{spool: spool, graces: spec.Graces, exited: make(chan struct{})}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		closeAll(stderr, spool)
		return nil, ErrStart
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		closeAll(stderr, spool, childIn, stdin)
		return nil, ErrStart
	}
	p.stdin, p.stdout = stdin, stdout
	name := spec.Name
	if name == "" {
		name = spec.Path
	}
	p.cmd = &exec.Cmd{
		Path: spec.Path, Args: append([]string{name}, spec.Args...), Env: spec.Env, Dir: spec.Dir,
		Stdin: childIn, Stdout: childOut, Stderr: stderr,
	}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would inherit ours
	}
	p.group, err = startGroup(p.cmd)
	closeAll(childIn, childOut, stderr)
	if err != nil {
		closeAll(stdin, stdout, spool)
		return nil, ErrStart
	}
	go p.reap()
	return p, nil
}

func closeAll(list ...io.Closer) {
	for _, c := range list {
		_ = c.Close()
	}
}

// reap collects the child as soon as it dies, and ends what it left behind.
func (p *Process) reap() {
	p.group.waitLeader()
	p.group.kill() // before its number can be given to another
	_ = p.cmd.Wait()
	p.group.close()
	// A process that left the group may hold the pipes open: no longer than this.
	_ = p.stdout.SetReadDeadline(time.Now().Add(p.graces.Term))
	p.spool.finish(p.graces.Term)
	close(p.exited)
}

// Exited is closed when the child is dead and reaped.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Pid is the child's process id, which is also its group's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Read reads from the child's standard output.
func (p *Process) Read(b []byte) (int, error) { return p.stdout.Read(b) }

// Write writes to the child's standard input.
func (p *Process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// SetWriteDeadline bounds writes.
func (p *Process) SetWriteDeadline(t time.Time) error { return p.stdin.SetWriteDeadline(t) }

// Close stops the child and its group: it closes standard input, waits, sends
// TERM, waits, sends KILL, and waits. It returns when the child is reaped, or
// after the last grace if the kernel does not let it die.
func (p *Process) Close() error {
	p.once.Do(func() {
		_ = p.stdin.Close()
		if !p.wait(p.graces.Stdin) {
			p.group.terminate()
			if !p.wait(p.graces.Term) {
				p.group.kill()
				p.wait(p.graces.Kill)
			}
		}
		_ = p.stdout.Close()
	})
	return nil
}

// Stderr is what the child wrote to standard error, to be read after Close and
// to be closed by the caller.
func (p *Process) Stderr() *Spool { return p.spool }

func (p *Process) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}
