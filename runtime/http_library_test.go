package runtime

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"
)

// The protocol library over the guard: every request has the declared headers,
// the DELETE that ends the session too; a server that answers a call three
// times leaves no goroutine behind; a body above the cap is found in the
// context. Not parallel: it looks for goroutines that are left.
func TestHTTPGuardUnderTheLibrary(t *testing.T) {
	before := goleak.IgnoreCurrent()
	var got seen
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		if r.Method == http.MethodDelete {
			return
		}
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		got.mu.Lock()
		_ = json.Unmarshal([]byte(got.bodies[len(got.bodies)-1]), &message)
		got.mu.Unlock()
		switch message.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "the-session")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(message.ID)+`,"result":{}}`)
		case "many":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, strings.Repeat(response, 20))
		default:
			endless(note, 0)(w, r)
		}
	})
	g := guardOf(t, httpConfig{URL: server.URL + "/mcp?key=hunter2", Headers: []httpHeader{header("Authorization", "Bearer hunter2")},
		Policy: loopbackPolicy(nil)})
	client, err := transport.NewStreamableHTTP(g.URL(), transport.WithHTTPBasicClient(g.Client()),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	send := func(method string) (*transport.JSONRPCResponse, *httpError) {
		ctx, failure := withHTTPFailure(t.Context())
		answer, _ := client.SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId(int64(1)), Method: method})
		return answer, failure.Err()
	}
	for _, method := range []string{"initialize", "many", "many", "many"} {
		if answer, failure := send(method); answer == nil || failure != nil {
			t.Fatalf("%s: %v, recorded %v", method, answer, failure)
		}
	}
	if answer, failure := send("endless"); answer != nil || failure == nil || failure.Reason != httpBodyTooLarge {
		t.Errorf("endless: %v, recorded %v", answer, failure)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for i, r := range got.requests {
		if r.Header.Get("Authorization") != "Bearer hunter2" || r.RequestURI != "/mcp?key=hunter2" ||
			(i > 0) != (r.Header.Get("Mcp-Session-Id") == "the-session") {
			t.Errorf("%s arrived with %v", r.Method, r.Header)
		}
	}
	if last := got.requests[len(got.requests)-1]; last.Method != http.MethodDelete || len(got.requests) != 6 {
		t.Errorf("%d requests, the last is %s", len(got.requests), last.Method)
	}
	g.Close()
	server.Close()
	goleak.VerifyNone(t, before)
}
