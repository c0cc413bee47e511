package decl

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// LoadSurface reads the surface of one revision. What is wrong in the
// repository is a Problem; an error (a *fault.Fault) means that it could not be
// read at all.
func LoadSurface(ctx context.Context, tree Tree, opt Options) (*Surface, error) {
	l := &loader{dirs: directories{tree: tree, seen: map[string]*directory{}}, s: &Surface{items: map[ItemKey]*item{}, parsed: map[parsedKey]parsedFile{}}}
	if opt.Beside != nil {
		l.beside = opt.Beside.parsed
	}
	cores, err := l.findCores(ctx, opt)
	if err != nil {
		return nil, err
	}
	for _, dir := range cores {
		if err := l.core(ctx, dir); err != nil {
			return nil, err
		}
	}
	l.duplicateIDs()
	if err := l.bind(ctx); err != nil {
		return nil, err
	}
	sortProblems(l.s.Problems)
	return l.s, nil
}

// Empty is the surface of a ref that does not exist.
func Empty() *Surface { return &Surface{items: map[ItemKey]*item{}} }

// Readable reports whether every rule holds: only then may a ref move to it.
func (s *Surface) Readable() bool { return len(s.AllProblems()) == 0 }

// AllProblems lists the problems of the surface, its agents and its files, in
// path and line order.
func (s *Surface) AllProblems() []Problem {
	out := slices.Clone(s.Problems)
	for _, c := range s.Cores {
		out = append(out, c.Agent.Problems...)
		for _, f := range c.Files {
			out = append(out, f.Problems...)
		}
	}
	sortProblems(out)
	return out
}

// loader builds one surface.
type loader struct {
	dirs directories
	s    *Surface
	// files counts what is bound, against MaxSurfaceFiles; worked steps, against
	// maxWork; bytes those of declarations, against MaxSurfaceBytes.
	files, worked, bytes int
	full                 bool
	bound                boundSet
	// packages are those that were read, by directory.
	packages map[string]*npmPackage
	beside   map[parsedKey]parsedFile
	searched map[searchKey][2][]match
}

func (l *loader) problem(path string, code ProblemCode, message string) {
	l.s.Problems = append(l.s.Problems, Problem{Path: path, Code: code, Message: message})
}

// directories reads and remembers the directories of a tree.
type directories struct {
	tree Tree
	seen map[string]*directory
}

// directory is one listing, with what finds its entries by name once that was
// asked for.
type directory struct {
	path    string
	entries []Entry
	idx     *index
}

// list returns a directory, nil if there is none at path.
func (d *directories) list(ctx context.Context, dir string) (*directory, error) {
	if known, ok := d.seen[dir]; ok {
		return known, nil
	}
	entries, err := d.tree.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.seen[dir] = nil
		return nil, nil //nolint:nilnil // an absent directory is an answer, not an error
	}
	if err != nil {
		return nil, err
	}
	out := &directory{path: dir, entries: entries}
	d.seen[dir] = out
	return out, nil
}

// entry finds a name by its bytes.
func (d *directory) entry(name string) (Entry, bool) {
	if d == nil {
		return Entry{}, false
	}
	i, found := slices.BinarySearchFunc(d.entries, name, func(e Entry, n string) int { return cmp.Compare(e.Name, n) })
	if !found {
		return Entry{}, false
	}
	return d.entries[i], true
}

// core reads one core.
func (l *loader) core(ctx context.Context, dir string) error {
	here, err := l.dirs.list(ctx, dir)
	if err != nil || here == nil {
		return err
	}
	c := Core{Dir: dir, Agent: newAgent(dir)}
	if err := l.agentFile(ctx, here, &c); err != nil {
		return err
	}
	l.strangeNames(here, "agent.yaml")
	if c.Agent.MCPRoot != "" {
		root, err := l.mcpRoot(ctx, dir, c.Agent.MCPRoot)
		if err != nil {
			return err
		}
		if err := l.declarations(ctx, root, &c); err != nil {
			return err
		}
	}
	l.addAgent(&c)
	l.s.Cores = append(l.s.Cores, c)
	return nil
}

func (l *loader) agentFile(ctx context.Context, here *directory, c *Core) error {
	for _, wrong := range here.index().by["agent.yml"] {
		l.problem(join(here.path, wrong.Name), AgentYML, "an agent is described by agent.yaml; rename this file")
	}
	e, found := here.entry("agent.yaml")
	if !found {
		return nil
	}
	if !e.Mode.IsRegular() {
		l.problem(c.Agent.Path, EntryNotRegular, "agent.yaml must be a regular file")
		c.Agent.Present, c.Agent.State = true, StateUnsupported
		c.Agent.raw = redact.NewRaw(modeText(e.Mode) + " " + e.ID)
		return nil
	}
	data, err := l.readFile(ctx, here.path, e)
	if err != nil {
		return err
	}
	c.Agent = parseAgent(c.Dir, c.Agent.Path, data)
	if c.Agent.State != StateValid {
		c.Agent.raw = redact.NewRaw(string(data))
	}
	return nil
}

