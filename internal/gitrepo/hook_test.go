package gitrepo

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// hookReport names the directory in which the test binary, run as a hook,
// writes what it read.
const hookReport = "GITREPO_TEST_HOOK_REPORT"

// actAsHook is a pre-receive hook that reads agent/mcp/docs.yaml of the commit
// that is pushed, which is in the quarantine only.
func actAsHook(dir string) int {
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return 1
	}
	ctx := context.Background()
	r, err := Open(ctx, Options{Env: os.Environ(), Hook: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = r.Close() }()
	data, err := readBlobAt(ctx, r, ID(strings.Fields(line)[1]), "agent/mcp/docs.yaml", 1000)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return map[bool]int{true: 0, false: 1}[os.WriteFile(filepath.Join(dir, "read"), append(data, r.WorkTree()...), 0o666) == nil]
}

// A push is judged before its objects are in the repository:
// https://github.com/git-lfs/git-lfs/issues/4685.
func TestHookReadsThePushQuarantine(t *testing.T) {
	for name, unpackLimit := range map[string]string{"loose objects": "100", "a kept pack": "1"} {
		for kind, options := range map[string][]gittest.Option{"bare": {gittest.Bare}, "with a worktree": nil} {
			t.Run(name+", "+kind, func(t *testing.T) {
				server, client := gittest.New(t, options...), gittest.New(t)
				server.Commit(map[string]string{"a": "1\n"}, "one")
				server.Git("config", "receive.unpackLimit", unpackLimit)
				report := t.TempDir()
				self, err := os.Executable()
				noError(t, err)
				hooks := server.Git("rev-parse", "--path-format=absolute", "--git-path", "hooks")
				writeFile(t, filepath.Join(hooks, "pre-receive"),
					fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s'\n", hookReport, report, self), 0o777)
				client.Commit(map[string]string{"agent/mcp/docs.yaml": "command: docs\n"}, "docs")
				client.Git("push", "-q", server.Dir(), "HEAD:refs/heads/topic")
				got, err := os.ReadFile(filepath.Join(report, "read"))
				noError(t, err)
				equal(t, "what the hook read, and its worktree", string(got), "command: docs\n")
			})
		}
	}
}
