package decl

import (
	"context"
	"errors"
)

// ErrTooLarge is in the chain of the error with which Tree.Read refuses content
// of more than its limit.
var ErrTooLarge = errors.New("more bytes than the limit")

// Mode is a Git file mode.
type Mode uint32

// The modes that a tree may hold.
const (
	ModeTree       Mode = 0o040000
	ModeRegular    Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000
)

// IsRegular reports whether the entry is a plain file, executable or not.
func (m Mode) IsRegular() bool { return m == ModeRegular || m == ModeExecutable }

// Entry is one name in a directory of a revision.
type Entry struct {
	// Name is a single path component, in the bytes the tree holds.
	Name string
	Mode Mode
	// ID is the object's id in lowercase hex. Equal non-empty IDs mean equal
	// content. It is empty for a working tree, whose content must be read.
	ID string
}

// Tree reads one revision, or a working tree. Paths use slashes and are
// relative to the repository's root; "" is the root. Implementations verify
// what they read: a tree is parsed strictly, an object's bytes are hashed
// against its id. Errors are *fault.Fault, except fs.ErrNotExist.
type Tree interface {
	// List returns the entries of a directory, sorted bytewise by name. It
	// returns an error wrapping fs.ErrNotExist if there is no directory at dir
	// (also if dir is a file or a symlink; no component is ever followed).
	List(ctx context.Context, dir string) ([]Entry, error)
	// Read returns the bytes of the regular file or symlink (its target) named
	// by entry in dir. More than limit bytes is an error that
	// wraps ErrTooLarge, found before reading.
	Read(ctx context.Context, dir string, entry Entry, limit int64) ([]byte, error)
}

// Batch is what a Tree may have beside: reading many files at a lower price than
// one by one.
type Batch interface {
	// ReadBatch returns the bytes of regular files by their ids, in the order of
	// entries. It is best effort and may leave any of them nil, such as one of
	// more than limit bytes: ask Read for those, which tells why.
	ReadBatch(ctx context.Context, entries []Entry, limit int64) [][]byte
}

// batchFiles is how many files are asked for at once.
const batchFiles = 512

// readBatch reads what a tree can read at once.
func readBatch(ctx context.Context, tree Tree, entries []Entry, limit int64) [][]byte {
	if b, ok := tree.(Batch); ok && len(entries) > 1 {
		if out := b.ReadBatch(ctx, entries, limit); len(out) == len(entries) {
			return out
		}
	}
	return make([][]byte, len(entries))
}
