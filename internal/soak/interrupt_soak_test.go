//go:build soak && linux

package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Commands that run servers are interrupted at any moment: no process, no
// workspace and no temporary file is left, and the terminal is as it was.
func TestInterruptServers(t *testing.T) {
	kinds := []string{fakeParent, fakePlain, fakeSilent, fakeStubborn}
	approved := allApproved(kinds...)
	for _, c := range []struct{ name, line string }{
		{"validate", "validate HEAD" + approved},
		{"call", "call plain__wait --rev HEAD --approve" + approved},
		{"promote --validate", "promote main --ref live --approve --validate --rollback-on-failure" + approved},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, kinds...)
			w.Git("update-ref", "--create-reflog", live, "HEAD")
			rounds := times(t, 100)
			random := rand.New(rand.NewPCG(killSeed, uint64(len(c.name))))
			statuses := map[int]int{}
			for round := range rounds {
				if c.name == "promote --validate" {
					w.Commit(map[string]string{"readme": fmt.Sprint(round)}, "change")
				}
				statuses[interruptRound(t, w, c.line, random, round)]++
				w.nothingLeft(t)
				w.sameStory(t)
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
			record(t, fmt.Sprintf("`%s` on four servers, one of them deaf to signals, interrupted at a random moment, %d times", c.name, rounds),
				fmt.Sprintf("%d ended with status 130, %d before evolve was there to end itself; no process, workspace or temporary file left, the terminal restored",
					statuses[130], statuses[-1]))
		})
	}
}

// interruptAfter is the longest time before an interrupt: starting four servers
// takes a fraction of it.
const interruptAfter = time.Second

// interruptRound runs a command on a terminal and interrupts it, with each signal
// in turn. It returns the exit status: -1 if the signal came before evolve could
// catch it, while nothing was started yet.
func interruptRound(t *testing.T, w *world, line string, random *rand.Rand, round int) int {
	t.Helper()
	master, slave := openTerminal(t)
	defer func() { _ = master.Close() }()
	defer func() { _ = slave.Close() }()
	before := settings(t, slave)
	cmd := w.command(line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	noError(t, cmd.Start())
	screen := collect(master)
	delay := time.Duration(random.Int64N(int64(interruptAfter)))
	signal := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}[round%3]
	timer := time.AfterFunc(delay, func() { _ = cmd.Process.Signal(signal) })
	defer timer.Stop()
	_ = cmd.Wait()
	status := cmd.ProcessState.ExitCode()
	if settings(t, slave) != before {
		t.Errorf("%v after %v: the terminal has other settings than before", signal, delay)
	}
	if status != 130 && status != -1 {
		_ = slave.Close()
		t.Errorf("%v after %v: exit status %d\n%s", signal, delay, status, <-screen)
	}
	return status
}

// collect reads a terminal to its end.
func collect(master *os.File) <-chan string {
	out := make(chan string, 1)
	go func() {
		var seen strings.Builder
		buffer := make([]byte, 4<<10)
		for {
			n, err := master.Read(buffer)
			seen.Write(buffer[:n])
			if err != nil {
				out <- seen.String()
				return
			}
		}
	}()
	return out
}

// sameStory holds the ref to the last move of the audit log.
func (w *world) sameStory(t *testing.T) {
	t.Helper()
	lines, damaged := audit(t, w.Repo)
	last := ""
	for _, l := range lines {
		if l.Verdict == "moved" {
			last = l.New
		}
	}
	if now := w.Git("rev-parse", live); damaged != 0 || last != "" && now != last {
		t.Errorf("live is at %s, and the log's last move was to %s; %d damaged lines", now, last, damaged)
	}
}
