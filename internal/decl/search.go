package decl

import (
	"path"
	"slices"
	"strings"
)

// separators cut a command, argument or value into pieces: whitespace, quotes
// and what options, lists, shells and URLs put between names.
const separators = " \t\r\n\v\f\"'`=:,;@(){}[]<>|&!?*#%$^"

func isSeparator(c byte) bool { return strings.IndexByte(separators, c) >= 0 }

func pieces(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < 0x80 && isSeparator(byte(r)) })
}

// launchSuffixes are what interpreters and Windows add to a name, and what code
// is told by.
var launchSuffixes = words(".js .mjs .cjs .jsx .ts .mts .cts .tsx .json .node .wasm .py .pyc .pyz .pyd .so .rb .sh .bash .zsh .fish " +
	".exe .com .cmd .bat .ps1 .psm1 .vbs .dll .jar .class .php .phar .pl .pm .lua .r .jl .kts .groovy .ex .exs")

// index finds the entries of a directory by what a launcher may take a name
// for. Names are folded: a file system may ignore letter case and more.
type index struct {
	by    map[string][]Entry // by whole name
	short map[string][]Entry // by name without a suffix that launchers add
	odd   []oddEntry         // those whose names hold a separator
}

type oddEntry struct {
	folded string
	entry  Entry
}

func (d *directory) index() *index {
	if d.idx != nil {
		return d.idx
	}
	x := &index{by: make(map[string][]Entry, len(d.entries)), short: map[string][]Entry{}}
	for _, e := range d.entries {
		folded := fold(e.Name)
		x.by[folded] = append(x.by[folded], e)
		if dot := strings.LastIndexByte(folded, '.'); dot > 0 && launchSuffixes[folded[dot:]] {
			x.short[folded[:dot]] = append(x.short[folded[:dot]], e)
		}
		if strings.ContainsAny(e.Name, separators) {
			x.odd = append(x.odd, oddEntry{strings.ToLower(e.Name), e})
		}
	}
	d.idx = x
	return x
}

// named finds the entries that a launcher may take a name for: the name itself,
// also in other letter case, and with a suffix that launchers add.
func (d *directory) named(name string) []Entry {
	x, folded := d.index(), fold(name)
	if folded == "" {
		return nil
	}
	if len(x.short[folded]) == 0 {
		return x.by[folded]
	}
	return append(slices.Clone(x.by[folded]), x.short[folded]...)
}

// match is one thing in the tree that a text names.
type match struct {
	at    string
	entry Entry
	// start and end are where the path stands in the text.
	start, end int
}

// maxMatches bounds what one text may name from one place. More is refused and
// not left out: what stands behind names that fold alike would be unreviewed.
const maxMatches = 64

