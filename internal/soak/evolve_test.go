package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// evolveProgram is the path of the program under test, built once by TestMain;
// evolve-hook lies beside it.
var evolveProgram string

// atEnd runs after all tests.
var atEnd = func() error { return nil }

func TestMain(m *testing.M) {
	if kind := os.Getenv(fakeVariable); kind != "" {
		fakeServer(kind)
		return
	}
	dir, err := os.MkdirTemp("", "evolve-soak-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	evolveProgram = filepath.Join(dir, "evolve")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+"/", "../../cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := atEnd(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

const live = "refs/heads/live"

func declaration(version int) string {
	return fmt.Sprintf("command: npx\nargs: [\"-y\", \"docs-server@1.%d.0\"]\n", version)
}

// newRepo is a repository whose branch live is one reviewed change behind main.
func newRepo(t testing.TB) *gittest.Repo {
	t.Helper()
	g := gittest.New(t)
	g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration(0)}, "one")
	g.Git("update-ref", "--create-reflog", live, "HEAD")
	g.Commit(map[string]string{"agent/mcp/docs.yaml": declaration(1)}, "two")
	return g
}

// command is evolve in a repository, not yet started.
func command(g *gittest.Repo, args ...string) *exec.Cmd {
	cmd := exec.Command(evolveProgram, args...)
	cmd.Dir, cmd.Env = g.Dir(), g.Env()
	return cmd
}

// result is what one evolve said.
type result struct {
	status         int // -1 if a signal ended it
	stdout, stderr string
}

// run runs evolve to its end.
func run(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRun is run where only success will do.
func mustRun(t testing.TB, g *gittest.Repo, args ...string) string {
	t.Helper()
	r := run(t, command(g, args...))
	if r.status != 0 {
		t.Fatalf("evolve %s: exit status %d\n%s%s", strings.Join(args, " "), r.status, r.stdout, r.stderr)
	}
	return r.stdout
}

// review mints a token for moving live to head.
func review(t testing.TB, g *gittest.Repo, head string) string {
	t.Helper()
	out := strings.TrimSpace(mustRun(t, g, "review", head, "--ref", live, "--approve"))
	return out[strings.LastIndex(out, "\n")+1:]
}

func state(t testing.TB, g *gittest.Repo) [32]byte {
	t.Helper()
	s, err := gittest.State(g.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
