package runtime

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
)

// bomb is four times what may come through, in a few kilobytes.
var bomb = sync.OnceValue(func() []byte { return zipped(4 * maxHTTPBody) })

// zipped compresses n zero bytes: about a thousandth of their size.
func zipped(n int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.CopyN(z, zeros{}, int64(n))
	_ = z.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// until writes chunk until the client goes away.
func until(w http.ResponseWriter, chunk []byte) {
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestHTTPBodiesAreCapped(t *testing.T) {
	t.Parallel()
	chunk := make([]byte, 64<<10)
	set := func(w http.ResponseWriter, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			w.Header().Set(pairs[i], pairs[i+1])
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		reason  string // "" if all is read
		size    int
	}{
		{"exactly the cap", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, maxHTTPBody))
		}, "", maxHTTPBody},
		{"one more, announced", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Length", "8388609")
			_, _ = w.Write(make([]byte, maxHTTPBody+1))
		}, "body_too_large", 0},
		{"without an end", func(w http.ResponseWriter, _ *http.Request) { until(w, chunk) }, "body_too_large", 0},
		{"gzip", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "gzip")
			_, _ = w.Write(zipped(maxHTTPBody))
		}, "", maxHTTPBody},
		{"gzip bomb", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "GZIP")
			_, _ = w.Write(bomb())
		}, "body_too_large", 0},
		{"gzip of nothing, without an end", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "gzip")
			until(w, bytes.Repeat(zipped(0), 1000))
		}, "body_too_large", 0},
		{"gzip in gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Encoding"] = []string{"gzip", "gzip"}
			_, _ = w.Write(zipped(10))
		}, "encoding_unsupported", 0},
		{"another encoding", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "br")
			_, _ = w.Write(chunk)
		}, "encoding_unsupported", 0},
		{"gzip that is none", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "plain text, and long enough for a header")
		}, "encoding_broken", 0},
		{"gzip cut short", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "gzip")
			_, _ = w.Write(zipped(1 << 20)[:200])
		}, "encoding_broken", 0},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Length", "100")
			_, _ = w.Write(chunk[:10])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "connection_failed", 0},
		{"cut before the headers", func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "connection_failed", 0},
		{"gzip on a connection that breaks", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Encoding", "gzip")
			_, _ = w.Write(zipped(1 << 20)[:200])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "connection_failed", 0},
		{"an error that claims to be a stream", func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusInternalServerError)
			until(w, []byte("data: x\n\n"))
		}, "body_too_large", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, c.handler)
			server.Config.ErrorLog = quietLog
			g := guardOf(t, httpConfig{URL: server.URL, Policy: loopbackPolicy(nil)})
			ctx, failure := withHTTPFailure(t.Context())
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.URL(), nil)
			resp, err := g.Client().Do(req)
			n := int64(0)
			if err == nil {
				n, err = io.Copy(io.Discard, resp.Body)
				_, again := resp.Body.Read(make([]byte, 1))
				if again == nil || (c.reason != "") == errors.Is(again, io.EOF) {
					t.Errorf("after the end: %v", again)
				}
				resp.Body.Close()
			}
			if n > maxHTTPBody && c.reason != "" {
				t.Errorf("%d bytes came through", n)
			}
			if c.reason == "" {
				if err != nil || n != int64(c.size) || failure.Err() != nil {
					t.Errorf("read %d of %d: %v, recorded %v", n, c.size, err, failure.Err())
				}
				return
			}
			wantFailure(t, err, c.reason)
			if kept := failure.Err(); kept == nil || string(kept.Reason) != c.reason {
				t.Errorf("recorded %v", kept)
			}
		})
	}
}

// A compressed stream is passed on event by event, not at its end.
func TestHTTPCompressedStreamFlows(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for _, event := range []string{"data: one\n\n", "data: two\n\n"} {
			_, _ = io.WriteString(z, event)
			_ = z.Flush()
			w.(http.Flusher).Flush()
			select {
			case <-read:
			case <-r.Context().Done():
			}
		}
		_ = z.Close()
	})
	g := guardOf(t, httpConfig{URL: server.URL, Policy: loopbackPolicy(nil)})
	resp, err := do(t, g, http.MethodGet, g.URL(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Encoding") != "" || !resp.Uncompressed {
		t.Error("the response still says that it is compressed")
	}
	buf := make([]byte, len("data: one\n\n"))
	for _, want := range []string{"data: one\n\n", "data: two\n\n"} {
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != want {
			t.Fatalf("%q %v", buf, err)
		}
		read <- struct{}{}
	}
	if _, err := resp.Body.Read(buf); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}
