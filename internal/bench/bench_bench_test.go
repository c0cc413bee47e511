//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(byHandVariable) != "" {
		os.Exit(byHand())
	}
	dir, err := os.MkdirTemp("", "evolve-bench-")
	if err == nil {
		binaries = dir
		build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", dir+"/", "../../cmd/...")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		err = build.Run()
	}
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// gateShapes differ in what a gate must be flat in.
var gateShapes = []shape{
	{name: "28,000 objects", objects: 28_000},
	{name: "28,000 objects, 100 packs", objects: 28_000, packs: 100},
	{name: "322,000 objects", objects: 322_000},
	{name: "1,160,000 objects", objects: 1_160_000},
	{name: "1,160,000 objects, 100 packs", objects: 1_160_000, packs: 100},
	{name: "1,160,000 objects through alternates", objects: 1_160_000, shared: true},
	{name: "28,000 objects, 200,000 refs", objects: 28_000, refs: 200_000},
}

// table collects rows of the results.
type table struct{ text strings.Builder }

func (b *table) row(cells ...string) { fmt.Fprintf(&b.text, "| %s |\n", strings.Join(cells, " | ")) }

func (b *table) head(title string, cells ...string) {
	fmt.Fprintf(&b.text, "\n## %s\n\n", title)
	b.row(cells...)
	fmt.Fprintf(&b.text, "|%s\n", strings.Repeat("---|", len(cells)))
}