// descend walks the path with which text begins down from a directory, through
// names that hold separators too. The walk ends where the text or a piece does.
// A symbolic link or submodule on the way is reported.
func (b *binder) descend(dir, text string) ([]match, error) {
	w := &descent{b: b, text: strings.ReplaceAll(text, `\`, "/")}
	err := w.walk(dir, 0)
	return w.found, err
}

type descent struct {
	b     *binder
	text  string
	found []match
}

func (w *descent) ends(i int) bool { return i >= len(w.text) || isSeparator(w.text[i]) }

func (w *descent) walk(dir string, i int) error {
	for { // every round goes on in the text
		for i < len(w.text) && w.text[i] == '/' {
			i++
		}
		n := w.component(i)
		switch name := w.text[i : i+n]; {
		case n == 0:
			if i > 0 {
				w.add(match{at: dir, entry: Entry{Mode: ModeTree}, end: i})
			}
			return w.odd(dir, i)
		case name == ".":
			i++
		case name == "..":
			if dir == "" {
				return nil
			}
			dir = baseOf(dir)
			i += 2
		default:
			return w.names(dir, i, n)
		}
		if w.ends(i) {
			w.add(match{at: dir, entry: Entry{Mode: ModeTree}, end: i})
			return nil
		}
	}
}

// component is the length of the plain name at i.
func (w *descent) component(i int) int {
	n := 0
	for !w.ends(i+n) && w.text[i+n] != '/' {
		n++
	}
	return n
}

// odd follows the entries whose names hold separators.
func (w *descent) odd(dir string, i int) error {
	here, err := w.b.l.dirs.list(w.b.ctx, dir)
	if err != nil || here == nil {
		return err
	}
	for _, odd := range here.index().odd {
		end := i + len(odd.folded)
		if end <= len(w.text) && strings.ToLower(w.text[i:end]) == odd.folded && (w.ends(end) || w.text[end] == '/') {
			if err := w.entry(dir, odd.entry, end); err != nil {
				return err
			}
		}
	}
	return nil
}

// names follows every entry that the text at i may mean: the plain name of n
// bytes, and names that hold separators.
func (w *descent) names(dir string, i, n int) error {
	if err := w.odd(dir, i); err != nil {
		return err
	}
	here, err := w.b.l.dirs.list(w.b.ctx, dir)
	if err != nil || here == nil {
		return err
	}
	name, end := w.text[i:i+n], i+n
	list := here.named(name)
	if !w.ends(end) {
		list = here.index().by[fold(name)] // a directory has no suffix added
	}
	for _, e := range list {
		if err := w.entry(dir, e, end); err != nil {
			return err
		}
	}
	return nil
}

func (w *descent) entry(dir string, e Entry, end int) error {
	if !w.b.l.work(1) {
		return nil
	}
	at := join(dir, e.Name)
	switch {
	case e.Mode == ModeSymlink, e.Mode == ModeSubmodule:
		w.b.l.notRegular(at, e.Mode)
		w.add(match{at: at, entry: e, end: end})
	case w.ends(end):
		w.add(match{at: at, entry: e, end: end})
	case e.Mode == ModeTree:
		return w.walk(at, end)
	}
	return nil
}

func (w *descent) add(m match) {
	if w.b.l.bounded(len(w.found) < maxMatches,
		"one text of a declaration names more than 64 entries of the tree; remove those whose names differ in letter case only") {
		w.found = append(w.found, m)
	}
}

// search finds what the pieces of a text name below a base. direct are those
// that a piece names as it is; loose are those behind a prefix that the program
// or the host resolves: an absolute path, a variable, a home directory, a path
// that climbs out of the repository. Those are looked for by their last parts.
func (b *binder) search(base, text string) (direct, loose []match, err error) {
	key := searchKey{base, text}
	if known, ok := b.l.searched[key]; ok {
		return known[0], known[1], nil
	}
	direct, loose, err = b.searchPieces(base, text)
	// Whoever adds to them must not add to what others are given.
	direct, loose = slices.Clip(direct), slices.Clip(loose)
	if err == nil && len(text) <= maxRemembered {
		b.l.searched[key] = [2][]match{direct, loose}
	}
	return direct, loose, err
}

// searchKey is a question that many declarations ask.
type searchKey struct{ base, text string }

// maxRemembered is up to what length a text is worth remembering.
const maxRemembered = 256

func (b *binder) searchPieces(base, text string) (direct, loose []match, err error) {
	for i := 0; i < len(text); i++ {
		if i > 0 && !isSeparator(text[i-1]) || isSeparator(text[i]) && !b.oddStart(base, text[i:]) {
			continue
		}
		if !b.l.work(1) {
			break
		}
		run := text[i : i+plainRun(text[i:])]
		if !isRooted(run) {
			found, err := b.descend(base, text[i:])
			if err != nil {
				return nil, nil, err
			}
			for _, m := range found {
				m.start, m.end = i, m.end+i
				direct = append(direct, m)
			}
			if len(found) > 0 {
				continue
			}
		}
		more, err := b.searchForms(base, run, i > 0 && text[i-1] == '$')
		if err != nil {
			return nil, nil, err
		}
		loose = append(loose, more...)
	}
	return direct, loose, nil
}

// oddStart reports whether a name at the base begins with a separator.
func (b *binder) oddStart(base, text string) bool {
	here, err := b.l.dirs.list(b.ctx, base)
	if err != nil || here == nil {
		return false
	}
	lower := ""
	for _, odd := range here.index().odd {
		if isSeparator(odd.folded[0]) {
			if lower == "" {
				lower = strings.ToLower(text[:min(len(text), 256)])
			}
			if strings.HasPrefix(lower, odd.folded) {
				return true
			}
		}
	}
	return false
}

// plainRun is the length of the text up to the next separator.
func plainRun(s string) int {
	if i := strings.IndexAny(s, separators); i >= 0 {
		return i
	}
	return len(s)
}

func isRooted(run string) bool { return strings.HasPrefix(run, "/") || strings.HasPrefix(run, `\`) }

// searchForms looks for the other ways in which a run of text may hold a path:
// behind a short option (-r./hook.js), with parts that do not
// exist and are taken back (x/../y), and by its last parts.
func (b *binder) searchForms(base, run string, variable bool) ([]match, error) {
	run = strings.ReplaceAll(run, `\`, "/")
	var forms []string
	if len(run) > 2 && run[0] == '-' && run[1] != '-' {
		forms = append(forms, run[2:])
		if i := strings.IndexAny(run, "./"); i > 2 {
			forms = append(forms, run[i:])
		}
	}
	if clean := path.Clean(run); strings.Contains(run, "/..") && clean != run {
		forms = append(forms, clean)
	}
	if rest, ok := strings.CutPrefix(run, "//"); ok && !strings.HasPrefix(rest, "/") {
		forms = append(forms, rest)
	} else if variable || isRooted(run) || strings.HasPrefix(run, "~") || strings.HasPrefix(run, "..") {
		forms = append(forms, tails(run)...)
	}
	var out []match
	for _, f := range forms {
		found, err := b.descend(base, f)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// systemPlaces hold programs and devices of the host; no repository lies there.
var systemPlaces = []string{"/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/bin/", "/sbin/", "/opt/homebrew/bin/", "/dev/", "/proc/", "/sys/", "/etc/"}

// tails are the last parts of a path, the longest first.
func tails(run string) []string {
	for _, place := range systemPlaces {
		if strings.HasPrefix(run, place) {
			return nil
		}
	}
	const most = 64
	var out []string
	for i := 0; i < len(run) && len(out) < most; i++ {
		if run[i] == '/' && i+1 < len(run) {
			tail := run[i+1:]
			if tail[0] != '/' && !strings.HasPrefix(tail, "..") {
				out = append(out, tail)
			}
		}
	}
	return out
}
