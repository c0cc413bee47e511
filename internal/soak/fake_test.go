package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// fakeVariable makes this test's own program an MCP server: its value says which.
const fakeVariable = "EVOLVE_SOAK_SERVER"

// The servers that are run and interrupted.
const (
	fakePlain    = "plain"
	fakeStubborn = "stubborn" // ignores TERM and the end of its input
	fakeParent   = "parent"   // starts a child that outlives it, if nobody ends it
	fakeSilent   = "silent"   // never answers a listing
)

// fakeServer is an MCP server with one tool, which never ends.
func fakeServer(kind string) {
	switch kind {
	case fakeStubborn:
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	case fakeParent:
		child := exec.Command("sleep", "300")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // holds our pipes open
		if err := child.Start(); err != nil {
			os.Exit(2)
		}
	}
	if err := os.WriteFile("written-by-the-server", nil, 0o600); err != nil {
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "a line of a server that is run")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		var result string
		switch request.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"soak","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			continue
		}
		switch {
		case result == "":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", request.ID)
		case kind != fakeSilent || request.Method == "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
		}
	}
	if kind == fakeStubborn {
		select {}
	}
}
