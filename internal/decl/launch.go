package decl

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// boundSet is what the declarations of a surface bind, before it becomes items.
type boundSet struct {
	// paths are all bound files with the cores that bind them; ways are the
	// directories on the way to them, for the attributes.
	paths map[string][]string
	ways  map[string]map[string]bool
	// items are those that were made, or were found empty.
	items map[ItemKey]bool
	// families are the directories already searched for runner files.
	families map[familyKey]bool
	// followed are the files whose text was searched, texts how many by limit.
	followed map[followKey]bool
	texts    map[int]int
}

func (s *boundSet) add(core, at string) {
	if !slices.Contains(s.paths[at], core) {
		s.paths[at] = append(s.paths[at], core)
	}
}

// bind finds what every declaration launches and makes items of it.
func (l *loader) bind(ctx context.Context) error {
	l.s.contents = contents{tree: l.dirs.tree, left: MaxSurfaceBytes, sums: map[string]sum{}}
	l.s.named = map[string]map[string]bool{}
	l.bound = boundSet{
		paths: map[string][]string{}, items: map[ItemKey]bool{}, families: map[familyKey]bool{}, followed: map[followKey]bool{},
		texts: map[int]int{},
	}
	l.packages, l.searched = map[string]*npmPackage{}, map[searchKey][2][]match{}
	for i := range l.s.Cores {
		c := &l.s.Cores[i]
		if c.Agent.Present {
			l.bound.add(c.Dir, c.Agent.Path)
		}
		for j := range c.Files {
			f := &c.Files[j]
			l.bound.add(c.Dir, f.Path)
			if f.Decl == nil || f.Decl.Transport != Stdio {
				continue
			}
			if err := l.launch(ctx, c, f.Decl); err != nil {
				return err
			}
		}
	}
	return l.attributes(ctx)
}

// binder binds for one declaration.
type binder struct {
	l     *loader
	ctx   context.Context //nolint:containedctx // lives for one call of launch
	core  string
	cwds  []string // the working directory, in every spelling that exists
	bases []string
	named map[string]bool
	// places are the directories in which something is launched, files are
	// those that are named, in the order in which they were found.
	places, files []string
	// extra are the programs that named files are run by.
	extra []string
}

// launch binds what one declaration runs and reads.
func (l *loader) launch(ctx context.Context, c *Core, d *Declaration) error {
	b := &binder{l: l, ctx: ctx, core: c.Dir, named: map[string]bool{}}
	l.s.named[d.Path] = b.named
	args, env := launchTokens(d)
	if err := b.setBases(d.Cwd.Reveal()); err != nil {
		return err
	}
	if err := b.tokens(append(slices.Clone(args), env...)); err != nil {
		return err
	}
	if err := b.modules(args); err != nil {
		return err
	}
	if err := b.searchPaths(d.Env); err != nil {
		return err
	}
	if err := b.followNamed(); err != nil {
		return err
	}
	line := commandLine(args, env)
	project := runsProject(line)
	if project {
		for _, dir := range append([]string{b.core}, b.cwds...) {
			if err := b.bindDir(dir); err != nil {
				return err
			}
		}
	}
	return b.runners(line, project)
}

func launchTokens(d *Declaration) (args, env []string) {
	args = []string{d.Command.Reveal()}
	for _, a := range d.Args {
		args = append(args, a.Reveal())
	}
	for _, p := range d.Env {
		env = append(env, p.Value.Reveal())
	}
	return args, env
}

// commandLine is the words of the command and its arguments, and of environment
// values that may be commands themselves.
func commandLine(args, env []string) []string {
	var line []string
	for _, a := range args {
		line = append(line, strings.Fields(a)...)
	}
	for _, v := range env {
		if f := strings.Fields(v); len(f) > 1 {
			line = append(line, f...)
		}
	}
	return line
}

// NamesPath reports whether text, taken from the command, an argument or an
// environment value of d, names a path that exists in the tree.
func (s *Surface) NamesPath(d *Declaration, text redact.Raw) bool {
	return s.named[d.Path][text.Reveal()]
}

