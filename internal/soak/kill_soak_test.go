//go:build soak

package soak

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// killSeed makes the moments of the kills the same in every run, as far as a
// machine's timing is.
const killSeed = 20260301

// killed counts what was found after the kills.
type killed struct {
	old, written, recovered, late, finished int
}

// A promotion that is killed at any moment leaves the old ref or the new one;
// the next command works, and writes down a move that was made and not written.
func TestKill(t *testing.T) {
	for _, mode := range hookModes {
		t.Run(mode.name, func(t *testing.T) {
			g := newRepo(t)
			mode.install(t, g)
			rounds := times(t, 300)
			random := rand.New(rand.NewPCG(killSeed, uint64(len(mode.name))))
			var k killed
			longest := timeOne(t, g)
			for round := 0; round < rounds+k.finished && round < 3*rounds; round++ {
				g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration(1000 + round)}, "change")
				delay := moment(random, longest, round)
				took, dead := killRound(t, g, delay, &k)
				if dead {
					longest += longest / 50
				} else {
					longest = took
				}
				if t.Failed() {
					t.Fatalf("in round %d, killed after %v", round, delay)
				}
			}
			record(t, fmt.Sprintf("SIGKILL at a random moment of a promotion, %d times, %s", k.old+k.written+k.recovered, mode.name), fmt.Sprintf(
				"%d left the old ref, %d the new one with its audit line, %d the new one whose line the next command wrote, "+
					"%d moves were made by git after its evolve was dead; %d more promotions ended before the kill",
				k.old, k.written, k.recovered, k.late, k.finished))
		})
	}
}

// moment is when to kill: anywhere, and every other time in the last part, where
// the ref moves.
func moment(random *rand.Rand, longest time.Duration, round int) time.Duration {
	if round%2 == 0 {
		return time.Duration(random.Int64N(int64(longest)))
	}
	const lastPart = 4
	return longest - time.Duration(random.Int64N(int64(longest/lastPart)))
}

// timeOne is how long a promotion takes that nobody kills.
func timeOne(t *testing.T, g *gittest.Repo) time.Duration {
	t.Helper()
	token := review(t, g, "main")
	start := time.Now()
	mustRun(t, g, "promote", "main", "--ref", "live", "--token", token, "--approve")
	return time.Since(start)
}

func killRound(t *testing.T, g *gittest.Repo, delay time.Duration, k *killed) (took time.Duration, dead bool) {
	t.Helper()
	token := review(t, g, "main")
	old, want := g.Git("rev-parse", live), g.Git("rev-parse", "main")
	args := []string{"promote", want, "--ref", "live", "--token", token, "--approve"}
	start := time.Now()
	dead = killAfter(t, command(g, args...), delay)
	took = time.Since(start)
	if !dead {
		k.finished++
	}
	before := g.Git("rev-parse", live)
	if before != old && before != want {
		t.Errorf("the ref is at %s, neither %s nor %s", before, old, want)
	}
	lines, _ := audit(t, g)
	written, _ := moves(lines, old, want)
	next := run(t, command(g, args...))
	switch {
	case next.status == 0:
	case next.status == 5 && before == old && g.Git("rev-parse", live) == want:
		k.late++ // the dead evolve's git was still at it
		next = run(t, command(g, args...))
	}
	if next.status != 0 {
		t.Errorf("the next command: exit status %d\n%s", next.status, next.stderr)
	}
	switch {
	case !dead:
	case before == old:
		k.old++
	case written > 0:
		k.written++
	default:
		k.recovered++
	}
	checkAfterKill(t, g, old, want)
	return took, dead
}

// checkAfterKill holds the state after the next command.
func checkAfterKill(t *testing.T, g *gittest.Repo, old, want string) {
	t.Helper()
	if now := g.Git("rev-parse", live); now != want {
		t.Errorf("the ref is at %s after the next command, want %s", now, want)
	}
	lines, damaged := audit(t, g)
	if n, _ := moves(lines, old, want); n != 1 || damaged != 0 {
		t.Errorf("%d audit lines of the move, %d damaged lines", n, damaged)
	}
	for _, l := range lines {
		if l.Verdict == "moved" && l.Who == "" {
			t.Errorf("a move by nobody: %+v", l)
		}
	}
	noLocks(t, g)
	if r := run(t, command(g, "doctor")); strings.Contains(r.stdout, "ref_moved") {
		t.Errorf("doctor:\n%s", r.stdout)
	}
}

// killAfter starts a program and kills it, not its children, after a while. It
// reports whether the kill ended it.
func killAfter(t *testing.T, cmd *exec.Cmd, delay time.Duration) bool {
	t.Helper()
	noError(t, cmd.Start())
	timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
