package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	note     = `data: {"jsonrpc":"2.0","method":"notifications/progress"}` + "\n\n"
	asks     = `data: {"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n\n"
	response = `data: {"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n"
)

// endless is a stream of what without an end, or n times.
func endless(what string, n int) http.HandlerFunc {
	block := what
	if n <= 0 {
		block = strings.Repeat(what, 1+64<<10/len(what))
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		if n <= 0 {
			until(w, []byte(block))
		}
		for range n {
			_, _ = io.WriteString(w, block)
		}
	}
}

// streamKind is a request that a stream answers, and why reading it fails.
type streamKind struct {
	name, method, reason string
	header               http.Header
}

// Streams without an end, or with events that are too large. A call fails at
// the cap; a stream that listens ends between two events, to be opened again.
func TestHTTPStreamsAreCapped(t *testing.T) {
	t.Parallel()
	big := "data: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		call    string // the reason for a call; "" if it is read to its end
		listen  string // and for a stream that listens
		size    int    // what a stream that listens gets, if it is said
	}{
		{"an event without an end", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
			until(w, bytes.Repeat([]byte("x"), 64<<10))
		}, "body_too_large", "event_too_large", 0},
		{"an event of many lines", endless("data:\n", 0), "event_too_large", "event_too_large", 0},
		{"small events without an end", endless(note, 0), "body_too_large", "", 0},
		{"large events without an end", endless(big, 0), "body_too_large", "", 8 * len(big)},
		{"comments without an end", endless(": still here\n", 0), "body_too_large", "", 0},
		{"a comment without an end", endless(": still here", 0), "body_too_large", "", 0},
		{"empty lines without an end", endless("\r\n", 0), "body_too_large", "", 0},
		{"carriage returns without an end", endless("\r", 0), "body_too_large", "event_too_large", 0},
		{"requests by the server without an end", endless(asks, 0), "too_many_server_requests", "", maxServerRequests * len(asks)},
		{"as many requests as may be", endless(asks, maxServerRequests), "", "", maxServerRequests * len(asks)},
		{"a bomb", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb())
		}, "body_too_large", "event_too_large", 0},
		{"gzip of nothing without an end", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			until(w, bytes.Repeat(zipped(0), 1000))
		}, "body_too_large", "body_too_large", 0},
	} {
		kinds := []streamKind{{"call", http.MethodPost, c.call, nil}, {"listening", http.MethodGet, c.listen, nil}}
		if strings.HasPrefix(c.name, "requests") {
			kinds = append(kinds, streamKind{"resumed call", http.MethodGet, c.call, http.Header{"Last-Event-Id": {"7"}}},
				streamKind{"listening by a request", http.MethodPost, c.listen, http.Header{"Mcp-Method": {"subscriptions/listen"}}})
		}
		for _, kind := range kinds {
			t.Run(c.name+"/"+kind.name, func(t *testing.T) {
				t.Parallel()
				server := serve(t, c.handler)
				g := guardOf(t, httpConfig{URL: server.URL, Policy: loopbackPolicy(nil)})
				ctx, failure := withHTTPFailure(t.Context())
				req, _ := http.NewRequestWithContext(ctx, kind.method, g.URL(), nil)
				for key, values := range kind.header {
					req.Header[key] = values
				}
				resp, err := g.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				n, err := io.Copy(io.Discard, resp.Body)
				if n > maxHTTPBody+int64(len(big)) {
					t.Errorf("%d bytes came through", n)
				}
				if kind.reason != "" {
					wantFailure(t, err, kind.reason)
					if kept := failure.Err(); kept == nil || string(kept.Reason) != kind.reason {
						t.Errorf("recorded %v", kept)
					}
					return
				}
				if err != nil || failure.Err() != nil {
					t.Errorf("%v, recorded %v", err, failure.Err())
				}
				if c.size != 0 && n != int64(c.size) {
					t.Errorf("%d bytes, want %d", n, c.size)
				}
			})
		}
	}
}

