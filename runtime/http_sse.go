package runtime

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// eventLimits bound a stream of server-sent events. All sizes are of
// decompressed bytes.
type eventLimits struct {
	total    int // bytes of the whole stream, comments included
	event    int // bytes of one event
	lines    int // lines of one event
	requests int // requests that the server makes
	// endAfter, if set, ends the stream between two events once so many bytes
	// came, or as many requests as there may be. Without it, both are errors.
	endAfter int
	// oneResponse ends the stream after the first JSON-RPC response. The
	// protocol library takes one per stream and blocks for good on a third.
	oneResponse bool
}

// eventReader hands out a stream one whole event at a time, so that nothing of
// an event that breaks a limit is seen. It ends lines and events where the
// protocol library does: at LF, and at a line that is empty but for carriage
// returns. Comments are left out.
type eventReader struct {
	r      *bufio.Reader
	limits eventLimits
	out    []byte // to be handed out
	end    error  // then returned

	total    int
	requests int
	event    []byte // what has come of the present event
	lines    int    // its lines that are not empty

	// Of the present line:
	started bool
	comment bool
	blank   bool // nothing but carriage returns
}

func newEventReader(r io.Reader, limits eventLimits) *eventReader {
	return &eventReader{r: bufio.NewReader(r), limits: limits}
}

func (e *eventReader) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.end != nil {
			return 0, e.end
		}
		e.event = e.event[:0]
		e.gather()
	}
	n := copy(p, e.out)
	if e.out = e.out[n:]; len(e.out) == 0 && cap(e.event) > keptEventBytes {
		e.event = nil // do not hold on to the largest event there was
	}
	return n, nil
}

// keptEventBytes is the largest buffer that is used again.
const keptEventBytes = 64 << 10

// gather reads up to the end of an event, and sets out or end.
func (e *eventReader) gather() {
	e.lines = 0
	for {
		line, err := e.r.ReadSlice('\n')
		if e.total += len(line); e.total > e.limits.total {
			e.end = &httpError{Reason: httpBodyTooLarge}
			return
		}
		done := e.take(line)
		switch {
		case e.end != nil:
			return
		case err == io.EOF:
			// The library also takes an event that the end cuts.
			e.out, e.end = e.event, io.EOF
			return
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			e.end = err
			return
		case done && e.lines > 0:
			e.finish()
			return
		case done:
			e.event = e.event[:0]
		}
		if e.limits.endAfter > 0 && e.total >= e.limits.endAfter && len(e.event) == 0 {
			e.end = io.EOF
			return
		}
	}
}

// take adds a line, or a piece of one, and reports whether it ends the event.
func (e *eventReader) take(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	if !e.started {
		e.started, e.comment, e.blank = true, line[0] == ':', true
	}
	ended := line[len(line)-1] == '\n'
	e.started = !ended
	if e.comment {
		return false
	}
	if e.event = append(e.event, line...); len(e.event) > e.limits.event {
		e.end = &httpError{Reason: httpEventTooLarge}
		return false
	}
	e.blank = e.blank && len(bytes.TrimRight(line, "\r\n")) == 0
	if !ended || e.blank {
		return ended
	}
	if e.lines++; e.lines > e.limits.lines {
		e.end = &httpError{Reason: httpEventTooLarge}
	}
	return false
}

// finish looks at a whole event and decides whether the stream goes on.
func (e *eventReader) finish() {
	e.out = e.event
	request, response := messageKind(eventData(e.event))
	if request {
		e.requests++
	}
	switch {
	case response && e.limits.oneResponse:
		e.end = io.EOF
	case e.limits.endAfter > 0:
		if e.total >= e.limits.endAfter || e.requests >= e.limits.requests {
			e.end = io.EOF
		}
	case e.requests > e.limits.requests:
		e.out, e.end = nil, &httpError{Reason: httpServerRequests}
	}
}

// eventData returns the data of an event as the protocol library joins it.
func eventData(event []byte) []byte {
	var data []byte
	for line := range bytes.Lines(event) {
		value, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:"))
		if !ok {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if len(data) == 0 {
			data = value[:len(value):len(value)] // so that appending copies
		} else {
			data = append(append(data, '\n'), value...)
		}
	}
	return data
}

// messageKind tells what the protocol library takes a message for.
func messageKind(data []byte) (request, response bool) {
	var fields map[string]json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &fields) != nil {
		return false, false
	}
	hasID := false
	for name, value := range fields {
		hasID = hasID || strings.EqualFold(name, "id") && string(value) != "null"
	}
	_, hasMethod := fields["method"]
	return hasID && hasMethod, hasID && !hasMethod
}
