package stdio

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func request(id int64, params any) transport.JSONRPCRequest {
	return transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId(id), Method: "m", Params: params}
}

// pair is a transport and the server's end.
func pair(t *testing.T) (*Transport, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	tr := NewTransport(t.Context(), ours)
	_ = tr.Start(t.Context())
	t.Cleanup(func() {
		_ = theirs.Close()
		_ = tr.Close()
	})
	return tr, theirs
}

// TestAWriteEndsWithItsContext: a reader that stopped holds up no later caller
// past its own deadline.
func TestAWriteEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := pair(t)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		errs := make(chan error, 2)
		go func() { _, err := tr.SendRequest(ctx, request(1, nil)); errs <- err }()
		short, cancel2 := context.WithTimeout(t.Context(), time.Second)
		defer cancel2()
		go func() { _, err := tr.SendRequest(short, request(2, nil)); errs <- err }()
		for range 2 {
			if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		}
		if d := time.Since(start); d != 2*time.Second {
			t.Errorf("took %v", d)
		}
		// Nothing was written: the stream is still good.
		if tr.Err() != nil {
			t.Errorf("%v", tr.Err())
		}
	})
}

// TestAPartialWriteBreaksTheStream: what follows would be read as its rest.
func TestAPartialWriteBreaksTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, server := pair(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _, _ = io.ReadFull(server, make([]byte, 10)) }()
		if _, err := tr.SendRequest(ctx, request(1, strings.Repeat("x", 100))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		<-tr.Done()
		if !errors.Is(tr.Err(), ErrWrite) {
			t.Errorf("%v", tr.Err())
		}
		if _, err := tr.SendRequest(t.Context(), request(2, nil)); !errors.Is(err, ErrWrite) {
			t.Errorf("%v", err)
		}
	})
}

// TestResponsesMustAnswerARequest.
func TestResponsesMustAnswerARequest(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		end        error // of the connection
	}{
		{"its own", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil},
		{"one that was never made", `{"jsonrpc":"2.0","id":2,"result":{}}`, ErrWrongID},
		{"a name", `{"jsonrpc":"2.0","id":"1","result":{}}`, ErrWrongID},
		{"zero", `{"jsonrpc":"2.0","id":0,"result":{}}`, ErrWrongID},
		{"a fraction", `{"jsonrpc":"2.0","id":0.5,"result":{}}`, ErrWrongID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr, server := pair(t)
			go func() {
				_, _ = bufio.NewReader(server).ReadString('\n')
				_, _ = io.WriteString(server, tt.line+"\n")
			}()
			_, err := tr.SendRequest(t.Context(), request(1, nil))
			if !errors.Is(err, tt.end) {
				t.Errorf("%v, want %v", err, tt.end)
			}
		})
	}
}

// TestALateResponseIsDropped: its request was given up.
func TestALateResponseIsDropped(t *testing.T) {
	tr, server := pair(t)
	lines := bufio.NewReader(server)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() { _, err := tr.SendRequest(ctx, request(1, nil)); errs <- err }()
	_, _ = lines.ReadString('\n')
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(server, `{"jsonrpc":"2.0","id":1,"result":{"late":1}}`+"\n")
		_, _ = lines.ReadString('\n')
		_, _ = io.WriteString(server, `{"jsonrpc":"2.0","id":2,"result":{"good":1}}`+"\n")
	}()
	r, err := tr.SendRequest(t.Context(), request(2, nil))
	if err != nil || string(r.Result) != `{"good":1}` {
		t.Errorf("%v %v", r, err)
	}
}

// TestTheServersRequestsAreBounded, and refused without a handler.
func TestTheServersRequestsAreRefusedWithoutAHandler(t *testing.T) {
	_, server := pair(t)
	go func() { _, _ = io.WriteString(server, `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`+"\n") }()
	line, err := bufio.NewReader(server).ReadString('\n')
	if err != nil || !strings.Contains(line, "-32601") || !strings.Contains(line, `"id":"q"`) {
		t.Errorf("%s %v", line, err)
	}
}

func TestARequestAboveTheLimitIsNotSent(t *testing.T) {
	tr, _ := pair(t)
	if _, err := tr.SendRequest(t.Context(), request(1, strings.Repeat("x", MaxFrame))); !errors.Is(err, ErrRequestLarge) {
		t.Errorf("%v", err)
	}
	if tr.Err() != nil {
		t.Errorf("%v", tr.Err())
	}
}