// TestBench measures everything and, if BENCH_RESULTS names a file, writes it.
func TestBench(t *testing.T) {
	started := time.Now()
	path := os.Getenv("BENCH_RESULTS")
	if part := os.Getenv("BENCH_ONLY"); part != "" {
		if text := only(t, part, started); path != "" && !t.Failed() {
			noError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		return
	}
	var b table
	gate(t, &b)
	report(t, &b)
	history(t, &b)
	launched(t, &b)
	starts(t, &b)
	servers(t, &b)
	t.Log(b.text.String())
	if path == "" || t.Failed() {
		return
	}
	noError(t, os.WriteFile(path, []byte(head(started)+b.text.String()), 0o644))
}

func head(started time.Time) string {
	say := func(args ...string) string {
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	return fmt.Sprintf(`# Benchmarks

`+"`"+`internal/bench`+"`"+` holds the program; what the figures mean, and what they miss, is in [performance.md](performance.md).

Written by `+"`make bench`"+`: evolve beside Git on the same work, process against process, in turns, in one run. Each figure is the
median of %d runs: wall time, and the largest resident set of the program or a child of it. What counts are the ratios; the
times move with the machine and with what else it does. Do not edit; run it again.

* commit: `+"`%s`"+`
* date: %s, took %s
* machine: %s/%s, %d CPUs, %s, %s
`, runs(), say("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"),
		started.UTC().Format("2006-01-02 15:04 UTC"), time.Since(started).Round(time.Second),
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), say("git", "--version"))
}

// git is a piece of git's work.
func git(args ...string) work { return work{name: "git " + args[0], path: gitPath(), args: args} }

func gitPath() string {
	path, err := exec.LookPath("git")
	if err != nil {
		return "git"
	}
	return path
}

func evolve(args ...string) work {
	return work{name: "evolve " + args[0], path: program("evolve"), args: args}
}

// verify is the gate at a desk or in a pipeline.
func (r *repo) verify() work {
	return evolve("verify", r.main, "--ref", "refs/heads/live", "--token", r.token)
}

// preReceive is the gate on a push of main to live, run as git receive-pack runs
// it, with the token as a push option.
func (r *repo) preReceive() work {
	return work{
		name: "evolve-hook pre-receive", path: program("evolve-hook"), args: []string{"pre-receive"},
		stdin: []byte(r.live + " " + r.main + " refs/heads/live\n"),
		env:   []string{"GIT_DIR=.", "GIT_PUSH_OPTION_COUNT=1", "GIT_PUSH_OPTION_0=" + r.token},
		// The push would go on, and the claim with it.
		before: func() { _ = os.RemoveAll(filepath.Join(r.dir, "evolve", "claims")) },
	}
}

func gate(t *testing.T, b *table) {
	t.Helper()
	b.head("The gate on one changed declaration of 20", "repository", "`git diff-tree` of the MCP root", "`evolve-hook pre-receive`", "ratio",
		"`evolve verify`", "ratio")
	var first []cost
	var flat table
	flat.head("The gate, against itself in the smallest repository", "repository", "time of `evolve-hook pre-receive`", "memory", "time of `evolve verify`", "memory")
	for _, s := range gateShapes {
		s.servers, s.changed = 20, 1
		r := makeRepo(t, s)
		c := measure(t, r, git("diff-tree", "-r", r.live, r.main, "--", "agent/mcp"), r.preReceive(), r.verify())
		b.row(s.name, c[0].String(), c[1].String(), fmt.Sprintf("%.1f", ratio(c[1], c[0])), c[2].String(), fmt.Sprintf("%.1f", ratio(c[2], c[0])))
		if first == nil {
			first = c
		}
		flat.row(s.name, times(ratio(c[1], first[1])), times(peaks(c[1], first[1])), times(ratio(c[2], first[2])), times(peaks(c[2], first[2])))
		noError(t, os.RemoveAll(r.dir))
	}
	b.text.WriteString(flat.text.String())
}

func times(f float64) string { return fmt.Sprintf("%.2f", f) }

func peaks(a, b cost) float64 { return float64(a.peak) / float64(b.peak) }

func report(t *testing.T, b *table) {
	t.Helper()
	const changed = 1000
	r := makeRepo(t, shape{objects: 28_000, servers: changed, changed: changed})
	ids := r.git(t, r.dir, "diff-tree", "-r", "--no-renames", r.live, r.main)
	var blobs strings.Builder
	for line := range strings.Lines(ids) {
		if f := strings.Fields(line); len(f) > 4 {
			fmt.Fprintf(&blobs, "%s\n%s\n", f[2], f[3])
		}
	}
	batch := git("cat-file", "--batch")
	batch.stdin = []byte(blobs.String())
	c := measure(t, r, batch, evolve("diff", r.live, r.main), evolve("diff", r.live, r.main, "--format", "json"), r.verify())
	b.head("1,000 changed declarations", "work", "cost", "ratio")
	b.row("`git cat-file --batch` of the 2,000 blobs", c[0].String(), "1")
	for i, name := range []string{"`evolve diff`", "`evolve diff --format json`", "`evolve verify`"} {
		b.row(name, c[i+1].String(), fmt.Sprintf("%.1f", ratio(c[i+1], c[0])))
	}
}

func history(t *testing.T, b *table) {
	t.Helper()
	const behind = 5000
	r := makeRepo(t, shape{objects: 100_000, servers: 20, changed: 1, behind: behind})
	c := measure(t, r, git("rev-list", "--count", r.base+".."+r.live, "--", "agent"), r.verify(), r.preReceive())
	b.head("A review whose base is 5,000 commits old", "work", "cost", "ratio")
	b.row("`git rev-list BASE..REF -- agent`", c[0].String(), "1")
	b.row("`evolve verify`", c[1].String(), fmt.Sprintf("%.1f", ratio(c[1], c[0])))
	b.row("`evolve-hook pre-receive`", c[2].String(), fmt.Sprintf("%.1f", ratio(c[2], c[0])))
}

func launched(t *testing.T, b *table) {
	t.Helper()
	const files = 5000
	r := makeRepo(t, shape{objects: 28_000, servers: 20, changed: 1, launched: files})
	var ids strings.Builder
	for line := range strings.Lines(r.git(t, r.dir, "ls-tree", "-r", r.main, "servers")) {
		ids.WriteString(strings.Fields(line)[2] + "\n")
	}
	batch := git("cat-file", "--batch")
	batch.stdin = []byte(ids.String())
	c := measure(t, r, batch, git("ls-tree", "-r", r.main, "servers"), r.verify(), r.preReceive())
	b.head("A server that is started from a directory of 5,000 files, one of them changed", "work", "cost", "ratio")
	b.row("`git cat-file --batch` of the 5,000 files", c[0].String(), "1")
	b.row("`git ls-tree -r` of the directory", c[1].String(), fmt.Sprintf("%.1f", ratio(c[1], c[0])))
	b.row("`evolve verify`", c[2].String(), fmt.Sprintf("%.1f", ratio(c[2], c[0])))
	b.row("`evolve-hook pre-receive`", c[3].String(), fmt.Sprintf("%.1f", ratio(c[3], c[0])))
}

// starts is what a program costs that does nothing.
func starts(t *testing.T, b *table) {
	t.Helper()
	r := makeRepo(t, shape{objects: 100, servers: 1, changed: 1})
	idle := work{name: "evolve-hook", path: program("evolve-hook"), args: []string{"reference-transaction", "aborted"}}
	c := measure(t, r, git("version"), idle, evolve("version"))
	b.head("Starting and ending", "program", "cost", "package initialisation (`GODEBUG=inittrace=1`)")
	b.row("`git version`", c[0].String(), "")
	b.row("`evolve-hook reference-transaction aborted`", c[1].String(), initialisation(t, idle))
	b.row("`evolve version`", c[2].String(), initialisation(t, evolve("version")))
}
