//go:build soak && linux

package soak

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// pageSize is what a tmpfs gives out at once, in bytes.
const pageSize = 4096

// smallDisk mounts a tmpfs of the given size over a directory of the test, where
// that is allowed.
func smallDisk(t *testing.T, dir string, bytes int) {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", bytes))
	if err != nil {
		record(t, "a full disk", "skipped: no tmpfs may be mounted here ("+err.Error()+")")
		t.Skipf("no tmpfs may be mounted here: %v", err)
	}
	t.Cleanup(func() { noError(t, syscall.Unmount(dir, 0)) })
}

// On a disk with ever less space a promotion moves the ref or says why not, and
// once there is space again the next command works and the log is whole.
func TestFullDisk(t *testing.T) {
	g := newRepo(t)
	disk := t.TempDir()
	smallDisk(t, disk, 8<<20)
	g.Git("clone", "-q", g.Dir(), filepath.Join(disk, "repo"))
	small := g.At(filepath.Join(disk, "repo"))
	small.Git("update-ref", "--create-reflog", live, "origin/live")
	counts := map[int]int{}
	rounds := times(t, 40)
	moved := 0
	for round := range rounds {
		if fullDiskRound(t, g, small, round, round%20*pageSize, counts) {
			moved++
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	record(t, fmt.Sprintf("a full disk: %d promotions with 0 to %d KiB left", rounds, (min(rounds, 20)-1)*pageSize>>10),
		fmt.Sprintf("%d moved the ref (%d of them could not say so or write it down at once), %d were refused; "+
			"with space again, each next command worked and the log held one line a move", moved, moved-counts[0], rounds-moved))
}

// fullDiskRound promotes one change with left bytes free, frees the disk, and
// promotes again. It reports whether the first promotion moved the ref.
func fullDiskRound(t *testing.T, g, small *gittest.Repo, round, left int, counts map[int]int) (moved bool) {
	t.Helper()
	g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration(2000 + round)}, "change")
	small.Git("fetch", "-q", "origin", "main")
	old, want := small.Git("rev-parse", live), g.Git("rev-parse", "main")
	token := review(t, small, want)
	args := []string{"promote", want, "--ref", live, "--token", token, "--approve"}
	filler := filepath.Join(filepath.Dir(small.Dir()), "filler")
	small.Git("pack-refs", "--all") // so that the move takes a page that it does not give back
	padAudit(t, small)
	fill(t, filler, left)
	r := run(t, command(small, args...))
	noError(t, os.Remove(filler))
	counts[r.status]++
	now := small.Git("rev-parse", live)
	if r.status != 0 && r.status != 3 || now != old && now != want || r.status == 0 && now != want {
		t.Errorf("%d bytes left: exit status %d, and the ref went from %s to %s\n%s", left, r.status, old, now, r.stderr)
	}
	if r.status == 3 && strings.Contains(r.stderr, "moved to") != (now == want) {
		t.Errorf("%d bytes left: the ref is at %s, and the message is wrong:\n%s", left, now, r.stderr)
	}
	if next := run(t, command(small, args...)); next.status != 0 {
		t.Errorf("with space again: exit status %d\n%s", next.status, next.stderr)
	}
	lines, _ := audit(t, small)
	if n, _ := moves(lines, old, want); n != 1 || small.Git("rev-parse", live) != want {
		t.Errorf("with space again: %d audit lines of the move, and the ref is at %s", n, small.Git("rev-parse", live))
	}
	return now == want
}

// padAudit sees to it that the next line of the log needs a new page. Empty lines
// mean nothing.
func padAudit(t *testing.T, g *gittest.Repo) {
	t.Helper()
	f, err := os.OpenFile(g.Path(".git/evolve/audit.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	noError(t, err)
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	noError(t, err)
	_, err = f.WriteString(strings.Repeat("\n", int((pageSize-info.Size()%pageSize)%pageSize)))
	noError(t, err)
}

// fill takes all space of a disk but left bytes.
func fill(t *testing.T, path string, left int) {
	t.Helper()
	f, err := os.Create(path)
	noError(t, err)
	defer func() { _ = f.Close() }()
	block := make([]byte, 4096)
	size := int64(0)
	for {
		n, err := f.Write(block)
		size += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		noError(t, err)
	}
	noError(t, f.Truncate(max(0, size-int64(left))))
}
