//go:build soak

package soak

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// scale is SOAK_SCALE: 1 is the full run.
func scale(t *testing.T) float64 {
	t.Helper()
	text := os.Getenv("SOAK_SCALE")
	if text == "" {
		return 1
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f <= 0 {
		t.Fatalf("SOAK_SCALE is %q, want a number above 0", text)
	}
	return f
}

// times is how often something is done at the present scale.
func times(t *testing.T, full int) int {
	t.Helper()
	return max(1, int(float64(full)*scale(t)))
}

// results collects the rows of docs/soak.md.
var results struct {
	sync.Mutex
	rows []string
}

// record notes one row of the results, and prints it.
func record(t *testing.T, what, outcome string) {
	t.Helper()
	t.Logf("%s: %s", what, outcome)
	verdict := "held"
	if t.Failed() {
		verdict = "**failed**"
	}
	results.Lock()
	defer results.Unlock()
	results.rows = append(results.rows, fmt.Sprintf("| %s | %s | %s |", what, outcome, verdict))
}

const resultsHead = `# Soak results

Written by ` + "`make soak`" + `, which runs the built evolve as its users do: many at once, killed at random moments, on a
full disk. Do not edit; run it again. ` + "`SOAK_SCALE=0.05 make soak`" + ` is the short run of CI and leaves this file alone.

`

// writeResults replaces the file that SOAK_RESULTS names, after a full run.
func writeResults(started time.Time) error {
	path := os.Getenv("SOAK_RESULTS")
	if path == "" || len(results.rows) == 0 {
		return nil
	}
	say := func(args ...string) string {
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	text := resultsHead + fmt.Sprintf("* commit: `%s`\n* date: %s, %s\n* machine: %s/%s, %d CPUs, %s, %s\n\n",
		say("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"),
		started.UTC().Format("2006-01-02 15:04 UTC"), "took "+time.Since(started).Round(time.Second).String(),
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), say("git", "--version"))
	text += "| what | outcome | verdict |\n|---|---|---|\n" + strings.Join(results.rows, "\n") + "\n"
	return os.WriteFile(path, []byte(text), 0o644)
}

func init() {
	started := time.Now()
	atEnd = func() error { return writeResults(started) }
}
