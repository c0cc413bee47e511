// Package decltest holds trees in memory, for tests of what reads a surface.
package decltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// Tree is a revision in memory: files by path.
type Tree struct {
	files map[string]File
	// Reads counts calls of Read.
	Reads int
	// NoIDs makes the tree like a working tree, whose content must be read.
	NoIDs bool
}

// File is one file of a Tree.
type File struct {
	Mode decl.Mode
	Data string
}

// Files makes a tree of regular files.
func Files(files map[string]string) *Tree {
	t := &Tree{files: map[string]File{}}
	for path, data := range files {
		t.Put(path, decl.ModeRegular, data)
	}
	return t
}

// Put adds or replaces a file.
func (t *Tree) Put(path string, mode decl.Mode, data string) { t.files[path] = File{mode, data} }

// Delete removes a file.
func (t *Tree) Delete(path string) { delete(t.files, path) }

// Clone copies a tree.
func (t *Tree) Clone() *Tree {
	out := &Tree{files: map[string]File{}, NoIDs: t.NoIDs}
	for p, f := range t.files {
		out.files[p] = f
	}
	return out
}

// List implements decl.Tree.
func (t *Tree) List(_ context.Context, dir string) ([]decl.Entry, error) {
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	below := map[string][]string{}
	for path := range t.files {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			name, _, _ := strings.Cut(rest, "/")
			below[name] = append(below[name], path)
		}
	}
	if len(below) == 0 && dir != "" {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	var out []decl.Entry
	for name, paths := range below {
		e := decl.Entry{Name: name, Mode: decl.ModeTree}
		if f, leaf := t.files[prefix+name]; leaf {
			e.Mode = f.Mode
		}
		slices.Sort(paths)
		h := sha256.New()
		for _, p := range paths {
			_, _ = fmt.Fprintf(h, "%s\x00%o\x00%s\x00", strings.TrimPrefix(p, prefix), t.files[p].Mode, t.files[p].Data)
		}
		if !t.NoIDs {
			e.ID = hex.EncodeToString(h.Sum(nil))
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b decl.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Read implements decl.Tree.
func (t *Tree) Read(_ context.Context, dir string, e decl.Entry, limit int64) ([]byte, error) {
	t.Reads++
	path := e.Name
	if dir != "" {
		path = dir + "/" + e.Name
	}
	f, ok := t.files[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if int64(len(f.Data)) > limit {
		return nil, fmt.Errorf("%s: %w", path, decl.ErrTooLarge)
	}
	return []byte(f.Data), nil
}
