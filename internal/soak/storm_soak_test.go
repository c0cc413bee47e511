//go:build soak

package soak

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// line is what is read of a line of the audit log.
type line struct {
	Ref, Old, New, Verdict, Code, Who string
	Recovered                         bool
}

// audit reads the whole lines of the log and counts the damaged ones.
func audit(t testing.TB, g *gittest.Repo) (lines []line, damaged int) {
	t.Helper()
	data, err := os.ReadFile(g.Path(".git/evolve/audit.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && l.Ref != "" {
			lines = append(lines, l)
		} else if strings.TrimSpace(text) != "" {
			damaged++
		}
	}
	return lines, damaged
}

// moves counts the lines that say that live moved from old to new.
func moves(lines []line, old, new string) (all, recovered int) {
	for _, l := range lines {
		if l.Verdict == "moved" && l.Ref == live && l.Old == old && l.New == new {
			all++
			if l.Recovered {
				recovered++
			}
		}
	}
	return all, recovered
}

// packLoop rewrites packed-refs without a pause until it is stopped, and says how
// often it did.
func packLoop(g *gittest.Repo) (stop func() int) {
	end, done := make(chan struct{}), make(chan int)
	env := g.Env() // commits change it meanwhile
	go func() {
		n := 0
		for {
			select {
			case <-end:
				done <- n
				return
			default:
			}
			cmd := exec.Command("git", "pack-refs", "--all", "--prune")
			cmd.Dir, cmd.Env = g.Dir(), env
			if cmd.Run() == nil { // it loses against a lock now and then
				n++
			}
		}
	}()
	return func() int { close(end); return <-done }
}

// hookModes are what may run in the ref transaction.
var hookModes = []struct {
	name    string
	install func(t *testing.T, g *gittest.Repo)
}{
	{"no hook", func(*testing.T, *gittest.Repo) {}},
	{"a hook that accepts", func(t *testing.T, g *gittest.Repo) {
		t.Helper()
		noError(t, os.WriteFile(g.Path(".git/hooks/reference-transaction"), []byte("#!/bin/sh\ncat >/dev/null\n"), 0o755))
	}},
	{"evolve's own hook", func(t *testing.T, g *gittest.Repo) {
		t.Helper()
		g.Git("config", "evolve.guard", live)
		g.Git("config", "core.hooksPath", ".git/guard")
		noError(t, os.Mkdir(g.Path(".git/guard"), 0o755))
		text := "#!/bin/sh\nexec '" + evolveProgram + "-hook' reference-transaction \"$@\"\n"
		noError(t, os.WriteFile(g.Path(".git/guard/reference-transaction"), []byte(text), 0o755))
		if _, err := g.Try("", "update-ref", live, "HEAD"); err == nil {
			t.Fatal("the hook does not guard live")
		}
	}},
}

const stormProcesses = 8

// Of 8 processes that promote with one token at once, beside a loop that packs
// refs, exactly one moves the ref; the others are told, and the log says so.
func TestStorm(t *testing.T) {
	for _, mode := range hookModes {
		t.Run(mode.name, func(t *testing.T) {
			g := newRepo(t)
			var many strings.Builder
			for i := range 200 { // so that packing takes a while
				fmt.Fprintf(&many, "create refs/heads/other/%d HEAD\n", i)
			}
			g.GitInput(many.String(), "update-ref", "--stdin")
			g.Git("pack-refs", "--all")
			mode.install(t, g)
			rounds := times(t, 200)
			statuses := map[int]int{}
			stop := packLoop(g)
			for round := range rounds {
				stormRound(t, g, round, statuses)
				if t.Failed() {
					break
				}
			}
			packed := stop()
			noLocks(t, g)
			record(t, fmt.Sprintf("%d processes promote with one token, %d rounds, beside `git pack-refs` (%d times), %s",
				stormProcesses, rounds, packed, mode.name),
				fmt.Sprintf("%d moved the ref, %d were refused with status 4 or 5, %d came late and found it moved; one audit line a move",
					statuses[0], statuses[4]+statuses[5], stormProcesses*rounds-statuses[0]-statuses[4]-statuses[5]))
		})
	}
}

// stormRound is one change, reviewed once and promoted by many.
func stormRound(t *testing.T, g *gittest.Repo, round int, statuses map[int]int) {
	t.Helper()
	if round > 0 {
		g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration(round + 1)}, "change")
	}
	token := review(t, g, "main")
	old, want := g.Git("rev-parse", live), g.Git("rev-parse", "main")
	before, _ := audit(t, g)
	reflog := strings.Count(g.Git("reflog", live), "\n")
	all := make([]result, stormProcesses)
	var ready, done sync.WaitGroup
	ready.Add(stormProcesses)
	for i := range all {
		done.Go(func() {
			cmd := command(g, "promote", want, "--ref", "live", "--token", token, "--approve")
			ready.Done()
			ready.Wait()
			all[i] = run(t, cmd)
		})
	}
	done.Wait()
	won := 0
	for _, r := range all {
		statuses[r.status]++
		switch r.status {
		case 0:
			won++
		case 4, 5:
		default:
			t.Errorf("round %d: exit status %d\n%s", round, r.status, r.stderr)
		}
		if r.status == 0 && !strings.Contains(r.stdout, " moved ") {
			won-- // it came late, and found the ref at its place
			statuses[0]--
		}
	}
	after, damaged := audit(t, g)
	n, recovered := moves(after, old, want)
	if now := g.Git("rev-parse", live); now != want || won != 1 {
		t.Errorf("round %d: %d processes moved the ref; it went from %s to %s, want %s", round, won, old, now, want)
	}
	if n != 1 || recovered != 0 || damaged != 0 || len(after)-len(before) > stormProcesses {
		t.Errorf("round %d: %d audit lines of the move (%d recovered, %d damaged), %d lines in all",
			round, n, recovered, damaged, len(after)-len(before))
	}
	if now := strings.Count(g.Git("reflog", live), "\n"); now != reflog+1 {
		t.Errorf("round %d: %d new reflog entries, want 1", round, now-reflog)
	}
}

// noLocks checks that nothing is left that a person would have to remove.
func noLocks(t *testing.T, g *gittest.Repo) {
	t.Helper()
	noError(t, filepath.WalkDir(g.Dir(), func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}
