// Package servertest is an MCP server with faults, for tests: each mode breaks
// one rule that a host has to survive. It speaks the protocol by hand, so that
// it can be wrong in ways that a library prevents.
package servertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
)

// Server is one fake server on one connection.
type Server struct {
	// Mode is the name of a fault; "" is a well-behaved server of 2025-11-25.
	Mode string
	// Env is what the tool "env" prints.
	Env []string
	// Dir is what the tool "cwd" prints.
	Dir string
	// Stderr gets what the server says beside the protocol; nil drops it.
	Stderr io.Writer
	// Exit ends the server's process, for modes that die. Nil closes the output.
	Exit func()
	// Seen, if set, is called with the method of each message.
	Seen func(method string)
	// Capabilities, if set, gets what a client declares.
	Capabilities func(raw json.RawMessage)
	// Gate, if set, is received from before each call is answered.
	Gate <-chan struct{}

	mu      sync.Mutex
	out     io.Writer
	renamed bool
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name         string          `json:"name"`
		Cursor       string          `json:"cursor"`
		Arguments    json.RawMessage `json:"arguments"`
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Meta         struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code int `json:"code"`
	} `json:"error"`
}

// Serve answers until the input ends or the mode says otherwise.
func (s *Server) Serve(in io.Reader, out io.Writer) {
	s.out = out
	if start := starts[s.Mode]; start != nil {
		start(s)
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		var m message
		if json.Unmarshal(line, &m) == nil {
			if s.Seen != nil {
				s.Seen(m.Method)
			}
			if s.Mode == "deaf" && m.Method == "tools/list" {
				s.answer(m)
				forever() // never reads again
			}
			if m.Method == "tools/call" {
				calls.Go(func() { s.answer(m) })
			} else {
				s.answer(m)
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *Server) write(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, text)
}

func (s *Server) send(v any) {
	b, _ := json.Marshal(v)
	s.write(string(b) + "\n")
}

func (s *Server) result(id json.RawMessage, result any) {
	if s.Mode == "wrong_id" {
		id = json.RawMessage(`"another"`)
	}
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *Server) fail(id json.RawMessage, code int, text string) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
}

func (s *Server) note(method string, params any) {
	s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *Server) answer(m message) {
	switch {
	case s.Mode == "silent":
	case s.Mode == "empty" && len(m.ID) > 0:
		s.result(m.ID, struct{}{})
	case m.Method == "server/discover":
		s.discover(m)
	case m.Method == "initialize":
		if s.Capabilities != nil {
			s.Capabilities(m.Params.Capabilities)
		}
		version := m.Params.Version
		if strings.HasPrefix(s.Mode, "version ") {
			version = strings.TrimPrefix(s.Mode, "version ")
		}
		s.result(m.ID, map[string]any{
			"protocolVersion": version, "serverInfo": map[string]any{"name": "fake", "version": "1"},
			"capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
		})
	case m.Method == "tools/list":
		s.list(m)
	case m.Method == "tools/call":
		if s.Gate != nil {
			<-s.Gate
		}
		s.call(m)
	case m.Method == "" && len(m.ID) > 0:
		s.reply(m)
	case m.Method == "subscriptions/listen", m.Method == "notifications/initialized":
	case len(m.ID) > 0:
		s.fail(m.ID, -32601, "method not found")
	}
}

func (s *Server) discover(m message) {
	switch s.Mode {
	case "ignores_discover":
	case "modern", "input_required", "modern_changes":
		s.result(m.ID, map[string]any{
			"supportedVersions": []string{"2026-07-28"}, "resultType": "complete",
			"capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
		})
	default:
		s.fail(m.ID, -32601, "method not found")
	}
}

// Tools are what a well-behaved server offers.
var Tools = []string{"echo", "env", "cwd", "fail", "wait"}

func tool(name string) map[string]any {
	return map[string]any{
		"name": name, "description": "does " + name,
		"inputSchema": map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
			"x-order": 1, "oneOf": []any{map[string]any{"required": []string{}}}},
	}
}

func (s *Server) list(m message) {
	var tools []map[string]any
	for _, name := range Tools {
		tools = append(tools, tool(name))
	}
	result := map[string]any{"tools": tools, "resultType": "complete"}
	switch s.Mode {
	case "pages":
		n := len(m.Params.Cursor)
		result["tools"] = tools[n : n+1]
		if n+1 < len(tools) {
			result["nextCursor"] = strings.Repeat("x", n+1)
		}
	case "endless_pages":
		result["nextCursor"] = m.Params.Cursor + "x"
	case "same_page":
		result["nextCursor"] = "x"
	case "many_tools":
		for i := range 2000 {
			tools = append(tools, tool(fmt.Sprintf("t%d", i)))
		}
		result["tools"] = tools
	case "duplicates":
		result["tools"] = append(tools, tool("echo"))
	case "foldings":
		result["tools"] = append(tools, tool("ECHO"))
	case "no_list":
		s.fail(m.ID, -32601, "method not found")
		return
	case "secret_tools":
		t := tool("echo")
		t["description"] = "uses " + s.secret()
		t["inputSchema"] = map[string]any{"type": "object", "default": s.secret()}
		result["tools"] = []any{t, tool("name-" + s.secret())}
	case "lists_error":
		s.fail(m.ID, -32000, "cannot list with "+s.secret())
		return
	}
	s.mu.Lock()
	if s.renamed {
		result["tools"] = []any{tool("renamed")}
	}
	s.mu.Unlock()
	s.result(m.ID, result)
}

// secret is the value of the variable that tests put their secret in.
func (s *Server) secret() string {
	for _, kv := range s.Env {
		if v, ok := strings.CutPrefix(kv, "API_TOKEN="); ok {
			return v
		}
	}
	return ""
}

func text(lines ...string) map[string]any {
	var content []any
	for _, l := range lines {
		content = append(content, map[string]any{"type": "text", "text": l})
	}
	return map[string]any{"content": content, "resultType": "complete"}
}

func (s *Server) call(m message) {
	if fault := calls[s.Mode]; fault != nil {
		fault(s, m)
		return
	}
	switch m.Params.Name {
	case "echo":
		s.result(m.ID, text(string(m.Params.Arguments)))
	case "env":
		env := append([]string{}, s.Env...)
		sort.Strings(env)
		s.result(m.ID, text(strings.Join(env, "\n")))
	case "cwd":
		s.result(m.ID, text(s.Dir))
	case "fail":
		r := text("it went wrong")
		r["isError"] = true
		s.result(m.ID, r)
	case "wait": // until nobody waits any more
	default:
		s.fail(m.ID, -32602, "no such tool")
	}
}

func (s *Server) reply(m message) {
	switch {
	case m.Error != nil:
		_, _ = fmt.Fprintf(s.stderr(), "refused with %d\n", m.Error.Code)
		s.result(json.RawMessage(m.pending()), text(fmt.Sprintf("refused with %d", m.Error.Code)))
	default:
		s.result(json.RawMessage(m.pending()), text("answered with "+string(m.Result)))
	}
}

// pending is the id of the call for which the server asked: it is the name of
// the server's own request.
func (m message) pending() string { return strings.Trim(string(m.ID), `"`) }

func (s *Server) stderr() io.Writer {
	if s.Stderr == nil {
		return io.Discard
	}
	return s.Stderr
}

func (s *Server) exit() {
	if s.Exit != nil {
		s.Exit()
	}
	if c, ok := s.out.(io.Closer); ok {
		_ = c.Close()
	}
}
