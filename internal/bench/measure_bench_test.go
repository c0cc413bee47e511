//go:build bench

package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// binaries is where TestMain built the programs.
var binaries string

func program(name string) string { return filepath.Join(binaries, name) }

// work is one program with its arguments.
type work struct {
	name  string
	path  string
	args  []string
	stdin []byte
	env   []string
	repo  *repo // nil for that of measure
	// before runs, not timed, before each run.
	before func(*testing.T)
}

// cost is what one piece of work took.
type cost struct {
	wall time.Duration
	// peak is the largest resident set of the program or a child of it, in KiB.
	peak int64
}

// runs is how often each piece of work is done.
func runs() int {
	if n, err := strconv.Atoi(os.Getenv("BENCH_RUNS")); err == nil && n > 0 {
		return n
	}
	return 21
}

// measure does pieces of work in turns, so that what else the machine does
// falls on all of them, and returns the medians.
func measure(t *testing.T, r *repo, all ...work) []cost {
	t.Helper()
	syscall.Sync() // what was made before is not written out beside the runs
	seen := make([][]cost, len(all))
	for n := range runs() + 2 {
		for i, w := range all {
			at := r
			if w.repo != nil {
				at = w.repo
			}
			c := w.once(t, at)
			if n >= 2 { // the first two warm the caches
				seen[i] = append(seen[i], c)
			}
		}
	}
	out := make([]cost, len(all))
	for i := range all {
		out[i] = median(seen[i])
	}
	return out
}

func median(all []cost) cost {
	slices.SortFunc(all, func(a, b cost) int { return int(a.wall - b.wall) })
	c := all[len(all)/2]
	slices.SortFunc(all, func(a, b cost) int { return int(a.peak - b.peak) })
	c.peak = all[len(all)/2].peak
	return c
}

// timerVariable makes this test's program run one piece of work and print what it
// cost. A child's largest resident set begins with that of the program that
// starts it (Linux counts what a vfork shares), so it is started from a small one.
const timerVariable = "EVOLVE_BENCH_TIMER"

// timed is what the timer is told.
type timed struct {
	Path, Dir string
	Args, Env []string
	Stdin     []byte
}

// timer reads what it is told from its standard input.
func timer() int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var w timed
	if err := json.NewDecoder(os.Stdin).Decode(&w); err != nil {
		return fail(err)
	}
	cmd := exec.Command(w.Path, w.Args...)
	cmd.Dir, cmd.Env, cmd.Stderr = w.Dir, w.Env, os.Stderr
	if w.Stdin != nil {
		cmd.Stdin = bytes.NewReader(w.Stdin)
	}
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return fail(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fail(errors.New("no resource usage here"))
	}
	fmt.Println(int64(wall), usage.Maxrss)
	return 0
}

func (w work) once(t *testing.T, r *repo) cost {
	t.Helper()
	told, err := json.Marshal(timed{Path: w.path, Dir: r.dir, Args: w.args, Env: append(slices.Clone(r.env), w.env...), Stdin: w.stdin})
	noError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), timerVariable+"=1")
	cmd.Stdin = bytes.NewReader(told)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if w.before != nil {
		w.before(t)
	}
	out, err := cmd.Output()
	var c cost
	if err == nil {
		_, err = fmt.Sscan(string(out), &c.wall, &c.peak)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", w.name, err, stderr.Bytes())
	}
	return c
}

func (c cost) String() string {
	return fmt.Sprintf("%.1f ms, %.1f MB", float64(c.wall.Microseconds())/1000, float64(c.peak)/1024)
}

func ratio(a, b cost) float64 { return float64(a.wall) / float64(b.wall) }
