//go:build soak && linux

package soak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// nobody is the user that a test which runs as root becomes: modes do not stop
// root.
const nobody = 65534

// asUser makes a command run as an ordinary user.
func asUser(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// giveAway lets the ordinary user own a directory and reach it.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	noError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, nobody, nobody)
		}
		return err
	}))
	for d := filepath.Dir(dir); d != "/" && d != "/tmp"; d = filepath.Dir(d) {
		noError(t, os.Chmod(d, 0o755))
	}
}

// Where a directory may not be written, a promotion says so and leaves
// everything as it was.
func TestUnwritableDirectories(t *testing.T) {
	program := filepath.Dir(evolveProgram)
	noError(t, os.Chmod(program, 0o755))
	n := 0
	for dir, code := range map[string]string{
		".git/evolve": "io_failed", ".git/evolve/claims": "io_failed", ".git/refs/heads": "git_failed",
	} {
		g := newRepo(t)
		token := review(t, g, "main")
		noError(t, os.MkdirAll(g.Path(".git/evolve/claims"), 0o755))
		giveAway(t, filepath.Dir(g.Dir()))
		closeDir(t, g.Path(dir))
		before := state(t, g)
		r := run(t, asUser(command(g, "promote", "main", "--ref", "live", "--token", token, "--approve")))
		if r.status != 3 || !strings.HasPrefix(r.stderr, code) || !strings.Contains(r.stderr, "hint: ") {
			t.Errorf("%s: exit status %d, want 3 and %s\n%s", dir, r.status, code, r.stderr)
		}
		if state(t, g) != before {
			t.Errorf("%s: refs, index or worktree changed", dir)
		}
		noError(t, os.Chmod(g.Path(dir), 0o755))
		if r := run(t, asUser(command(g, "promote", "main", "--ref", "live", "--token", token, "--approve"))); r.status != 0 {
			t.Errorf("%s, writable again: exit status %d\n%s", dir, r.status, r.stderr)
		}
		oneMove(t, g)
		n++
	}
	record(t, "a directory of the Git directory that may not be written", fmt.Sprintf("%d promotions refused with status 3, nothing changed; writable again, each moved", n))
}

func closeDir(t *testing.T, dir string) {
	t.Helper()
	noError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
}

func oneMove(t *testing.T, g *gittest.Repo) {
	t.Helper()
	lines, damaged := audit(t, g)
	n := 0
	for _, l := range lines {
		if l.Verdict == "moved" {
			n++
		}
	}
	if n != 1 || damaged != 0 {
		t.Errorf("the log has %d moves and %d damaged lines", n, damaged)
	}
}
