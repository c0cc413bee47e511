package decl

import (
	"context"
	"path"
	"slices"
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
	dirs := &directories{tree: before.contents.tree, seen: map[string]*directory{}}
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
func (s *Surface) heldAs(ctx context.Context, dirs *directories, other *Surface, f BoundFile) (bool, error) {
	if s.contents.tree == nil {
		return false, nil
	}
	here, err := dirs.list(ctx, baseOf(f.Path))
	if err != nil {
		return false, err
	}
	e, found := here.entry(path.Base(f.Path))
	if !found {
		return false, nil
	}
	return sameFile(ctx, s, other, BoundFile{Path: f.Path, entry: e}, f)
}
