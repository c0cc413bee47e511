package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// fakeServer is an MCP server for the stories: a program called mcp-fake in
// their PATH. Its first argument says how it behaves: ok, hang (never answers a
// listing), die, once (works the first time in its working directory), leak (repeats SECRET in everything it says).
func fakeServer() {
	behaviour := "ok"
	if len(os.Args) > 1 {
		behaviour = os.Args[1]
	}
	if behaviour == "die" {
		fmt.Fprintln(os.Stderr, "mcp-fake: told to die")
		os.Exit(1)
	}
	if behaviour == "once" { // works the first time in a workspace
		if _, err := os.Stat("was-here"); err == nil {
			os.Exit(1)
		}
		if err := os.WriteFile("was-here", nil, 0o600); err != nil {
			os.Exit(2)
		}
	}
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
		if behaviour == "hang" && request.Method == "tools/list" {
			continue
		}
		answer(request.ID, fakeResult(behaviour, request.Method, request.Params))
	}
}

func answer(id json.RawMessage, result any) {
	reply := map[string]any{"jsonrpc": "2.0", "id": id}
	if result == nil {
		reply["error"] = map[string]any{"code": -32601, "message": "method not found"}
	} else {
		reply["result"] = result
	}
	line, err := json.Marshal(reply)
	if err != nil {
		os.Exit(2)
	}
	fmt.Println(string(line))
}

func fakeResult(behaviour, method string, params json.RawMessage) any {
	said := "hello"
	if behaviour == "leak" {
		s := os.Getenv("SECRET")
		said = strings.Join([]string{
			s, base64.StdEncoding.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte("x" + s)),
			url.QueryEscape(s), fmt.Sprintf("%x", s), s[:len(s)/2] + "\n" + s[len(s)/2:],
		}, " ")
		fmt.Fprintln(os.Stderr, "secret is "+said)
	}
	tool := func(name string) map[string]any {
		return map[string]any{"name": name, "description": said, "inputSchema": map[string]any{"type": "object"}}
	}
	switch method {
	case "initialize":
		return map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "mcp-fake", "version": "1"},
		}
	case "tools/list":
		return map[string]any{"tools": []any{tool("zeta"), tool("echo")}}
	case "tools/call":
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": said + " " + string(params)}}}
	case "ping":
		return map[string]any{}
	}
	return nil
}
