package soak

import (
	"bytes"
	"fmt"
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

// world is a repository whose servers are run, and the directories in which a
// command could leave something.
type world struct {
	*gittest.Repo
	home, temp string
	mark       string // in the environment of every server, and so of what it starts
}

const markVariable = "EVOLVE_SOAK_MARK"

// newWorld has one server of each of the given kinds.
func newWorld(t *testing.T, kinds ...string) *world {
	t.Helper()
	self, err := os.Executable()
	noError(t, err)
	w := &world{Repo: gittest.New(t), home: t.TempDir(), temp: t.TempDir()}
	w.mark = w.temp
	files := map[string]string{"agent.yaml": "capabilities: {defaults: {\"mcp.connect:*\": {scope: core}, \"mcp.call:*\": {scope: core}}}\n"}
	for _, kind := range kinds {
		files["agent/mcp/"+kind+".yaml"] = fmt.Sprintf("command: %s\nconnect_timeout_seconds: 60\nenv: {%s: %s, %s: %q}\n",
			self, fakeVariable, kind, markVariable, w.mark)
	}
	w.Commit(files, "servers")
	return w
}

// command is evolve on the world's servers, not yet started.
func (w *world) command(line string) *exec.Cmd {
	cmd := command(w.Repo, append(strings.Fields(line), "--home", w.home)...)
	cmd.Env = append(cmd.Env, "TMPDIR="+w.temp)
	return cmd
}

// nothingLeft checks that no process, no workspace and no temporary file is left.
func (w *world) nothingLeft(t *testing.T) {
	t.Helper()
	for _, pid := range w.processes(t) {
		line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		t.Errorf("process %s is left: %q", pid, line)
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL) // ours: it has our mark
		}
	}
	left, err := os.ReadDir(w.temp)
	noError(t, err)
	for _, e := range left {
		t.Errorf("%s is left in the directory for temporary files", e.Name())
	}
	noError(t, filepath.WalkDir(w.home, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".evolve-") {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}

// processes are those that have the world's mark in their environment.
func (w *world) processes(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	noError(t, err)
	var out []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(env, []byte(markVariable+"="+w.mark)) {
			out = append(out, e.Name())
		}
	}
	return out
}

// allApproved lists the flag for every server of the kinds.
func allApproved(kinds ...string) string {
	var b strings.Builder
	for _, k := range kinds {
		b.WriteString(" --approve-connect " + k)
	}
	return b.String()
}

// settings are a terminal's, as its programs see them.
func settings(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	noError(t, err)
	return *s
}

// An interrupt at a question, while a server does not answer and during a call ends the command with status 130,
// leaves nothing, and leaves the terminal as it was.
func TestInterruptsOfTheRuntime(t *testing.T) {
	for _, c := range []struct {
		name, line string
		kinds      []string
		until      string // what must stand on the screen before the interrupt
		typed      string
	}{
		{"at the question", "validate HEAD", []string{fakePlain}, "[y/N] ", "\x03"},
		{"at the second question", "tools HEAD", []string{fakePlain, fakeStubborn}, "Connect to stubborn?", "\x03"},
		{"while a server hangs", "validate HEAD -v" + allApproved(fakeSilent, fakePlain), []string{fakeSilent, fakePlain}, "plain: connected", "\x03"},
		{"during a call", "call plain__wait --rev HEAD --approve -v" + allApproved(fakePlain), []string{fakePlain}, "plain: connected", "\x03"},
		{"with a server that ignores signals", "validate HEAD" + allApproved(fakeSilent, fakeStubborn), []string{fakeSilent, fakeStubborn}, "stubborn: connected", "\x03"},
		{"at the question for a call", "call plain__wait --rev HEAD" + allApproved(fakePlain), []string{fakePlain}, "Call wait of plain?", "\x03"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.kinds...)
			status, screen := w.atTheTerminal(t, c.line, c.until, c.typed)
			if status != 130 || !strings.Contains(screen, "interrupted") {
				t.Errorf("exit status %d, want 130\n%s", status, screen)
			}
			w.nothingLeft(t)
		})
	}
}

// Whoever was to write the arguments of a call may never do it.
func TestInterruptWhileArgumentsAreAwaited(t *testing.T) {
	w := newWorld(t, fakePlain)
	cmd := w.command("call plain__wait - --rev HEAD" + allApproved(fakePlain))
	arguments, err := cmd.StdinPipe()
	noError(t, err)
	noError(t, cmd.Start())
	// More than a pipe holds: when it is written, evolve reads.
	_, err = arguments.Write(bytes.Repeat([]byte(" "), 1<<20))
	noError(t, err)
	noError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
	w.nothingLeft(t)
}

// A terminal that is closed is an interrupt too.
func TestTheTerminalIsClosed(t *testing.T) {
	w := newWorld(t, fakeSilent)
	cmd := w.command("validate HEAD" + allApproved(fakeSilent))
	running, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	waitForServer(t, w)
	noError(t, cmd.Process.Signal(syscall.SIGHUP))
	_, _ = new(bytes.Buffer).ReadFrom(running)
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
	w.nothingLeft(t)
}

// waitForServer returns when a server of the world runs.
func waitForServer(t *testing.T, w *world) {
	t.Helper()
	for len(w.processes(t)) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("no server was started")
		}
	}
}

// atTheTerminal runs evolve on a terminal, types once a text stands on the screen,
// and holds the terminal's settings to what they were.
func (w *world) atTheTerminal(t *testing.T, line, until, typed string) (status int, screen string) {
	t.Helper()
	master, slave := openTerminal(t)
	defer func() { _ = master.Close() }()
	before := settings(t, slave)
	cmd := w.command(line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	noError(t, cmd.Start())
	var seen bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	answered, asked := 0, false
	chunks := make(chan []byte)
	go func() {
		for {
			b := make([]byte, 4<<10)
			n, err := master.Read(b)
			if err != nil {
				close(chunks)
				return
			}
			chunks <- b[:n]
		}
	}()
	for running := true; running; {
		select {
		case b := <-chunks:
			seen.Write(b)
			tty := &terminal{t: t, master: master, cmd: cmd}
			switch {
			case !asked && strings.Contains(seen.String(), until):
				asked = true
				tty.write(typed)
			case !asked && strings.Count(seen.String(), "[y/N] ") > answered:
				answered++
				tty.write("y\n")
			}
		case <-done:
			running = false
		}
	}
	if settings(t, slave) != before {
		t.Error("the terminal has other settings than before")
	}
	noError(t, slave.Close())
	for b := range chunks {
		seen.Write(b)
	}
	return cmd.ProcessState.ExitCode(), seen.String()
}