// maxBoundFile is up to what size a file that is too large to parse is still
// bound by its bytes. Beyond it, it is refused on both sides of a move, and
// bound by its object id: nothing more can be done with it than to remove it.
const maxBoundFile = 16 << 20

// readFile reads a file that is parsed. One that is far too large comes back as
// a text of that length class, so that the parser refuses it.
func (l *loader) readFile(ctx context.Context, dir string, e Entry) ([]byte, error) {
	data, err := l.dirs.tree.Read(ctx, dir, e, maxBoundFile)
	if errors.Is(err, ErrTooLarge) {
		return append([]byte(e.ID), make([]byte, MaxFileBytes+1)...), nil
	}
	if err != nil {
		return nil, readError(join(dir, e.Name), err)
	}
	return data, nil
}

func readError(path string, err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	return fault.New(fault.SurfaceUnreadable, "%s could not be read", shownPath(path)).
		WithHint("check the repository: git fsck").WithCause(err)
}

// mcpRoot walks down to an MCP root. Every component must be a real directory;
// the result is nil if there is none at all.
func (l *loader) mcpRoot(ctx context.Context, core, root string) (*directory, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(root, core), "/")
	at := core
	for _, name := range strings.Split(rest, "/") {
		here, err := l.dirs.list(ctx, at)
		if err != nil || here == nil {
			return nil, err
		}
		l.strangeNames(here, name)
		e, found := here.entry(name)
		at = join(at, name)
		if !found {
			return nil, nil //nolint:nilnil // no MCP root is an answer, not an error
		}
		if e.Mode != ModeTree {
			l.problem(at, RootNotDirectory, "every part of the path to the declarations must be a real directory")
			return nil, nil //nolint:nilnil // reported
		}
	}
	return l.dirs.list(ctx, at)
}

// strangeNames reports the entries of a directory on the way to an MCP root
// that some system takes for want.
func (l *loader) strangeNames(here *directory, want string) {
	for _, e := range here.entries {
		at := join(here.path, e.Name)
		switch {
		case e.Name == want || l.reported(at):
		case foldsTo(e.Name, want):
			l.problem(at, FoldingName, "some systems take this name for another that evolve reads; rename or remove it")
		case strings.Contains(e.Name, `\`) && strings.HasPrefix(fold(e.Name), fold(want)+`\`):
			l.problem(at, BackslashName, "Windows takes this name for a path; rename or remove it")
		}
	}
}

func (l *loader) reported(path string) bool {
	return slices.ContainsFunc(l.s.Problems, func(p Problem) bool { return p.Path == path })
}

// duplicateIDs reports servers that share an id, also on systems that do not
// tell upper from lower case.
func (l *loader) duplicateIDs() {
	for i := range l.s.Cores {
		first := map[string]int{}
		files := l.s.Cores[i].Files
		for j := range files {
			id := fold(serverIDOf(files[j].Path))
			k, taken := first[id]
			if !taken {
				first[id] = j
				continue
			}
			for _, f := range []*File{&files[k], &files[j]} {
				if slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.Code == ServerIDDuplicate }) {
					continue
				}
				f.Problems = append(f.Problems, Problem{
					Path: f.Path, Code: ServerIDDuplicate,
					Message: "two files of this core name the same server; keep one",
				})
				f.State, f.Decl = stateOf(f.Problems), nil
			}
		}
	}
}

// count adds n files to the surface and reports whether it is still within its
// limit.
func (l *loader) count(n int) bool {
	l.files += n
	return l.bounded(l.files <= MaxSurfaceFiles,
		"the declarations and what they launch have more than 20000 files; launch from a smaller directory")
}

// maxWork bounds the directories that are walked and the pieces that are looked
// for, so that a hostile repository costs seconds: a surface of 1,000
// declarations of the common kind takes some 3,000.
const maxWork = 400_000

// directoryWork is what listing a directory counts for: it is also remembered.
const directoryWork = 20

// work counts steps of looking for what is launched.
func (l *loader) work(n int) bool {
	l.worked += n
	return l.bounded(l.worked <= maxWork,
		"it takes too long to find what the declarations launch; write shorter commands, and launch from smaller directories")
}

// take counts the bytes of declarations.
func (l *loader) take(n int) bool {
	l.bytes += n
	return l.bounded(l.bytes <= MaxSurfaceBytes, "the declarations have more than 268435456 bytes; write fewer")
}

// bounded notes, once, that a surface is over one of its limits.
func (l *loader) bounded(within bool, message string) bool {
	if !within && !l.full {
		l.full = true
		l.problem("", SurfaceTooLarge, message)
	}
	return within && !l.full
}

func modeWord(m Mode) string {
	switch m {
	case ModeSymlink:
		return "symbolic link"
	case ModeSubmodule:
		return "submodule or special file" // on disk: pipes, sockets, devices
	case ModeTree:
		return "directory"
	default:
		return "special entry"
	}
}

// baseOf is a path's directory, "" for the root.
func baseOf(p string) string {
	if d := path.Dir(p); d != "." && d != "/" {
		return d
	}
	return ""
}
