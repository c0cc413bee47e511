package servertest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// starts are faults that begin with the server.
var starts = map[string]func(*Server){
	"stubborn": func(*Server) { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) },
	"banner":   func(s *Server) { s.write("Welcome to the server!\n\n{\"not\": \"rpc\"}\n[1]\n") },
	"noise": func(s *Server) {
		for range 1000 {
			s.write(strings.Repeat("noise ", 1000) + "\n")
		}
	},
	"stderr": func(s *Server) { spill(s) },
	"stderr_then_die": func(s *Server) {
		_, _ = io.WriteString(s.Stderr, "fatal: "+s.secret()[:len(s.secret())-2])
		s.exit()
	},
	"grandchild": func(*Server) {
		self, _ := os.Executable()
		child := exec.Command(self) //nolint:noctx // it is to outlive everything
		child.Env = append(os.Environ(), "EVOLVE_TEST_SERVER=sleeper")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		fmt.Fprintf(os.Stderr, "grandchild %d\n", child.Process.Pid)
	},
	"dies_at_start": func(s *Server) { s.exit() },
}

// spill writes 10 MB to standard error, with the server's secret in many forms
// at many places.
func spill(s *Server) {
	secret := s.secret()
	forms := []string{
		secret,
		base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		base64.URLEncoding.EncodeToString([]byte("xx" + secret)),
		url.QueryEscape("a " + secret),
		secret[:7] + "\n" + secret[7:],
		secret[:3] + "\r\n    " + secret[3:9] + "\n" + secret[9:],
		fmt.Sprintf("%x", secret),
	}
	w := s.stderr()
	filler := strings.Repeat("all is well and nothing happens here; ", 20)
	for size := 0; size < 10<<20; {
		for i, f := range forms {
			n, err := fmt.Fprintf(w, "%s%d %s\n", filler, i, f)
			if err != nil {
				return
			}
			size += n
		}
	}
}

// calls are faults of tools/call.
var calls = map[string]func(*Server, message){
	"dies_mid_call": func(s *Server, _ message) { s.exit() },
	"no_newline": func(s *Server, _ message) {
		for range 64 << 20 / 4096 {
			s.write(strings.Repeat("x", 4096))
		}
	},
	"huge":    func(s *Server, m message) { s.result(m.ID, text(strings.Repeat("x", 9<<20))) },
	"large":   func(s *Server, m message) { s.result(m.ID, text(strings.Repeat("x", 7<<20))) },
	"null_id": func(s *Server, _ message) { s.fail(json.RawMessage("null"), -32700, "cannot read that") },
	"call_wrong_id": func(s *Server, _ message) {
		s.result(json.RawMessage("99999"), text("for somebody else"))
	},
	"unknown_content": func(s *Server, m message) {
		s.result(m.ID, map[string]any{"content": []any{
			map[string]any{"type": "hologram", "cubes": 7}, map[string]any{"type": "text", "text": "beside it"}}})
	},
	"every_content": func(s *Server, m message) {
		s.result(m.ID, map[string]any{"content": []any{
			map[string]any{"type": "text", "text": "words"},
			map[string]any{"type": "image", "mimeType": "image/png", "data": "AQID"},
			map[string]any{"type": "audio", "mimeType": "audio/wav", "data": "BAUG"},
			map[string]any{"type": "resource_link", "uri": "file:///a.txt", "name": "a", "title": "A file"},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///b.txt", "text": "inside"}},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///c.bin", "mimeType": "application/zip", "blob": "AAAA"}},
		}})
	},
	"structured": func(s *Server, m message) {
		r := text(`{"answer": 42}`)
		r["structuredContent"] = map[string]any{"answer": 42, "big": json.Number("12345678901234567890")}
		s.result(m.ID, r)
	},
	"nothing":      func(s *Server, m message) { s.result(m.ID, map[string]any{"content": []any{}}) },
	"not_a_result": func(s *Server, m message) { s.result(m.ID, "just text") },
	"input_required": func(s *Server, m message) {
		s.result(m.ID, map[string]any{"resultType": "input_required", "requestState": "s",
			"inputRequests": map[string]any{"q": map[string]any{"method": "elicitation/create",
				"params": map[string]any{"message": "Your name?", "requestedSchema": map[string]any{"type": "object"}}}}})
	},
	"leaks": func(s *Server, m message) { leak(s, m) },
	"error_leaks": func(s *Server, m message) {
		s.fail(m.ID, -32000, "login with "+s.secret()+" failed")
	},
	"changes_tools": func(s *Server, m message) {
		s.mu.Lock()
		s.renamed = true
		s.mu.Unlock()
		s.note("notifications/tools/list_changed", struct{}{})
		s.result(m.ID, text("changed"))
	},
	"modern_changes": func(s *Server, m message) {
		s.mu.Lock()
		s.renamed = true
		s.mu.Unlock()
		s.note("notifications/tools/list_changed", struct{}{})
		s.result(m.ID, text("changed"))
	},
	"tells": func(s *Server, m message) {
		s.note("notifications/progress", map[string]any{
			"progressToken": m.Params.Meta.Token, "progress": 1, "total": 2, "message": "half with " + s.secret()})
		s.note("notifications/message", map[string]any{"level": "info", "logger": "fake", "data": map[string]any{"token": s.secret()}})
		s.result(m.ID, text("told"))
	},
	"asks_sampling": func(s *Server, m message) { s.ask(m, "sampling/createMessage", map[string]any{}) },
	"asks_roots":    func(s *Server, m message) { s.ask(m, "roots/list", map[string]any{}) },
	"asks_ping":     func(s *Server, m message) { s.ask(m, "ping", map[string]any{}) },
	"asks_user": func(s *Server, m message) {
		s.ask(m, "elicitation/create", map[string]any{"message": "Your name?", "requestedSchema": map[string]any{"type": "object"}})
	},
	"asks_too_much": func(s *Server, _ message) {
		for i := range 10_000 {
			s.send(map[string]any{"jsonrpc": "2.0", "id": i, "method": "elicitation/create",
				"params": map[string]any{"message": "?", "requestedSchema": map[string]any{"type": "object"}}})
		}
	},
}

// ask makes a request of the server's own, whose id names the call.
func (s *Server) ask(m message, method string, params any) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": string(m.ID), "method": method, "params": params})
}

// leak answers with the secret in every form that a server can think of.
func leak(s *Server, m message) {
	secret := s.secret()
	r := text(
		secret, strings.ToUpper(fmt.Sprintf("%x", secret)), url.PathEscape(secret+"/x"),
		base64.RawStdEncoding.EncodeToString([]byte("a"+secret)), secret[:5]+"\n"+secret[5:],
		"\x1b[1m"+secret[:4]+"\x1b[0m"+secret[4:], "arguments: "+string(m.Params.Arguments),
	)
	r["structuredContent"] = map[string]any{"deep": []any{map[string]any{secret: "x" + secret + "y"}}}
	s.result(m.ID, r)
}

// Main runs the server as a program: the environment variable says which mode.
func Main() {
	mode := os.Getenv("EVOLVE_TEST_SERVER")
	if mode == "sleeper" {
		forever()
	}
	dir, _ := os.Getwd()
	s := &Server{Mode: mode, Env: os.Environ(), Dir: dir, Stderr: os.Stderr, Exit: func() { os.Exit(3) }}
	s.Serve(os.Stdin, os.Stdout)
	if mode == "stubborn" {
		forever()
	}
}

// forever does nothing, in a way that is no deadlock for Go.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}