// Nothing follows the response of a call; a stream that listens has none.
func TestHTTPCallEndsWithItsResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sent, call string
	}{
		{"after notifications", note + asks + response + response + note, note + asks + response},
		{"an error is a response", `data: {"id":1,"error":{}}` + "\n\n" + note, `data: {"id":1,"error":{}}` + "\n\n"},
		{"over several lines", "data: {\"id\":1,\r\ndata: \"result\":1}\r\n\r\n" + note, "data: {\"id\":1,\r\ndata: \"result\":1}\r\n\r\n"},
		{"not a response", "data: [1]\n\ndata: {\"id\":null}\n\ndata: x\n\nid: 1\n\n", "data: [1]\n\ndata: {\"id\":null}\n\ndata: x\n\nid: 1\n\n"},
		{"comments are left out", ": a\nevent: message\n: b\ndata: 1\n\n: c\n\n", "event: message\ndata: 1\n\n"},
		{"cut by the end", note + "data: 1\n", note + "data: 1\n"},
	} {
		got, err := io.ReadAll(newEventReader(strings.NewReader(c.sent), callLimits()))
		if err != nil || string(got) != c.call {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.call)
		}
	}
	all := note + asks + response + response + note
	got, err := io.ReadAll(newEventReader(strings.NewReader(all), listenLimits()))
	if err != nil || string(got) != all {
		t.Errorf("listening: %q %v", got, err)
	}
}

// An error in the middle of an event shows nothing of it.
func TestHTTPBrokenStreamShowsWholeEvents(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader(note+"data: half"), iotest.ErrReader(broken))
	got, err := io.ReadAll(newEventReader(r, callLimits()))
	if !errors.Is(err, broken) || string(got) != note {
		t.Errorf("%q %v", got, err)
	}
}

// events reads a stream as the protocol library does, without its limits.
func events(stream []byte) []string {
	var out []string
	var data []byte
	for line := range bytes.Lines(stream) {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended {
			break
		}
		text = bytes.TrimRight(text, "\r")
		if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			value = bytes.TrimPrefix(value, []byte(" "))
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
		if len(text) == 0 && len(data) > 0 {
			out, data = append(out, string(data)), nil
		}
	}
	if len(data) > 0 {
		out = append(out, string(data))
	}
	return out
}

// FuzzSSE holds the reader against the library's reading of the same bytes: what
// comes through is a beginning of it, all of it unless a limit or a response
// says so, and however the bytes arrive.
func FuzzSSE(f *testing.F) {
	for _, seed := range []string{"", "data: a\n\n", "data: a\r\ndata: b\r\n\r\n", ": comment\n: comment\n", "\n\n\n", "\r\r\n",
		note + asks + response + note, "id: 1\ndata: 0123456789012345678901234567890123456789\n\n", "data:\ndata:\ndata:\ndata:\n\n",
		"data: a\n:\n\ndata: b", "event: x\nretry: 5\n\n", asks + asks + asks} {
		f.Add([]byte(seed))
	}
	call := eventLimits{total: 400, event: 100, lines: 3, requests: 2, oneResponse: true}
	listen := eventLimits{total: 500, event: 100, lines: 3, requests: 2, endAfter: 400}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, limits := range []eventLimits{call, listen} {
			got, err := io.ReadAll(newEventReader(bytes.NewReader(stream), limits))
			single, again := io.ReadAll(iotest.OneByteReader(newEventReader(iotest.OneByteReader(bytes.NewReader(stream)), limits)))
			if !bytes.Equal(got, single) || fmt.Sprint(err) != fmt.Sprint(again) {
				t.Fatalf("%q: %q %v, byte by byte %q %v", stream, got, err, single, again)
			}
			checkEvents(t, stream, got, err, limits)
		}
	})
}

func checkEvents(t *testing.T, stream, got []byte, err error, limits eventLimits) {
	t.Helper()
	if len(got) > limits.total || len(got) > len(stream) {
		t.Fatalf("%q: %d bytes came through", stream, len(got))
	}
	sent, seen := events(stream), events(got)
	if len(seen) > len(sent) {
		t.Fatalf("%q: %d events of %d", stream, len(seen), len(sent))
	}
	requests, responses := 0, 0
	for i, event := range seen {
		if event != sent[i] || len(event) > limits.event || strings.Count(event, "\n") >= limits.lines {
			t.Fatalf("%q: event %q came through as %q", stream, sent[i], event)
		}
		request, response := messageKind([]byte(event))
		if request {
			requests++
		}
		if response {
			responses++
		}
	}
	if requests > limits.requests+1 || limits.oneResponse && responses > 1 {
		t.Fatalf("%q: %d requests, %d responses came through", stream, requests, responses)
	}
	early := limits.oneResponse && responses > 0 ||
		limits.endAfter > 0 && (len(stream) >= limits.endAfter || requests >= limits.requests)
	if err == nil && len(seen) < len(sent) && !early {
		t.Fatalf("%q: %d events of %d without an error", stream, len(seen), len(sent))
	}
}
