package stdio

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Stream carries lines to and from a server. Close ends a Read and a Write that
// wait. A net.Conn is one, and so is a Process.
type Stream interface {
	io.ReadWriteCloser
	// SetWriteDeadline bounds the writes that follow, and the one that waits.
	SetWriteDeadline(time.Time) error
}

// frameWriter writes one message at a time.
type frameWriter struct {
	s    Stream
	turn chan struct{} // holds one token while somebody writes
}

func newFrameWriter(s Stream) *frameWriter {
	return &frameWriter{s: s, turn: make(chan struct{}, 1)}
}

// write sends a frame, which has its line break. It waits for its turn and for
// the reader at the other end no longer than ctx and closed allow. broken says
// that part of the frame was sent, so that the stream cannot be used any more.
func (w *frameWriter) write(ctx context.Context, closed <-chan struct{}, frame []byte) (broken bool, err error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	case <-closed:
		return false, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	deadline, _ := ctx.Deadline()
	if err := w.s.SetWriteDeadline(deadline); err != nil {
		return false, ErrClosed
	}
	var interrupted sync.WaitGroup
	interrupted.Add(1)
	stop := context.AfterFunc(ctx, func() {
		defer interrupted.Done()
		_ = w.s.SetWriteDeadline(time.Unix(1, 0)) // in the past: ends the write
	})
	n, err := w.s.Write(frame)
	if !stop() {
		interrupted.Wait() // so that the next writer's deadline stands
	}
	if err == nil {
		return false, nil
	}
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return n > 0, ended(ctx)
	}
	return true, ErrWrite
}

// ended is why a context ended. The deadline of a write can pass a moment
// before the context's own timer fires.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.DeadlineExceeded
}
