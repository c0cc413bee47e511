package decl

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// Arrived lists the files of an item of the second surface that the first one's
// tree does not hold as they are, sorted, at most limit of them; more says that
// there are others. An item can be new although none of its files is: a changed
// declaration names what was there before.
func Arrived(ctx context.Context, before, after *Surface, key ItemKey, limit int) (paths []string, more bool, err error) {
	it := after.items[key]
	if it == nil {
		return nil, false, nil
	}
	dirs := map[string][]Entry{}
	for _, f := range it.files {
		here, err := before.heldAs(ctx, dirs, after, f)
		if err != nil {
			return nil, false, err
		}
		if !here {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	if len(paths) > limit {
		return paths[:limit], true, nil
	}
	return paths, false, nil
}

// heldAs reports whether the surface's tree holds a file of another surface with
// the same mode and bytes. dirs remembers listings.
func (s *Surface) heldAs(ctx context.Context, dirs map[string][]Entry, other *Surface, f BoundFile) (bool, error) {
	if s.contents.tree == nil {
		return false, nil
	}
	dir := baseOf(f.Path)
	entries, known := dirs[dir]
	if !known {
		var err error
		entries, err = s.contents.tree.List(ctx, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		dirs[dir] = entries
	}
	name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	for _, e := range entries {
		if e.Name == name {
			return sameFile(ctx, s, other, BoundFile{Path: f.Path, entry: e}, f)
		}
	}
	return false, nil
}
