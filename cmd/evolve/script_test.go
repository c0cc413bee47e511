package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcp-fake": fakeServer,
		"evolve": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(runForTest(ctx))
		},
	})
}

// runForTest is main with a clock that a story can move: EVOLVE_TEST_CLOCK is a
// duration that is added to the present time.
func runForTest(ctx context.Context) int {
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ()}
	shift, err := time.ParseDuration(os.Getenv("EVOLVE_TEST_CLOCK"))
	if err != nil {
		return run(ctx, os.Args[1:], s)
	}
	return runAt(ctx, os.Args[1:], s, func() time.Time { return time.Now().Add(shift) })
}

// TestStories runs the stories of testdata/script. Each is a repository, the
// commands that a person runs on it, and what they see; they are the manual by
// example.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for k, v := range gittest.Environment(e.WorkDir) {
				e.Setenv(k, v)
			}
			return nil
		},
		Cmds: storyCommands(nil),
	})
}

// storyCommand is a command of the stories beside testscript's own.
type storyCommand = func(ts *testscript.TestScript, neg bool, args []string)

// storyCommands are the commands of every story, and more.
func storyCommands(more map[string]storyCommand) map[string]storyCommand {
	all := map[string]storyCommand{
		"status":    exitsWith,
		"token":     saveToken,
		"snapshot":  snapshot,
		"unchanged": unchanged,
		"git":       runGit,
		"put":       put,
		"noleak":    noLeak,
	}
	maps.Copy(all, more)
	return all
}

// exitsWith runs a command and checks its exit status: status 4 evolve ...
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENTS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var exit interface{ ExitCode() int }
		if !asExit(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func asExit(err error, target *interface{ ExitCode() int }) bool {
	e, ok := err.(interface{ ExitCode() int })
	if ok {
		*target = e
	}
	return ok
}

// saveToken puts the last line of the last standard output into a variable:
// token NAME. It fails unless that line is a token.
func saveToken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: token NAME")
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	last := lines[len(lines)-1]
	hex, ok := strings.CutPrefix(last, "mcp-review:")
	if !ok || len(hex) != 64 {
		ts.Fatalf("the last line of standard output is no token")
	}
	ts.Setenv(args[0], last)
	ts.Setenv(args[0]+"_HEX", hex)
}

// runGit runs git and fails the story if git fails.
func runGit(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("git", args...)
	switch {
	case neg && err == nil:
		ts.Fatalf("git succeeded")
	case !neg && err != nil:
		ts.Fatalf("git %s: %v", args[0], err)
	}
}

// put copies a file and makes the directories on its way: put FROM TO.
func put(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put FROM TO")
	}
	to := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(to), 0o755))
	ts.Check(os.WriteFile(to, []byte(ts.ReadFile(args[0])), 0o644))
}

// snapshot remembers refs, index and worktree files of a repository:
// snapshot DIR. unchanged DIR fails if any byte of them differs.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot DIR")
	}
	ts.Setenv("SNAPSHOT_"+args[0], state(ts, args[0]))
}

func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unchanged DIR")
	}
	want := ts.Getenv("SNAPSHOT_" + args[0])
	if want == "" {
		ts.Fatalf("no snapshot of %s was taken", args[0])
	}
	if got := state(ts, args[0]); got != want {
		ts.Fatalf("refs, index or worktree changed:\nbefore %s\nafter  %s", want, got)
	}
}

// state is the bytes that a refusal must leave alone.
func state(ts *testscript.TestScript, dir string) string {
	got, err := gittest.State(ts.MkAbs(dir))
	ts.Check(err)
	return fmt.Sprintf("%x", got)
}