// setBases decides where a piece is looked for: the working directory, the
// core, the repository's root. A working directory below the core is bound
// itself: programs read it without being told.
func (b *binder) setBases(cwd string) error {
	b.cwds = []string{b.core}
	if cwd != "" {
		direct, loose, err := b.search(b.core, cwd)
		if err != nil {
			return err
		}
		b.cwds = nil
		if at, inside := within(b.core, cwd); inside {
			b.cwds = []string{at} // also one that does not exist: files above it are read
		}
		for _, m := range append(direct, loose...) {
			if m.entry.Mode == ModeTree && !slices.Contains(b.cwds, m.at) && (m.end == len(cwd) || m.start == 0) {
				b.cwds = append(b.cwds, m.at)
			}
		}
	}
	for _, base := range append(slices.Clone(b.cwds), b.core, "") {
		if !slices.Contains(b.bases, base) {
			b.bases = append(b.bases, base)
		}
	}
	for _, dir := range b.cwds {
		if strings.HasPrefix(dir+"/", b.core+"/") && dir != b.core || b.core == "" && dir != "" {
			if err := b.bindDir(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// within joins a relative path to a base and reports whether it stays inside
// the repository.
func within(base, rel string) (string, bool) {
	rel = strings.ReplaceAll(rel, `\`, "/")
	if strings.HasPrefix(rel, "/") || rel == "" {
		return "", false
	}
	at := path.Join(base, rel)
	if at == ".." || strings.HasPrefix(at, "../") {
		return "", false
	}
	if at == "." {
		at = ""
	}
	return at, true
}

// tokens binds what texts name. A directory that one of them names may be what
// another is relative to (make -C srv, env -C srv, uv --directory srv).
func (b *binder) tokens(list []string) error {
	const rounds, most = 3, 32
	bases := b.bases
	for range rounds {
		known := len(b.places)
		for _, base := range bases {
			for _, text := range list {
				if err := b.token(base, text); err != nil {
					return err
				}
			}
		}
		var next []string
		for _, p := range b.places[known:] {
			if !slices.Contains(b.bases, p) && len(b.bases)+len(next) < most && !slices.Contains(next, p) {
				next = append(next, p)
			}
		}
		if len(next) == 0 {
			return nil
		}
		bases = next
	}
	return nil
}

// token binds what the pieces of one text name below a base.
func (b *binder) token(base, text string) error {
	direct, loose, err := b.search(base, text)
	if err != nil {
		return err
	}
	for _, m := range direct {
		b.names(text, m.start, m.end)
	}
	if plain, err := url.PathUnescape(text); err == nil && plain != text {
		x, y, err := b.search(base, plain)
		if err != nil {
			return err
		}
		loose = append(append(loose, x...), y...)
	}
	for _, m := range append(direct, loose...) {
		if err := b.bindMatch(m); err != nil {
			return err
		}
	}
	if joined, err := b.joined(base, text); err != nil {
		return err
	} else if joined {
		b.named[text] = true
	}
	return b.dotted(base, text)
}

// joined reports whether a text is a short option with a path behind it.
func (b *binder) joined(base, text string) (bool, error) {
	if len(text) < 3 || text[0] != '-' || text[1] == '-' {
		return false, nil
	}
	found, err := b.descend(base, text[2:])
	return slices.ContainsFunc(found, func(m match) bool { return m.end == len(text)-2 }), err
}

// names notes that a part of a text is a path.
func (b *binder) names(text string, start, end int) {
	b.named[text[start:end]] = true
	if text[start:end] == strings.TrimSpace(text) {
		b.named[text] = true
	}
}

func (b *binder) bindMatch(m match) error {
	switch {
	case m.entry.Mode == ModeTree:
		b.place(m.at)
		return b.bindDir(m.at)
	case m.entry.Mode.IsRegular():
		if !slices.Contains(b.files, m.at) {
			b.files = append(b.files, m.at)
		}
		b.place(baseOf(m.at))
		return b.bindDir(baseOf(m.at))
	}
	return nil // reported
}

func (b *binder) place(dir string) {
	if !slices.Contains(b.places, dir) {
		b.places = append(b.places, dir)
	}
}

// searchPaths binds the working directory where an environment value lists it
// as an empty element: a search path such as PATH=:/usr/bin or PYTHONPATH=a::b.
func (b *binder) searchPaths(env []Pair) error {
	for _, p := range env {
		if !strings.HasSuffix(strings.ToUpper(p.Name.Reveal()), "PATH") {
			continue
		}
		v := p.Value.Reveal()
		if v == "" || !slices.Contains(strings.Split(v, ":"), "") {
			continue
		}
		for _, dir := range b.cwds {
			if err := b.bindDir(dir); err != nil {
				return err
			}
		}
	}
	return nil
}
