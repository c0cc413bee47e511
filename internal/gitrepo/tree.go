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

// source is where objects come from: git cat-file, or go-git. What it returns
// has the kind asked for and was hashed against its id.
type source interface {
	read(ctx context.Context, id ID, kind string, limit int64) ([]byte, error)
}

// store reads objects of one repository as what they are.
type store struct {
	source source
	digits int // of an id in hex
	trees  treeCache
}

// commitTree is one revision as decl reads it.
type commitTree struct {
	store *store
	root  ID
}

// Tree returns the tree of a commit as decl reads it.
func (r *Repo) Tree(ctx context.Context, commit ID) (decl.Tree, error) {
	c, err := r.ReadCommit(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &commitTree{store: &r.store, root: c.Tree}, nil
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
	return t.store.source.read(ctx, ID(e.ID), "blob", limit)
}

// entries returns a parsed tree, sorted bytewise by name, from the cache or the
// reader.
func (s *store) entries(ctx context.Context, id ID, dir string) ([]decl.Entry, error) {
	if cached, ok := s.trees.get(id); ok {
		return cached, nil
	}
	data, err := s.source.read(ctx, id, "tree", maxTreeBytes)
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

// treeCache holds parsed trees by id. A history walk meets many; when their
// bytes exceed a fixed sum it starts afresh, so that memory stays flat. The zero
// value is empty. It is safe for use by several goroutines.
type treeCache struct {
	mu    sync.Mutex
	trees map[ID][]decl.Entry
	bytes int
}

func (c *treeCache) get(id ID) ([]decl.Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries, ok := c.trees[id]
	return entries, ok
}

func (c *treeCache) put(id ID, entries []decl.Entry, size int) {
	const most = 16 << 20
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trees == nil || c.bytes+size > most {
		c.trees, c.bytes = map[ID][]decl.Entry{}, 0
	}
	c.trees[id] = entries
	c.bytes += size
}

// ReadBlobAt reads the regular file at path in a commit, capped at limit bytes.
// It wraps fs.ErrNotExist when the path is absent or no regular file.
func (r *Repo) ReadBlobAt(ctx context.Context, commit ID, path string, limit int64) ([]byte, error) {
	tree, err := r.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	dir, name := "", path // a slash in front stays in the name, which no entry has
	if i := strings.LastIndex(path, "/"); i > 0 {
		dir, name = path[:i], path[i+1:]
	}
	entries, err := tree.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name == name && e.Mode.IsRegular() {
			return tree.Read(ctx, dir, e, limit)
		}
	}
	return nil, fmt.Errorf("no file: %w", fs.ErrNotExist)
}
