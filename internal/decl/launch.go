package decl

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// boundSet is what the declarations of a surface bind, before it becomes items.
type boundSet struct {
	// paths are all bound files with the directories they are in, for the
	// attributes.
	paths map[string]bool
	dirs  map[ItemKey]bool
}

// bind finds what every declaration launches and makes items of it.
func (l *loader) bind(ctx context.Context) error {
	l.s.contents = contents{tree: l.dirs.tree, left: MaxSurfaceBytes}
	l.s.named = map[string]map[string]bool{}
	l.bound = boundSet{paths: map[string]bool{}, dirs: map[ItemKey]bool{}}
	for i := range l.s.Cores {
		c := &l.s.Cores[i]
		if c.Agent.Present {
			l.bound.paths[c.Agent.Path] = true
		}
		for j := range c.Files {
			f := &c.Files[j]
			l.bound.paths[f.Path] = true
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

// launch binds what one declaration runs and reads.
func (l *loader) launch(ctx context.Context, c *Core, d *Declaration) error {
	b := &binder{l: l, ctx: ctx, core: c.Dir, named: map[string]bool{}}
	l.s.named[d.Path] = b.named
	tokens := launchTokens(d)
	if err := b.setBases(d.Cwd); err != nil {
		return err
	}
	if runsShellString(tokens) {
		if err := b.bindDir(c.Dir); err != nil {
			return err
		}
	}
	for i, token := range tokens {
		module := i > 0 && tokens[i-1] == "-m"
		if err := b.token(token, module); err != nil {
			return err
		}
	}
	for _, p := range d.Env {
		if err := b.token(p.Value.Reveal(), false); err != nil {
			return err
		}
	}
	return b.runnerFiles(tokens)
}

func launchTokens(d *Declaration) []string {
	tokens := []string{d.Command.Reveal()}
	for _, a := range d.Args {
		tokens = append(tokens, a.Reveal())
	}
	return tokens
}

// NamesPath reports whether text, taken from the command, an argument or an
// environment value of d, names a path that exists in the tree.
func (s *Surface) NamesPath(d *Declaration, text redact.Raw) bool {
	return s.named[d.Path][text.Reveal()]
}

// separators cut a command, argument or value into pieces.
const separators = " \t\r\n\v\f\"'`=:,;@"

func pieces(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// binder binds for one declaration.
type binder struct {
	l     *loader
	ctx   context.Context //nolint:containedctx // lives for one call of launch
	core  string
	cwd   string
	bases []string
	named map[string]bool
}

// setBases decides where a piece is looked for: the working directory, the
// core, the repository's root.
func (b *binder) setBases(cwd redact.Raw) error {
	b.cwd = b.core
	if w := cwd.Reveal(); w != "" {
		at, ok := within(b.core, w)
		if ok {
			b.cwd = at
			if err := b.checkWay(at); err != nil {
				return err
			}
		}
	}
	for _, base := range []string{b.cwd, b.core, ""} {
		if !slices.Contains(b.bases, base) {
			b.bases = append(b.bases, base)
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
	at := path.Clean(path.Join("/..marker", base, rel))
	// A path that climbs above the root loses the marker.
	rest, ok := strings.CutPrefix(at, "/..marker")
	if !ok {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// checkWay reports a symbolic link or submodule on the way to a path.
func (b *binder) checkWay(at string) error {
	_, _, err := b.resolve(at)
	return err
}

// resolve walks to a path through real directories. It reports what is no
// directory on the way. The entry is that of the path itself; the root is a
// tree.
func (b *binder) resolve(at string) (Entry, bool, error) {
	if at == "" {
		return Entry{Mode: ModeTree}, true, nil
	}
	here := ""
	parts := strings.Split(at, "/")
	for i, name := range parts {
		dir, err := b.l.dirs.list(b.ctx, here)
		if err != nil || dir == nil {
			return Entry{}, false, err
		}
		e, ok := dir.entry(name)
		if !ok {
			return Entry{}, false, nil
		}
		here = join(here, name)
		if e.Mode == ModeSymlink || e.Mode == ModeSubmodule {
			b.l.notRegular(here, e.Mode)
			return Entry{}, false, nil
		}
		if i == len(parts)-1 {
			return e, true, nil
		}
		if e.Mode != ModeTree {
			return Entry{}, false, nil
		}
	}
	return Entry{}, false, nil
}

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

// module is the dotted form of an import path.
var moduleForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// token binds what the pieces of one command, argument or value name.
func (b *binder) token(token string, module bool) error {
	for _, piece := range pieces(token) {
		found, err := b.piece(piece, module)
		if err != nil {
			return err
		}
		if found {
			b.named[piece] = true
			if piece == strings.TrimSpace(token) {
				b.named[token] = true
			}
		}
	}
	return nil
}

// piece looks for a piece under every base.
func (b *binder) piece(piece string, module bool) (found bool, err error) {
	for _, base := range b.bases {
		for _, form := range forms(piece) {
			ok, err := b.path(base, form)
			if err != nil {
				return found, err
			}
			found = found || ok
		}
		ok, err := b.module(base, piece, module)
		if err != nil {
			return found, err
		}
		found = found || ok
	}
	return found, nil
}

// forms are the ways in which a piece may hold a path: as it is, behind a short
// option (-r./hook.js), behind the slashes of a file URL.
func forms(piece string) []string {
	out := []string{piece}
	if len(piece) > 2 && piece[0] == '-' && piece[1] != '-' {
		out = append(out, piece[2:])
	}
	if rest, ok := strings.CutPrefix(piece, "//"); ok {
		out = append(out, strings.TrimLeft(rest, "/"))
	}
	return out
}

// launchSuffixes are what interpreters and Windows add to a name.
var launchSuffixes = []string{
	".js", ".mjs", ".cjs", ".ts", ".mts", ".json", ".node", ".py", ".pyz", ".rb", ".sh", ".exe", ".cmd", ".bat", ".ps1", ".jar",
}

// path binds the directory of what a path names.
func (b *binder) path(base, rel string) (bool, error) {
	at, ok := within(base, rel)
	if !ok {
		return false, nil
	}
	if at == "" || at == base {
		return true, b.bindDir(at)
	}
	parent, ok, err := b.resolve(baseOf(at))
	if err != nil || !ok || parent.Mode != ModeTree {
		return false, err
	}
	dir, err := b.l.dirs.list(b.ctx, baseOf(at))
	if err != nil || dir == nil {
		return false, err
	}
	found := false
	for _, e := range dir.named(path.Base(at)) {
		found = true
		if err := b.entry(join(dir.path, e.Name), e); err != nil {
			return true, err
		}
	}
	return found, nil
}

func (b *binder) entry(at string, e Entry) error {
	switch {
	case e.Mode == ModeTree:
		return b.bindDir(at)
	case e.Mode.IsRegular():
		return b.bindDir(baseOf(at))
	}
	b.l.notRegular(at, e.Mode)
	return nil
}

// named finds the entries that a launcher may take a name for: the name itself,
// also in other letter case, and with a suffix that launchers add.
func (d *directory) named(name string) []Entry {
	if d.by == nil {
		d.by = map[string][]Entry{}
		for _, e := range d.entries {
			lower := strings.ToLower(e.Name)
			d.by[lower] = append(d.by[lower], e)
			if dot := strings.LastIndexByte(lower, '.'); dot > 0 && slices.Contains(launchSuffixes, lower[dot:]) {
				d.by[lower[:dot]] = append(d.by[lower[:dot]], e)
			}
		}
	}
	return d.by[strings.ToLower(name)]
}

// module binds the directory from which a module is imported: any module there
// can shadow another. A single word is a module only behind -m.
func (b *binder) module(base, piece string, behindM bool) (bool, error) {
	first, _, dotted := strings.Cut(piece, ".")
	if !behindM && (!dotted || !moduleForm.MatchString(piece)) {
		return false, nil
	}
	dir, err := b.l.dirs.list(b.ctx, base)
	if err != nil || dir == nil {
		return false, err
	}
	if !behindM {
		rest := strings.ReplaceAll(piece, ".", "/")
		parent, ok, err := b.resolve(join(base, baseOf(rest)))
		if err != nil || !ok || parent.Mode != ModeTree {
			return false, err
		}
		sub, err := b.l.dirs.list(b.ctx, join(base, baseOf(rest)))
		if err != nil || sub == nil || len(sub.named(path.Base(rest))) == 0 {
			return false, err
		}
	} else if len(dir.named(first)) == 0 {
		return false, nil
	}
	return true, b.bindDir(base)
}

// runsShellString reports whether what is launched is, or goes through, a
// string in a shell's language, or scripts that a file of the core names.
func runsShellString(tokens []string) bool {
	for i, t := range tokens {
		name := program(t)
		if scriptRunners[name] && i == 0 {
			return true
		}
		for _, next := range tokens[i+1:] {
			if shells[name] && isShellFlag(next) || scriptVerbs[name][next] {
				return true
			}
		}
		if i > 0 && strings.ContainsAny(t, " \t\n") && slices.ContainsFunc(pieces(t), func(p string) bool { return shells[program(p)] }) {
			return true
		}
	}
	return false
}

// isShellFlag: -c and its clusters (-lc), /c and /k of cmd, -Command and
// -EncodedCommand of PowerShell in any shortening.
func isShellFlag(s string) bool {
	lower := strings.ToLower(s)
	return len(s) > 1 && (s[0] == '-' && strings.ContainsAny(lower, "ce") || lower == "/c" || lower == "/k" || lower == "/r")
}

// bindDir binds a directory and all below it, but for declarations, which are
// items of their own.
func (b *binder) bindDir(dir string) error {
	name := dir
	if name == "" {
		name = "."
	}
	key := ItemKey{b.core, KindLaunched, name}
	if b.l.bound.dirs[key] {
		return nil
	}
	b.l.bound.dirs[key] = true
	files, err := b.l.walk(b.ctx, dir)
	if err != nil {
		return err
	}
	b.l.addBound(key, files)
	return nil
}

// walk lists all files below a directory.
func (l *loader) walk(ctx context.Context, dir string) ([]BoundFile, error) {
	var out []BoundFile
	here, err := l.dirs.list(ctx, dir)
	if err != nil || here == nil {
		return nil, err
	}
	for _, e := range here.entries {
		at := join(dir, e.Name)
		switch {
		case e.Mode == ModeTree:
			below, err := l.walk(ctx, at)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case l.isDeclaration(at):
		default:
			if !e.Mode.IsRegular() {
				l.notRegular(at, e.Mode)
			}
			l.bound.paths[at] = true
			out = append(out, BoundFile{at, e})
			l.count(1)
		}
		if l.full {
			return out, nil
		}
	}
	return out, nil
}

func (l *loader) isDeclaration(at string) bool {
	for _, c := range l.s.Cores {
		if baseOf(at) == c.Agent.MCPRoot && c.Agent.MCPRoot != "" {
			looks, _ := looksLikeDeclaration(path.Base(at))
			return looks
		}
	}
	return false
}

// runnerFiles binds what the programs that are named read by themselves, in the
// working directory and above, up to the repository's root.
func (b *binder) runnerFiles(tokens []string) error {
	fams := []family{everyRunner}
	for _, t := range tokens {
		for _, piece := range pieces(t) {
			fams = append(fams, familyOf(program(piece))...)
		}
	}
	for dir := b.cwd; ; dir = baseOf(dir) {
		here, err := b.l.dirs.list(b.ctx, dir)
		if err != nil {
			return err
		}
		if here != nil {
			for _, f := range fams {
				if err := b.family(here, f); err != nil {
					return err
				}
			}
		}
		if dir == "" {
			return nil
		}
	}
}

func (b *binder) family(here *directory, f family) error {
	for _, name := range append(slices.Clone(f.files), f.dirs...) {
		for _, e := range here.entries {
			if e.Name != name && !strings.EqualFold(e.Name, name) {
				continue
			}
			if err := b.runner(join(here.path, e.Name), e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binder) runner(at string, e Entry) error {
	key := ItemKey{b.core, KindRunner, at}
	if b.l.bound.dirs[key] {
		return nil
	}
	b.l.bound.dirs[key] = true
	if e.Mode == ModeTree {
		files, err := b.l.walk(b.ctx, at)
		if err != nil {
			return err
		}
		b.l.addBound(key, files)
		return nil
	}
	if !e.Mode.IsRegular() {
		b.l.notRegular(at, e.Mode)
	}
	b.l.bound.paths[at] = true
	b.l.count(1)
	b.l.addBound(key, []BoundFile{{at, e}})
	return nil
}
