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
	switch {
	case os.Getenv(byHandVariable) != "":
		os.Exit(byHand())
	case os.Getenv(timerVariable) != "":
		os.Exit(timer())
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

// table is the text of one part of the results.
type table struct{ text strings.Builder }

func (b *table) row(cells ...string) { fmt.Fprintf(&b.text, "| %s |\n", strings.Join(cells, " | ")) }

// head begins a table.
func (b *table) head(cells ...string) {
	b.text.WriteString("\n")
	b.row(cells...)
	fmt.Fprintf(&b.text, "|%s\n", strings.Repeat("---|", len(cells)))
}

// parts are what is measured, in the order of the results. BENCH_ONLY names some
// of them.
var parts = []struct {
	name, title string
	run         func(*testing.T, *table)
}{
	{"gate", "The gate on one changed declaration of 20", gate},
	{"push", "A push, as a person waits for it", pushes},
	{"report", "1,000 changed declarations", report},
	{"history", "A review whose base is 5,000 commits old", history},
	{"launched", "A server that is started from a directory of 5,000 files, one of them changed", launched},
	{"starts", "Starting and ending", starts},
	{"servers", "Listing the tools of eight real servers", servers},
}

// TestBench measures and, if BENCH_RESULTS names a file, puts each part into it.
func TestBench(t *testing.T) {
	only := map[string]bool{}
	for name := range strings.SplitSeq(os.Getenv("BENCH_ONLY"), ",") {
		only[name] = name != ""
	}
	all := len(only) == 1 && !only[""] && os.Getenv("BENCH_ONLY") == ""
	for _, p := range parts {
		if !all && !only[p.name] {
			continue
		}
		delete(only, p.name)
		t.Run(p.name, func(t *testing.T) {
			b := table{}
			fmt.Fprintf(&b.text, "%s\n", circumstances(t))
			p.run(t, &b)
			t.Log(b.text.String())
			if path := os.Getenv("BENCH_RESULTS"); path != "" && !t.Failed() {
				keep(t, path, p.title, b.text.String())
			}
		})
	}
	delete(only, "")
	for name := range only {
		t.Errorf("BENCH_ONLY names %q, which is no part", name)
	}
}

// circumstances is one line about a measurement.
func circumstances(t *testing.T) string {
	t.Helper()
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown unknown")
	}
	return fmt.Sprintf("Commit `%s`, %s; median of %d; load average before: %s.",
		commit(), time.Now().UTC().Format("2006-01-02 15:04 UTC"), runs(),
		strings.Fields(string(load))[0])
}

// commit is what is measured, "-dirty" where more than the pages was changed since.
func commit() string {
	id := say("git", "rev-parse", "--short=12", "HEAD")
	if say("git", "status", "--porcelain", "--untracked-files=no", "--", "../..", ":!../../docs") != "" {
		id += "-dirty"
	}
	return id
}

func say(args ...string) string {
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// keep writes the results again, with one part's text changed.
func keep(t *testing.T, path, title, text string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for i, section := range strings.Split(string(old), "\n## ") {
		if head, rest, _ := strings.Cut(section, "\n"); i > 0 {
			texts[head] = strings.Trim(rest, "\n")
		}
	}
	texts[title] = strings.Trim(text, "\n")
	var out strings.Builder
	out.WriteString(resultsHead())
	for _, p := range parts {
		if text, ok := texts[p.title]; ok {
			fmt.Fprintf(&out, "\n## %s\n\n%s\n", p.title, text)
		}
	}
	noError(t, os.WriteFile(path, []byte(out.String()), 0o644))
}

func resultsHead() string {
	return fmt.Sprintf(`# Benchmarks

Written by `+"`make bench`"+`: evolve beside Git on the same work, process against process, in turns, in one run. A figure is
the median wall time, and the largest resident set of the program or a child of it. What counts are the ratios; the times
move with the machine and with what else it does. What they mean, and which aims they miss, is in
[performance.md](performance.md). Do not edit; one part alone is measured again by `+"`BENCH_ONLY=NAME make bench`"+` (%s).

Machine: %s/%s, %d CPUs, %s, %s.
`, partNames(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), say("git", "--version"))
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
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
		before: func(*testing.T) { _ = os.RemoveAll(filepath.Join(r.dir, "evolve", "claims")) },
	}
}

