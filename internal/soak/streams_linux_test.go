package soak

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// nobodyReads is the writing end of a pipe whose reader is gone.
func nobodyReads(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	noError(t, err)
	noError(t, r.Close())
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// fullDevice takes no byte.
func fullDevice(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	noError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// When the output cannot be written, every command says so with the status for
// that, and has changed nothing.
func TestOutputThatNobodyTakes(t *testing.T) {
	g := newRepo(t)
	token := review(t, g, "main")
	for _, line := range []string{
		"diff live main", "lint", "lint main", "version", "doctor", "reviews list", "verify main --ref live --token " + token,
		"review main --ref live --approve", "promote main --ref live --approve --token " + token,
		"promote main --ref live --dry-run --token " + token,
	} {
		for _, format := range []string{"text", "json"} {
			cmd := command(g, append(strings.Fields(line), "--format", format)...)
			cmd.Stdout = nobodyReads(t)
			before := state(t, g)
			if r := run(t, cmd); r.status != 3 || !strings.Contains(r.stderr, "io_failed") {
				t.Errorf("%s, %s: exit status %d, want 3\n%s", line, format, r.status, r.stderr)
			}
			if state(t, g) != before {
				t.Errorf("%s, %s: refs, index or worktree changed", line, format)
			}
		}
	}
}

// A disk that fills up while the result is printed does not undo a move, and the
// message says that it was made.
func TestOutputThatFailsAfterTheMove(t *testing.T) {
	g := newRepo(t)
	token := review(t, g, "main")
	cmd := command(g, "promote", "main", "--ref", "live", "--approve", "--token", token)
	cmd.Stdout = fullDevice(t)
	r := run(t, cmd)
	if r.status != 3 || !strings.Contains(r.stderr, "moved to") {
		t.Errorf("exit status %d, want 3\n%s", r.status, r.stderr)
	}
	if g.Git("rev-parse", live) != g.Git("rev-parse", "main") {
		t.Error("live did not move")
	}
}

// At the prompt, whatever is no clear yes changes nothing.
func TestThePrompt(t *testing.T) {
	g := newRepo(t)
	token := review(t, g, "main")
	reviews := g.Git("for-each-ref", "refs/evolve")
	for _, c := range []struct {
		name, line, typed string
		status            int
	}{
		{"interrupt", "promote main --ref live --token " + token, "\x03", 130},
		{"interrupt in the middle of a word", "promote main --ref live --token " + token, "ye\x03", 130},
		{"end of input", "promote main --ref live --token " + token, "\x04", 1},
		{"no", "promote main --ref live --token " + token, "no\n", 1},
		{"empty", "promote main --ref live --token " + token, "\n", 1},
		{"another word", "promote main --ref live --token " + token, "yesterday\n", 1},
		{"interrupted review", "review main --ref live", "\x03", 130},
		{"refused review", "review main --ref live", "n\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := state(t, g)
			if status, screen := atTheTerminal(t, g, c.line, func(tty *terminal) { tty.write(c.typed) }); status != c.status {
				t.Errorf("exit status %d, want %d\n%s", status, c.status, screen)
			}
			if state(t, g) != before || g.Git("for-each-ref", "refs/evolve") != reviews {
				t.Error("something was written")
			}
		})
	}
	t.Run("terminated", func(t *testing.T) {
		before := state(t, g)
		status, screen := atTheTerminal(t, g, "promote main --ref live --token "+token, func(tty *terminal) {
			_ = tty.cmd.Process.Signal(syscall.SIGTERM)
		})
		if status != 130 {
			t.Errorf("exit status %d, want 130\n%s", status, screen)
		}
		if state(t, g) != before {
			t.Error("something was written")
		}
	})
	t.Run("yes", func(t *testing.T) {
		status, screen := atTheTerminal(t, g, "promote main --ref live --token "+token, func(tty *terminal) { tty.write("Yes\n") })
		if status != 0 || g.Git("rev-parse", live) != g.Git("rev-parse", "main") {
			t.Errorf("exit status %d, and live is at %s\n%s", status, g.Git("rev-parse", live), screen)
		}
	})
	left, err := filepath.Glob(g.Path(".git/evolve/claims/*"))
	noError(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// terminal is a pseudo-terminal on which one evolve runs.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
}

func (tty *terminal) write(s string) {
	tty.t.Helper()
	_, err := io.WriteString(tty.master, s)
	noError(tty.t, err)
}

// atTheTerminal runs evolve on a terminal, acts once it asks, and returns the
// exit status and what stood on the screen.
func atTheTerminal(t *testing.T, g *gittest.Repo, line string, act func(*terminal)) (status int, screen string) {
	t.Helper()
	master, slave := openTerminal(t)
	defer func() { _ = master.Close() }()
	cmd := command(g, strings.Fields(line)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	noError(t, cmd.Start())
	noError(t, slave.Close())
	tty := &terminal{t: t, master: master, cmd: cmd}
	var seen bytes.Buffer
	buffer := make([]byte, 4<<10)
	for asked := false; ; {
		n, err := master.Read(buffer)
		seen.Write(buffer[:n])
		if !asked && bytes.Contains(seen.Bytes(), []byte("[y/N] ")) {
			asked = true
			act(tty)
		}
		if err != nil {
			break // the last one that had the terminal open is gone
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), seen.String()
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	noError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	noError(t, err)
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	noError(t, err)
	return master, slave
}
