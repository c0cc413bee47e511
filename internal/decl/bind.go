package decl

import (
	"context"
	"path"
)

// maxReported bounds the problems of one kind.
const maxReported = 100

func (l *loader) notRegular(at string, m Mode) {
	n := 0
	for _, p := range l.s.Problems {
		if p.Code == BoundNotRegular {
			n++
			if p.Path == at {
				return
			}
		}
	}
	if n < maxReported {
		l.problem(at, BoundNotRegular, "a "+modeWord(m)+
			" is on the path of what a declaration launches; launch from a directory without one")
	}
}

// bindDir binds a directory and all below it, but for declarations, which are
// items of their own.
func (b *binder) bindDir(dir string) error {
	return b.bindTree(launchedKey(b.core, dir), dir)
}

// launchedKey names a launched directory; the root is ".".
func launchedKey(core, dir string) ItemKey {
	if dir == "" {
		dir = "."
	}
	return ItemKey{core, KindLaunched, dir}
}

func (b *binder) bindTree(key ItemKey, dir string) error {
	if b.l.bound.items[key] {
		return nil
	}
	b.l.bound.items[key] = true
	files, err := b.l.walk(b.ctx, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		b.l.bound.add(b.core, f.Path)
	}
	b.l.addBound(key, files)
	return nil
}

// bindFile binds one file alone.
func (b *binder) bindFile(kind ItemKind, at string, e Entry) {
	key := ItemKey{b.core, kind, at}
	if b.l.bound.items[key] || b.l.isDeclaration(at) {
		return
	}
	b.l.bound.items[key] = true
	if !e.Mode.IsRegular() {
		b.l.notRegular(at, e.Mode)
	}
	b.l.bound.add(b.core, at)
	b.l.count(1)
	b.l.addBound(key, []BoundFile{{at, e}})
}

// walk lists all files below a directory.
func (l *loader) walk(ctx context.Context, dir string) ([]BoundFile, error) {
	var out []BoundFile
	err := l.walkInto(ctx, dir, &out)
	return out, err
}

func (l *loader) walkInto(ctx context.Context, dir string, out *[]BoundFile) error {
	if len(dir) > maxPathBytes {
		return tooDeep(dir)
	}
	here, err := l.dirs.list(ctx, dir)
	if err != nil || here == nil {
		return err
	}
	l.work(directoryWork) // a tree of many directories and no files has a bound too
	for _, e := range here.entries {
		at := join(dir, e.Name)
		switch {
		case e.Mode == ModeTree:
			if err := l.walkInto(ctx, at, out); err != nil {
				return err
			}
		case l.isDeclaration(at):
		default:
			if !e.Mode.IsRegular() {
				l.notRegular(at, e.Mode)
			}
			*out = append(*out, BoundFile{at, e})
			l.count(1)
		}
		if l.full {
			return nil
		}
	}
	return nil
}

func (l *loader) isDeclaration(at string) bool {
	dir := baseOf(at)
	for i := range l.s.Cores {
		if root := l.s.Cores[i].Agent.MCPRoot; dir == root && root != "" {
			looks, _ := looksLikeDeclaration(path.Base(at))
			return looks
		}
	}
	return false
}
