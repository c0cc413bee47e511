package gitrepo

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
)

// maxBatchBytes bounds what one batch holds; more is left to single reads.
const maxBatchBytes = 16 << 20

// ReadBatch implements decl.Batch: it asks for many objects without waiting for
// each answer. What cannot be read in this way is nil, and Read says why.
func (t *commitTree) ReadBatch(ctx context.Context, entries []decl.Entry, limit int64) [][]byte {
	out := make([][]byte, len(entries))
	batch, ok := t.store.source.(*objectReader)
	if !ok {
		return out // go-git has nothing to gain
	}
	ids := make([]ID, len(entries))
	for i, e := range entries {
		ids[i] = ID(e.ID)
	}
	batch.readBatch(ctx, ids, limit, out)
	return out
}

// readBatch reads blobs into out. It leaves the rest nil when the child breaks
// or the context ends; the next single read starts a new child.
func (o *objectReader) readBatch(ctx context.Context, ids []ID, limit int64, out [][]byte) {
	for _, id := range ids {
		if len(id) != o.digits || strings.Trim(string(id), "0123456789abcdef") != "" {
			return
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ready(ctx) != nil {
		return
	}
	release := context.AfterFunc(ctx, o.child.stop)
	read := o.child.readBatch
	if o.careful {
		read = o.child.readSmall
	}
	whole := read(ids, limit, out)
	if !release() || !whole {
		o.drop()
		o.careful = true // something was too large, or out of order
	}
	for i, data := range out {
		if data != nil && CheckHash(o.format, ids[i], "blob", data) != nil {
			out[i] = nil
		}
	}
}

// readBatch asks for all contents at once, and stops in front of the first that is
// too large, or no blob. It reports whether the child answered as it must to the
// end.
func (c *catFile) readBatch(ids []ID, limit int64, out [][]byte) bool {
	left := int64(maxBatchBytes)
	return c.pipeline("contents", ids, func(i int) bool {
		size, err := c.answer("contents", ids[i], "blob")
		if fault.CodeOf(err) == fault.SurfaceUnreadable {
			return true // it is not there
		}
		if left -= size; err != nil || size > limit || left < 0 {
			return false
		}
		out[i], err = c.contents(size)
		return err == nil
	})
}

// readSmall is readBatch that asks for all sizes first, and then for the contents of
// those that fit.
func (c *catFile) readSmall(ids []ID, limit int64, out [][]byte) bool {
	left := int64(maxBatchBytes)
	var small []ID
	var at []int
	whole := c.pipeline("info", ids, func(i int) bool {
		size, err := c.answer("info", ids[i], "blob")
		if _, broken := err.(brokenReader); broken { //nolint:errorlint // made here, never wrapped
			return false
		}
		if err == nil && size <= limit && size <= left {
			small, at = append(small, ids[i]), append(at, i)
			left -= size
		}
		return true
	})
	if !whole {
		return false
	}
	read := make([][]byte, len(small))
	whole = c.readBatch(small, limit, read)
	for n, data := range read {
		out[at[n]] = data
	}
	return whole
}

// pipeline writes one request for each id while the answers are read.
func (c *catFile) pipeline(verb string, ids []ID, answer func(i int) bool) bool {
	written := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(c.in)
		for _, id := range ids {
			_, _ = io.WriteString(w, verb+" "+string(id)+"\n") // Flush reports the error
		}
		written <- w.Flush()
	}()
	whole := true
	for i := 0; i < len(ids) && whole; i++ {
		whole = answer(i)
	}
	if !whole {
		c.stop() // ends the child, so that the writer ends too
	}
	return <-written == nil && whole
}
