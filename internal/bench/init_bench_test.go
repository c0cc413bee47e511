//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// initialisation sums what a program's packages spend before main, and names the
// most expensive.
func initialisation(t *testing.T, w work) string {
	t.Helper()
	cmd := exec.Command(w.path, w.args...)
	cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=/nonexistent"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	type row struct {
		name string
		ms   float64
	}
	var rows []row
	total := 0.0
	for line := range strings.Lines(stderr.String()) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		f := strings.Fields(line)
		if len(f) < 6 || f[0] != "init" {
			continue
		}
		ms, err := strconv.ParseFloat(f[4], 64)
		noError(t, err)
		total += ms
		rows = append(rows, row{f[1], ms})
	}
	slices.SortFunc(rows, func(a, b row) int { return int(1e6*b.ms) - int(1e6*a.ms) })
	var most []string
	for _, r := range rows[:min(3, len(rows))] {
		most = append(most, fmt.Sprintf("%s %.2f", r.name, r.ms))
	}
	return fmt.Sprintf("%.2f ms; most: %s", total, strings.Join(most, ", "))
}
