//go:build bench

package bench

import (
	"bytes"
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
	// before runs, not timed, before each run.
	before func()
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
	seen := make([][]cost, len(all))
	for n := range runs() + 2 {
		for i, w := range all {
			c := w.once(t, r)
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

func (w work) once(t *testing.T, r *repo) cost {
	t.Helper()
	cmd := exec.Command(w.path, w.args...)
	cmd.Dir, cmd.Env = r.dir, append(slices.Clone(r.env), w.env...)
	if w.stdin != nil {
		cmd.Stdin = bytes.NewReader(w.stdin)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	noError(t, err)
	defer func() { _ = out.Close() }()
	cmd.Stdout = out
	if w.before != nil {
		w.before()
	}
	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if err != nil {
		t.Fatalf("%s: %v\n%s", w.name, err, stderr.Bytes())
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no resource usage here")
	}
	return cost{wall: wall, peak: int64(usage.Maxrss)}
}

func (c cost) String() string {
	return fmt.Sprintf("%.1f ms, %.1f MB", float64(c.wall.Microseconds())/1000, float64(c.peak)/1024)
}

func ratio(a, b cost) float64 { return float64(a.wall) / float64(b.wall) }
