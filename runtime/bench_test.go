package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"testing"
)

// BenchmarkDiscovery64 prepares a catalog of 64 trivial servers, each a process,
// four at a time, and closes it.
func BenchmarkDiscovery64(b *testing.B) {
	files := map[string]string{}
	for i := range 64 {
		files[fmt.Sprintf("s%02d.yaml", i)] = program("plain")
	}
	w := newWorld(b, files)
	turn := w.turn()
	for b.Loop() {
		c, err := w.host.Prepare(b.Context(), turn)
		if err != nil || len(c.Tools()) != 64*5 {
			b.Fatalf("%v, %d tools", err, len(c.Tools()))
		}
		b.StopTimer()
		w.host.EvictSession(turn.Session)
		b.StartTimer()
	}
}

// BenchmarkDiscovery64InMemory is what of it is our own time.
func BenchmarkDiscovery64InMemory(b *testing.B) {
	files := map[string]string{}
	for i := range 64 {
		files[fmt.Sprintf("s%02d.yaml", i)] = "command: x\n"
	}
	w := newWorld(b, files, memory(nil))
	turn := w.turn()
	for b.Loop() {
		if _, err := w.host.Prepare(b.Context(), turn); err != nil {
			b.Fatal(err)
		}
		w.host.EvictSession(turn.Session)
	}
}

// BenchmarkCall makes calls over one connection to a process.
func BenchmarkCall(b *testing.B) {
	w := newWorld(b, map[string]string{"docs.yaml": program("plain", "approval_policy: auto")})
	turn := w.turn()
	c, err := w.host.Prepare(b.Context(), turn)
	if err != nil {
		b.Fatal(err)
	}
	ref, _ := c.Resolve("docs__echo")
	args := json.RawMessage(`{"message":"hello"}`)
	for b.Loop() {
		if r := w.host.Call(b.Context(), turn, ref, args); r.Status != Succeeded {
			b.Fatalf("%+v", r)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkHugeResult is a call whose result is just below the largest message.
func BenchmarkHugeResult(b *testing.B) {
	w := newWorld(b, map[string]string{"docs.yaml": program("large", "approval_policy: auto")})
	turn := w.turn()
	c, err := w.host.Prepare(context.Background(), turn)
	if err != nil {
		b.Fatal(err)
	}
	ref, _ := c.Resolve("docs__echo")
	b.ReportAllocs()
	var peak uint64
	for b.Loop() {
		if r := w.host.Call(b.Context(), turn, ref, nil); r.Status != Succeeded {
			b.Fatalf("%+v", r)
		}
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}
	b.ReportMetric(float64(peak)/(1<<20), "MiB-heap")
}
