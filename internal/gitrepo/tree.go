package gitrepo

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Source is where objects come from: git cat-file, or go-git.
type Source interface {
	// Read returns the bytes of an object, which has the kind asked for ("blob",
	// "tree", "commit", "tag") and at most limit bytes, and which was hashed
	// against its id. Codes: surface_unreadable, interrupted.
	Read(ctx context.Context, id ID, kind string, limit int64) ([]byte, error)
}

// Store reads objects of one repository as what they are. It remembers trees and
// commits, which an id names for good. It is safe for use by several goroutines.
type Store struct {
	source  Source
	digits  int // of an id in hex
	trees   cache[[]decl.Entry]
	commits cache[*Commit]
}

// NewStore reads from source, whose ids have that many hex digits.
func NewStore(source Source, digits int) *Store { return &Store{source: source, digits: digits} }

// commitTree is one revision as decl reads it.
type commitTree struct {
	store *Store
	root  ID
}

// Tree returns the tree of a commit as decl reads it.
func (r *Repo) Tree(ctx context.Context, commit ID) (decl.Tree, error) {
	return r.store.Tree(ctx, commit)
}

// Tree returns the tree of a commit as decl reads it. Codes: surface_unreadable.
func (s *Store) Tree(ctx context.Context, commit ID) (decl.Tree, error) {
	c, err := s.Commit(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &commitTree{store: s, root: c.Tree}, nil
}

// List implements decl.Tree.
func (t *commitTree) List(ctx context.Context, dir string) ([]decl.Entry, error) {
	id := t.root
	at := ""
	if dir != "" {
		for part := range strings.SplitSeq(dir, "/") {
			entries, err := t.store.entries(ctx, id, at)
			if err != nil {
				return nil, err
			}
			i, found := slices.BinarySearchFunc(entries, part, func(e decl.Entry, name string) int { return cmp.Compare(e.Name, name) })
			if !found || entries[i].Mode != decl.ModeTree {
				return nil, fmt.Errorf("no directory: %w", fs.ErrNotExist)
			}
			id = ID(entries[i].ID)
			at = strings.TrimPrefix(at+"/"+part, "/")
		}
	}
	entries, err := t.store.entries(ctx, id, dir)
	return slices.Clone(entries), err
}

// Read implements decl.Tree.
func (t *commitTree) Read(ctx context.Context, dir string, e decl.Entry, limit int64) ([]byte, error) {
	if !e.Mode.IsRegular() && e.Mode != decl.ModeSymlink {
		return nil, fmt.Errorf("no file: %w", fs.ErrNotExist)
	}
	return t.store.source.Read(ctx, ID(e.ID), "blob", limit)
}

// entries returns a parsed tree, sorted bytewise by name, from the cache or the
// reader.
func (s *Store) entries(ctx context.Context, id ID, dir string) ([]decl.Entry, error) {
	if cached, ok := s.trees.get(id); ok {
		return cached, nil
	}
	data, err := s.source.Read(ctx, id, "tree", maxTreeBytes)
	if err != nil {
		return nil, err
	}
	entries, problem := parseTree(data, s.digits/2)
	if problem != "" {
		where := "the root directory"
		if dir != "" {
			where = "the directory " + safetext.Terminal(dir)
		}
		return nil, fault.New(fault.SurfaceUnreadable, "%s is a broken tree: %s", where, problem).
			WithHint("git fsck; make the commit again with Git")
	}
	s.trees.put(id, entries, len(data))
	return entries, nil
}

// cache holds parsed objects by id. A history walk meets many; when their bytes
// exceed a fixed sum it starts afresh, so that memory stays flat. The zero value
// is empty.
type cache[T any] struct {
	mu    sync.Mutex
	held  map[ID]T
	bytes int
}

func (c *cache[T]) get(id ID) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.held[id]
	return v, ok
}

// put holds v, which was parsed from size bytes.
func (c *cache[T]) put(id ID, v T, size int) {
	const most = 16 << 20
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil || c.bytes+size > most {
		c.held, c.bytes = map[ID]T{}, 0
	}
	c.held[id] = v
	c.bytes += size
}
