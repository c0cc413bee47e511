package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// fake is an MCP server for the stories: a program called mcp-fake in their PATH.
// Its first argument says how it behaves:
//
//	ok       two tools, echo and zeta
//	hang     never answers a listing
//	die      writes a line to standard error and exits
//	once     works the first time in its private home, which stays from run to run
//	litter   removes and closes what it finds in its working directory
//	meet     works while FAKE_MEETING, a file, is there
//	collide  has two tools whose names differ in letter case only
//	turn     answers its listing in the order that FAKE_ORDER gives
//	leak...  repeats its SECRET, see leaks
type fake struct {
	behaviour string
	args      []string
	encoder   *json.Encoder
}

func fakeServer() {
	f := &fake{behaviour: "ok", encoder: json.NewEncoder(os.Stdout)}
	f.encoder.SetEscapeHTML(false)
	if len(os.Args) > 1 {
		f.behaviour, f.args = os.Args[1], os.Args[2:]
	}
	f.begin()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		if f.behaviour == "hang" && request.Method == "tools/list" {
			continue
		}
		done := f.takeTurn(request.Method)
		f.answer(request.ID, request.Method, request.Params)
		done()
	}
}

// begin is what a server does when it starts.
func (f *fake) begin() {
	switch f.behaviour {
	case "die":
		fmt.Fprintln(os.Stderr, "mcp-fake: told to die")
		os.Exit(1)
	case "once":
		mark := filepath.Join(os.Getenv("HOME"), "was-here")
		if _, err := os.Stat(mark); err == nil {
			os.Exit(1)
		}
		must(os.WriteFile(mark, nil, 0o600))
	case "meet":
		if _, err := os.Stat(os.Getenv("FAKE_MEETING")); err != nil {
			os.Exit(1)
		}
	case "litter":
		must(os.Remove("agent.yaml"))
		must(os.MkdirAll("closed/deep", 0o700))
		must(os.WriteFile("closed/deep/file", []byte("x"), 0))
		must(os.Chmod("closed", 0))
	case "leak-die":
		fmt.Fprintln(os.Stderr, strings.Join(leaks(os.Getenv("SECRET")), "\n"))
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcp-fake:", err)
		os.Exit(2)
	}
}

// takeTurn waits, before a listing, until the server before this one in FAKE_ORDER
// has answered; done lets the next one go. Both meet at a named pipe, which opens
// when the other end does.
func (f *fake) takeTurn(method string) (done func()) {
	if f.behaviour != "turn" || method != "tools/list" {
		return func() {}
	}
	order := strings.Fields(os.Getenv("FAKE_ORDER"))
	at := slices.Index(order, f.args[0])
	pipe := func(n, flag int) {
		p, err := os.OpenFile(filepath.Join(os.Getenv("FAKE_PIPES"), strconv.Itoa(n)), flag, 0)
		must(err)
		must(p.Close())
	}
	if at > 0 {
		pipe(at, os.O_RDONLY)
	}
	return func() {
		if at+1 < len(order) {
			pipe(at+1, os.O_WRONLY)
		}
	}
}

func (f *fake) answer(id json.RawMessage, method string, params json.RawMessage) {
	reply := map[string]any{"jsonrpc": "2.0", "id": id}
	result := f.result(method, params)
	switch r := result.(type) {
	case nil:
		reply["error"] = map[string]any{"code": -32601, "message": "method not found"}
	case error:
		reply["error"] = map[string]any{"code": -32000, "message": r.Error()}
	default:
		reply["result"] = r
	}
	must(f.encoder.Encode(reply))
}

func (f *fake) notify(method string, params any) {
	must(f.encoder.Encode(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}))
}

func (f *fake) result(method string, params json.RawMessage) any {
	if strings.HasPrefix(f.behaviour, "leak") {
		if r, special := f.leakingResult(method); special {
			return r
		}
	}
	switch method {
	case "initialize":
		return map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "mcp-fake", "version": "1"},
		}
	case "tools/list":
		tool := func(name string) map[string]any {
			return map[string]any{"name": name, "description": "hello", "inputSchema": map[string]any{"type": "object"}}
		}
		if f.behaviour == "collide" {
			return map[string]any{"tools": []any{tool("Echo"), tool("echo")}}
		}
		return map[string]any{"tools": []any{tool("zeta"), tool("echo")}}
	case "tools/call":
		return text("hello " + string(params))
	case "ping":
		return map[string]any{}
	}
	return nil
}

func text(s string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
}
