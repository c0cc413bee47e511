package decl

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// item is one part of a surface.
type item struct {
	// quick is made of object ids. Equal quicks that are not empty mean equal
	// content; different ones mean nothing.
	quick string
	// files are the files of a bound directory, for the report.
	files []BoundFile
	// strong digests the content itself. It may read.
	strong func(context.Context) (Digest, error)
	done   bool // digest is known
	digest Digest
}

// BoundFile is one file of a bound directory or a bound file.
type BoundFile struct {
	Path  string
	entry Entry
}

// Items lists the keys of a surface, sorted.
func (s *Surface) Items() []ItemKey {
	keys := make([]ItemKey, 0, len(s.items))
	for k := range s.items {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, CompareKeys)
	return keys
}

// CompareKeys orders keys by core, kind and path.
func CompareKeys(a, b ItemKey) int {
	return cmp.Or(cmp.Compare(a.Core, b.Core), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path))
}

// Digest is an item's digest, zero if the surface does not have it.
func (s *Surface) Digest(ctx context.Context, key ItemKey) (Digest, error) {
	it, ok := s.items[key]
	if !ok {
		return Digest{}, nil
	}
	return it.strong(ctx)
}

// Compare lists the items that differ, sorted by key. It reads content only
// where the object ids do not already prove equality.
func Compare(ctx context.Context, before, after *Surface) ([]Delta, error) {
	after.contents.share(&before.contents)
	keys := append(before.Items(), after.Items()...)
	slices.SortFunc(keys, CompareKeys)
	var out []Delta
	for _, key := range slices.Compact(keys) {
		x, y := before.items[key], after.items[key]
		if x != nil && y != nil && x.quick != "" && x.quick == y.quick {
			continue
		}
		d := Delta{Key: key}
		var err error
		if d.Before, err = before.Digest(ctx, key); err != nil {
			return nil, err
		}
		if d.After, err = after.Digest(ctx, key); err != nil {
			return nil, err
		}
		if d.Before != d.After {
			out = append(out, d)
		}
	}
	return out, nil
}

// ChangedFiles lists the paths of a bound item that differ between two
// surfaces, sorted, at most limit of them; more says that there are others.
func ChangedFiles(ctx context.Context, before, after *Surface, key ItemKey, limit int) (paths []string, more bool, err error) {
	old := map[string]BoundFile{}
	if it := before.items[key]; it != nil {
		for _, f := range it.files {
			old[f.Path] = f
		}
	}
	if it := after.items[key]; it != nil {
		for _, f := range it.files {
			was, had := old[f.Path]
			delete(old, f.Path)
			same, err := sameFile(ctx, before, after, was, f)
			if err != nil {
				return nil, false, err
			}
			if !had || !same {
				paths = append(paths, f.Path)
			}
		}
	}
	for path := range old {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	if len(paths) > limit {
		return paths[:limit], true, nil
	}
	return paths, false, nil
}

func sameFile(ctx context.Context, before, after *Surface, x, y BoundFile) (bool, error) {
	if x.entry.Mode != y.entry.Mode {
		return false, nil
	}
	if x.entry.ID != "" && y.entry.ID != "" {
		return x.entry.ID == y.entry.ID, nil
	}
	a, err := before.contents.read(ctx, x)
	if err != nil {
		return false, err
	}
	b, err := after.contents.read(ctx, y)
	return bytes.Equal(a, b), err
}

func fixed(d Digest) func(context.Context) (Digest, error) {
	return func(context.Context) (Digest, error) { return d, nil }
}

func digestOf(parts ...string) Digest {
	h := sha256.New()
	frame(h, parts...)
	return Digest(h.Sum(nil))
}

// addFile makes a declaration an item: path, mode, SHA-256 of its bytes.
func (l *loader) addFile(core string, f File, e Entry) {
	content := string(f.SHA256[:])
	if !f.Mode.IsRegular() {
		content = e.ID
	}
	it := &item{strong: fixed(digestOf("declaration", f.Path, modeText(f.Mode), content))}
	if e.ID != "" {
		it.quick = modeText(f.Mode) + " " + e.ID
	}
	l.s.items[ItemKey{core, KindDeclaration, f.Path}] = it
}

// addAgent makes a core's settings an item: where its MCP root is, and the
// nodes that decide authority and approval. An agent.yaml that cannot be read is
// bound by its bytes.
func (l *loader) addAgent(c *Core) {
	a := &c.Agent
	h := sha256.New()
	frame(h, "agent", a.MCPRoot)
	if a.raw.Set() {
		frame(h, "bytes", a.raw.Reveal())
	} else {
		names := make([]string, 0, len(a.form))
		for name := range a.form {
			names = append(names, name)
		}
		writeSorted(h, names, a.form)
	}
	l.s.items[ItemKey{c.Dir, KindAgent, a.Path}] = &item{strong: fixed(Digest(h.Sum(nil)))}
}

// ChangedNodes lists the nodes of agent.yaml, such as "capabilities", whose
// content differs between two agents, sorted.
func (a *Agent) ChangedNodes(b *Agent) []string {
	var out []string
	for _, path := range formNodes {
		name := strings.Join(path, "/")
		if a.form[name] != b.form[name] {
			out = append(out, strings.Join(path, "."))
		}
	}
	return out
}

// writeSorted frames a map of digests in the order of its keys.
func writeSorted(h hash.Hash, keys []string, digests map[string]Digest) {
	slices.Sort(keys)
	writeCount(h, len(keys))
	for _, k := range keys {
		d := digests[k]
		frame(h, k, string(d[:]))
	}
}

// addBound makes files an item. path names it; an empty list adds none.
func (l *loader) addBound(key ItemKey, files []BoundFile) {
	if len(files) == 0 || l.s.items[key] != nil {
		return
	}
	slices.SortFunc(files, func(a, b BoundFile) int { return cmp.Compare(a.Path, b.Path) })
	h, known := sha256.New(), true
	for _, f := range files {
		frame(h, f.Path, modeText(f.entry.Mode), f.entry.ID)
		known = known && f.entry.ID != ""
	}
	it := &item{files: files}
	if known {
		it.quick = string(h.Sum(nil))
	}
	c := &l.s.contents
	it.strong = func(ctx context.Context) (Digest, error) {
		if it.done {
			return it.digest, nil
		}
		d, err := c.digest(ctx, files)
		it.done, it.digest = err == nil, d
		return d, err
	}
	l.s.items[key] = it
}

func modeText(m Mode) string { return fmt.Sprintf("%06o", uint32(m)) }
