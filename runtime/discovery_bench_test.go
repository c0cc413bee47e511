//go:build bench

package runtime

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Each measurement is made this often, in turns, and its median is kept.
const benchRuns = 5

// TestBench measures the host beside the same processes started by hand, four
// at a time, and writes docs/benchmarks-runtime.md if BENCH_RUNTIME_RESULTS
// names it.
func TestBench(t *testing.T) {
	modules := filepath.Join(install(t), "node_modules")
	load := "unknown"
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	var rows []string
	row := func(cells ...string) { rows = append(rows, "| "+strings.Join(cells, " | ")+" |") }

	real, trivial := map[string]string{}, map[string]string{}
	for i := range 8 {
		real[fmt.Sprintf("s%d.yaml", i)] = peer(modules, "everything")
	}
	for i := range 64 {
		trivial[fmt.Sprintf("s%02d.yaml", i)] = program("plain")
	}
	everything := filepath.Join(modules, "@modelcontextprotocol/server-everything/dist/index.js")
	for _, b := range []struct {
		name    string
		files   map[string]string
		command func() *exec.Cmd
	}{
		{"discover 8 x server-everything", real, func() *exec.Cmd { return exec.CommandContext(t.Context(), "node", everything) }},
		{"discover 64 trivial servers", trivial, func() *exec.Cmd {
			self, _ := os.Executable()
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), "EVOLVE_TEST_SERVER=plain")
			return cmd
		}},
	} {
		w := newWorld(t, b.files)
		turn := w.turn()
		var ours, byHand []time.Duration
		for range benchRuns {
			start := time.Now()
			c := w.prepare(turn)
			ours = append(ours, time.Since(start))
			for _, s := range c.Servers() {
				if s.State != Connected {
					t.Fatalf("%+v", s)
				}
			}
			w.host.EvictSession(turn.Session)
			byHand = append(byHand, startByHand(t, len(b.files), b.command))
		}
		row(b.name, median(ours).String(), median(byHand).String(), fmt.Sprintf("%.2f", float64(median(ours))/float64(median(byHand))))
	}
	text := fmt.Sprintf(`# Benchmarks of the host runtime

Written by `+"`make bench`"+`: the host beside the same processes started by hand, four at a time, in turns, in one run; the
median of %d. By hand means: start, initialize, list tools, nothing else. What counts are the ratios; the times move with the
machine and with what else it does. Do not edit; run it again.

* machine: %s/%s, %d CPUs, %s
* load average before the run: %s

| work | host | by hand | ratio |
|---|---|---|---|
%s

| one connection | |
|---|---|
%s`, benchRuns, goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), goruntime.Version(), load, strings.Join(rows, "\n"), oneConnection(t))
	t.Log(text)
	if path := os.Getenv("BENCH_RUNTIME_RESULTS"); path != "" && !t.Failed() {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // documentation
			t.Fatal(err)
		}
	}
}

func oneConnection(t *testing.T) string {
	calls := testing.Benchmark(BenchmarkCall)
	huge := testing.Benchmark(BenchmarkHugeResult)
	if calls.N == 0 || huge.N == 0 {
		t.Error("a benchmark failed")
	}
	return fmt.Sprintf("| calls per second | %.0f |\n| a result of 7 MiB: time | %v |\n| largest heap meanwhile | %.0f MiB |\n",
		calls.Extra["calls/s"], time.Duration(huge.NsPerOp()).Round(time.Millisecond), huge.Extra["MiB-heap"])
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2].Round(time.Millisecond)
}

// startByHand does the least that discovery needs.
func startByHand(t *testing.T, n int, command func() *exec.Cmd) time.Duration {
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	var stop []func()
	var mu sync.Mutex
	start := time.Now()
	for range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			end, err := byHand(command())
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			stop = append(stop, end)
			mu.Unlock()
		})
	}
	wg.Wait()
	took := time.Since(start)
	for _, end := range stop {
		end()
	}
	return took
}

func byHand(cmd *exec.Cmd) (end func(), err error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	ask := func(id int, line string) error {
		if _, err := fmt.Fprintln(in, line); err != nil {
			return err
		}
		for {
			answer, err := lines.ReadBytes('\n')
			if err != nil {
				return err
			}
			var m struct {
				ID int `json:"id"`
			}
			if json.Unmarshal(answer, &m) == nil && m.ID == id {
				return nil
			}
		}
	}
	if err := ask(1, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}`); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return nil, err
	}
	if err := ask(2, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); err != nil {
		return nil, err
	}
	return func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}
