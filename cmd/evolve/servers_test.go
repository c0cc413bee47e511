//go:build servers

package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// realServers is where scripts/peers.sh installed the real MCP servers.
func realServers(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EVOLVE_TEST_SERVERS")
	if dir == "" {
		t.Fatal("EVOLVE_TEST_SERVERS is not set: run make test-servers, which installs the real MCP servers")
	}
	for _, name := range []string{"everything", "filesystem", "memory", "sequential-thinking"} {
		program := filepath.Join(dir, "node_modules", ".bin", "mcp-server-"+name)
		if _, err := os.Stat(program); err != nil {
			t.Fatalf("the real MCP server %s is missing: scripts/peers.sh installs it", program)
		}
	}
	return dir
}

// TestServers runs the stories of testdata/servers: the commands that run servers
// against real ones, which are programs in the stories' PATH. PEERS is where they
// are installed.
func TestServers(t *testing.T) {
	peers := realServers(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "servers"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			path := e.Getenv("PATH") // with the test's own commands
			for k, v := range gittest.Environment(e.WorkDir) {
				e.Setenv(k, v)
			}
			e.Setenv("PEERS", peers)
			e.Setenv("PATH", filepath.Join(peers, "node_modules", ".bin")+string(filepath.ListSeparator)+path)
			return nil
		},
		Cmds: storyCommands(map[string]storyCommand{
			"serve":  serve,
			"expand": expand,
		}),
	})
}

// expand replaces $NAME in files by the story's variables: expand FILE...
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand FILE...")
	}
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}

// serveLimit bounds how long a server may take until it listens.
const serveLimit = time.Minute

// serve starts a program that serves HTTP at the port of its PORT, waits until it
// listens, and puts the port into a variable: serve VARIABLE COMMAND [ARGUMENTS].
// The story's end stops it.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve VARIABLE COMMAND [ARGUMENTS]")
	}
	port := freePort(ts)
	program, err := lookIn(ts.Getenv("PATH"), args[1])
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "PORT=" + port}
	out, err := cmd.StderrPipe()
	ts.Check(err)
	cmd.Stdout = nil
	ts.Check(cmd.Start())
	listening := make(chan struct{})
	var once sync.Once
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "listening on port "+port) {
				once.Do(func() { close(listening) })
			}
		}
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	select {
	case <-listening:
	case <-time.After(serveLimit):
		ts.Fatalf("%s does not listen", args[1])
	}
	ts.Setenv(args[0], port)
}

func lookIn(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		program := filepath.Join(dir, name)
		if info, err := os.Stat(program); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return program, nil
		}
	}
	return "", exec.ErrNotFound
}

// freePort is a port of this machine that nobody listens at now.
func freePort(ts *testscript.TestScript) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	defer func() { _ = l.Close() }()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		ts.Fatalf("no TCP address")
	}
	return strconv.Itoa(addr.Port)
}
