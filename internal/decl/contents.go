package decl

import (
	"context"
	"crypto/sha256"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// contents reads bound files against the surface's byte limit.
type contents struct {
	tree Tree
	left int64
	// sums are the digests of what was read, by object id. Two surfaces that are
	// compared share them: an object that both hold is read once.
	sums map[string]sum
}

type sum struct {
	digest [32]byte
	bytes  int64
}

// share makes c use what other has read, and the other way round.
func (c *contents) share(other *contents) {
	if c.sums == nil || other.sums == nil {
		return
	}
	for id, s := range c.sums {
		other.sums[id] = s
	}
	c.sums = other.sums
}

func (c *contents) read(ctx context.Context, f BoundFile) ([]byte, error) {
	if !f.entry.Mode.IsRegular() {
		return []byte(f.entry.ID), nil // an error of its own; bound by mode and id
	}
	data, err := c.tree.Read(ctx, baseOf(f.Path), f.entry, c.left)
	if err != nil {
		return nil, readError(f.Path, err)
	}
	return data, c.take(f, int64(len(data)))
}

// take counts bytes against the limit of the surface.
func (c *contents) take(f BoundFile, n int64) error {
	c.left -= n
	if c.left > 0 {
		return nil
	}
	return fault.New(fault.SurfaceUnreadable, "what the declarations launch has more than %d bytes, at %s",
		MaxSurfaceBytes, shownPath(f.Path)).WithHint("launch from a smaller directory")
}

// sum digests one file.
func (c *contents) sum(ctx context.Context, f BoundFile) ([32]byte, error) {
	known, ok := c.sums[f.entry.ID]
	if ok && f.entry.Mode.IsRegular() {
		return known.digest, c.take(f, known.bytes)
	}
	data, err := c.read(ctx, f)
	if err != nil {
		return [32]byte{}, err
	}
	s := sum{sha256.Sum256(data), int64(len(data))}
	if f.entry.ID != "" && f.entry.Mode.IsRegular() {
		c.sums[f.entry.ID] = s
	}
	return s.digest, nil
}

// digest is of the paths, modes and bytes of files.
func (c *contents) digest(ctx context.Context, files []BoundFile) (Digest, error) {
	h := sha256.New()
	frame(h, "bound")
	writeCount(h, len(files))
	for i, f := range files {
		if i%batchFiles == 0 {
			c.prefetch(ctx, files[i:min(i+batchFiles, len(files))])
		}
		sum, err := c.sum(ctx, f)
		if err != nil {
			return Digest{}, err
		}
		frame(h, f.Path, modeText(f.entry.Mode), string(sum[:]))
	}
	return Digest(h.Sum(nil)), nil
}

// prefetch digests at once those files of a batch that are not known.
func (c *contents) prefetch(ctx context.Context, files []BoundFile) {
	var entries []Entry
	for _, f := range files {
		if _, known := c.sums[f.entry.ID]; !known && f.entry.ID != "" && f.entry.Mode.IsRegular() {
			entries = append(entries, f.entry)
		}
	}
	for i, data := range readBatch(ctx, c.tree, entries, min(c.left, maxBoundFile)) {
		if data != nil {
			c.sums[entries[i].ID] = sum{sha256.Sum256(data), int64(len(data))}
		}
	}
}