func gate(t *testing.T, b *table) {
	t.Helper()
	var all []work
	for _, s := range gateShapes {
		s.servers, s.changed = 20, 1
		r := makeRepo(t, s)
		diff := git("diff-tree", "-r", r.live, r.main, "--", "agent/mcp")
		for _, w := range []work{diff, r.catFile(t), r.preReceive(), r.verify()} {
			w.repo = r
			all = append(all, w)
		}
	}
	// All in turns, so that the repositories can be held against each other too.
	costs := measure(t, nil, all...)
	b.head("repository", "`git diff-tree` of the MCP root", "`git cat-file --batch` of what is read", "`evolve-hook pre-receive`", "beside diff-tree",
		"`evolve verify`", "beside diff-tree")
	const each = 4
	for i, s := range gateShapes {
		c := costs[each*i:]
		b.row(s.name, c[0].String(), c[1].String(), c[2].String(), times(ratio(c[2], c[0])), c[3].String(), times(ratio(c[3], c[0])))
	}
	b.text.WriteString("\nThe same, each beside itself in the smallest repository, as time and memory:\n")
	b.head("repository", "`git diff-tree` of the MCP root", "`git cat-file --batch` of what is read", "`evolve-hook pre-receive`", "`evolve verify`")
	for i, s := range gateShapes {
		row := []string{s.name}
		for n := range each {
			c, first := costs[each*i+n], costs[n]
			row = append(row, times(ratio(c, first))+", "+times(peaks(c, first)))
		}
		b.row(row...)
	}
}

// catFile reads the objects that the gate must read of both commits.
func (r *repo) catFile(t *testing.T) work {
	t.Helper()
	w := git("cat-file", "--batch")
	var ids strings.Builder
	for _, commit := range []string{r.live, r.main} {
		fmt.Fprintf(&ids, "%[1]s\n%[1]s^{tree}\n", commit)
		for line := range strings.Lines(r.git(t, r.dir, "ls-tree", "-r", "-t", commit, "agent")) {
			ids.WriteString(strings.Fields(line)[2] + "\n")
		}
	}
	w.stdin = []byte(ids.String())
	return w
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
	b.head("work", "cost", "ratio")
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
	b.head("work", "cost", "ratio")
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
	b.head("work", "cost", "ratio")
	b.row("`git cat-file --batch` of the 5,000 files", c[0].String(), "1")
	b.row("`git ls-tree -r` of the directory", c[1].String(), fmt.Sprintf("%.1f", ratio(c[1], c[0])))
	b.row("`evolve verify`", c[2].String(), fmt.Sprintf("%.1f", ratio(c[2], c[0])))
	b.row("`evolve-hook pre-receive`", c[3].String(), fmt.Sprintf("%.1f", ratio(c[3], c[0])))
}

// starts is what a program costs that does nothing, and what the git processes
// cost that the gate on a push starts: its floor.
func starts(t *testing.T, b *table) {
	t.Helper()
	r := makeRepo(t, shape{objects: 28_000, servers: 20, changed: 1})
	idle := work{name: "evolve-hook", path: program("evolve-hook"), args: []string{"reference-transaction", "aborted"}}
	none := git("cat-file", "--batch-command")
	none.stdin = []byte("info " + r.main + "\n")
	c := measure(t, r, git("version"), git("diff-tree", "-r", r.live, r.main, "--", "agent/mcp"),
		git("config", "--list", "-z", "--show-origin", "--show-scope", "--includes"),
		git("for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads/live"),
		none, idle, evolve("version"))
	b.head("program", "cost", "package initialisation (`GODEBUG=inittrace=1`)")
	for i, name := range []string{"`git version`", "`git diff-tree` of the MCP root", "`git config --list`", "`git for-each-ref` of one ref",
		"`git cat-file --batch-command` of one object"} {
		b.row(name, c[i].String(), "")
	}
	b.row("`evolve-hook reference-transaction aborted`", c[5].String(), initialisation(t, idle))
	b.row("`evolve version`", c[6].String(), initialisation(t, evolve("version")))
}
