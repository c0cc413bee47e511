package decl

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/workers"
)

// declarations reads the files of an MCP root.
func (l *loader) declarations(ctx context.Context, root *directory, c *Core) error {
	if root == nil {
		return nil
	}
	var entries []Entry
	for _, e := range root.entries {
		at := join(root.path, e.Name)
		looks, exact := looksLikeDeclaration(e.Name)
		switch {
		case strings.Contains(e.Name, `\`):
			l.problem(at, BackslashName, "Windows takes this name for a path; rename or remove it")
		case !looks:
		case !exact:
			l.problem(at, FoldingName, "some systems take this name for a declaration's; rename or remove it")
		case l.count(1):
			entries = append(entries, e)
		}
	}
	list, err := l.parseAll(ctx, root.path, entries)
	if err != nil {
		return err
	}
	for i, f := range list {
		l.addFile(c.Dir, f, entries[i])
	}
	c.Files = append(c.Files, list...)
	slices.SortFunc(c.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// parsedKey is all that the reading of a declaration depends on.
type parsedKey struct {
	path, id string
	mode     Mode
}

// parsedFile is a declaration as Parse returned it, of so many bytes.
type parsedFile struct {
	File
	bytes int
}

// parseAll reads declarations in order, and parses them beside each other.
func (l *loader) parseAll(ctx context.Context, dir string, entries []Entry) ([]File, error) {
	out := make([]parsedFile, len(entries))
	known := make([]bool, len(entries))
	for i, e := range entries {
		if out[i], known[i] = l.beside[keyOf(dir, e)]; known[i] {
			known[i] = l.take(out[i].bytes)
		}
	}
	type text struct {
		i    int
		data []byte
	}
	most := min(runtime.GOMAXPROCS(0), len(entries))
	work := make(chan text, most) // short: a text may have 16 MiB
	var parsers workers.Group
	for range most {
		parsers.Go(func() {
			for w := range work {
				parsers.Try(func() {
					f := Parse(join(dir, entries[w.i].Name), entries[w.i].Mode, w.data)
					f.Problems = slices.Clip(f.Problems) // more of a surface's own may be added
					out[w.i] = parsedFile{f, len(w.data)}
				})
			}
		})
	}
	err := l.readTexts(ctx, dir, entries, known, func(i int, data []byte) { work <- text{i, data} })
	close(work)
	parsers.Wait()
	if err != nil {
		return nil, err
	}
	files := make([]File, len(entries))
	for i, e := range entries {
		if !e.Mode.IsRegular() {
			out[i].File = unsupported(join(dir, e.Name), e.Mode)
		} else if e.ID != "" && !l.full {
			l.s.parsed[keyOf(dir, e)] = out[i]
		}
		files[i] = out[i].File
	}
	return files, nil
}

func keyOf(dir string, e Entry) parsedKey { return parsedKey{join(dir, e.Name), e.ID, e.Mode} }

// readTexts reads the regular files among entries that are not known yet.
func (l *loader) readTexts(ctx context.Context, dir string, entries []Entry, known []bool, each func(i int, data []byte)) error {
	var at []int
	for i, e := range entries {
		if e.Mode.IsRegular() && !known[i] {
			at = append(at, i)
		}
	}
	for chunk := range slices.Chunk(at, batchFiles) {
		these := make([]Entry, len(chunk))
		for n, i := range chunk {
			these[n] = entries[i]
		}
		batch := l.readRegular(ctx, these)
		for n, i := range chunk {
			data := batch[n]
			if data == nil && !l.full {
				var err error
				if data, err = l.readFile(ctx, dir, entries[i]); err != nil {
					return err
				}
			}
			if !l.take(len(data)) {
				data = nil // refused as a whole; the rest need not be read
			}
			each(i, data)
		}
	}
	return nil
}

// readRegular reads the regular files among entries, as many as can be had at
// once; nil stands for the others.
func (l *loader) readRegular(ctx context.Context, entries []Entry) [][]byte {
	var regular []Entry
	var at []int
	for i, e := range entries {
		if e.Mode.IsRegular() && e.ID != "" {
			regular, at = append(regular, e), append(at, i)
		}
	}
	out := make([][]byte, len(entries))
	for i, data := range readBatch(ctx, l.dirs.tree, regular, MaxFileBytes) {
		out[at[i]] = data
	}
	return out
}

func unsupported(at string, mode Mode) File {
	f := File{Path: at, Mode: mode, State: StateUnsupported, Problems: []Problem{{
		Path: at, Code: EntryNotRegular, Message: "a declaration must be a regular file, no " + modeWord(mode),
	}}}
	if id := serverIDOf(at); ValidServerID(id) {
		f.ServerID = id
	}
	return f
}
