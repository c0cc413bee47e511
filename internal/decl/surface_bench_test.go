package decl_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

// remembered is a tree whose listings cost nothing, so that a benchmark measures
// what reads it.
type remembered struct {
	*decltest.Tree
	lists map[string][]decl.Entry
}

func (r remembered) List(ctx context.Context, dir string) ([]decl.Entry, error) {
	if known, ok := r.lists[dir]; ok {
		return known, nil
	}
	list, err := r.Tree.List(ctx, dir)
	if err == nil {
		r.lists[dir] = list
	}
	return list, err
}

// compareTrees measures loading both surfaces and comparing them.
func compareTrees(b *testing.B, before, after *decltest.Tree, want int) {
	b.Helper()
	x, y := remembered{before, map[string][]decl.Entry{}}, remembered{after, map[string][]decl.Entry{}}
	run := func() int {
		s, err := decl.LoadSurface(b.Context(), x, decl.Options{})
		if err != nil {
			b.Fatal(err)
		}
		t, err := decl.LoadSurface(b.Context(), y, decl.Options{})
		if err != nil {
			b.Fatal(err)
		}
		list, err := decl.Compare(b.Context(), s, t)
		if err != nil {
			b.Fatal(err)
		}
		return len(list)
	}
	if got := run(); got != want {
		b.Fatalf("%d items differ, want %d", got, want)
	}
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}

// serverText is a declaration of the common kind.
func serverText(i, version int) string {
	return fmt.Sprintf("# Server %d\ncommand: npx\nargs: [\"-y\", \"@acme/server-%d@1.%d.0\", \"--region\", \"eu\"]\nenv:\n  API_TOKEN: \"${API_TOKEN_%d}\"\n"+
		"  LOG_LEVEL: info\nrisk: low\ntimeout_seconds: 30\n", i, i, version, i)
}

// BenchmarkDeclarations: 1,000 declarations, all of which changed.
func BenchmarkDeclarations(b *testing.B) {
	const n = 1000
	before := decltest.Files(map[string]string{"package.json": "{}", "README": "x"})
	after := before.Clone()
	for i := range n {
		path := fmt.Sprintf("agent/mcp/server-%04d.yaml", i)
		before.Put(path, decl.ModeRegular, serverText(i, 1))
		after.Put(path, decl.ModeRegular, serverText(i, 2))
	}
	compareTrees(b, before, after, n)
}

// BenchmarkDecodeAlone decodes the 2,000 texts of BenchmarkDeclarations to nodes, on
// all processors, and does nothing with them: what the library costs a report.
func BenchmarkDecodeAlone(b *testing.B) {
	const n = 1000
	texts := make([]string, 0, 2*n)
	for i := range n {
		texts = append(texts, serverText(i, 1), serverText(i, 2))
	}
	b.ReportAllocs()
	for b.Loop() {
		var workers sync.WaitGroup
		for w := range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for i := w; i < len(texts); i += runtime.GOMAXPROCS(0) {
					var node yaml.Node
					if err := yaml.Unmarshal([]byte(texts[i]), &node); err != nil {
						b.Error(err)
					}
				}
			})
		}
		workers.Wait()
	}
}

// BenchmarkLaunchedDirectory: one launched directory of 5,000 files, of which one
// changed.
func BenchmarkLaunchedDirectory(b *testing.B) {
	before := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: node\nargs: [srv/index.js]\n", "srv/index.js": "require('./d00/f00')"})
	for i := range 5000 {
		before.Put(fmt.Sprintf("srv/d%02d/f%02d", i/100, i%100), decl.ModeRegular, fmt.Sprint(i))
	}
	after := before.Clone()
	after.Put("srv/d07/f07", decl.ModeRegular, "changed")
	compareTrees(b, before, after, 1)
}

// BenchmarkLaunchedDirectoryOfMany: 200 declarations that launch the same 5,000
// files.
func BenchmarkLaunchedDirectoryOfMany(b *testing.B) {
	before := decltest.Files(nil)
	for i := range 200 {
		before.Put(fmt.Sprintf("agent/mcp/s%03d.yaml", i), decl.ModeRegular, fmt.Sprintf("command: node\nargs: [srv/index.js, --port, \"%d\"]\n", i+8000))
	}
	before.Put("srv/index.js", decl.ModeRegular, "1")
	for i := range 5000 {
		before.Put(fmt.Sprintf("srv/d%02d/f%02d", i/100, i%100), decl.ModeRegular, fmt.Sprint(i))
	}
	after := before.Clone()
	after.Put("srv/d07/f07", decl.ModeRegular, "changed")
	compareTrees(b, before, after, 1)
}
