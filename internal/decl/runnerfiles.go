package decl

import (
	"slices"
	"strings"
)

// familyKey says that a directory was searched for the files of one family.
type familyKey struct {
	core, dir string
	family    int
}

// runners binds what the programs that are named read by themselves: in the
// working directory, where something is launched, and above, up to the
// repository's root.
func (b *binder) runners(line []string, project bool) error {
	fams := familiesOf(append(slices.Clone(line), b.extra...))
	above := map[string]bool{}
	var dirs []string
	for _, dir := range append(slices.Clone(b.cwds), b.places...) {
		for ; !above[dir]; dir = baseOf(dir) {
			above[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		here, err := b.l.dirs.list(b.ctx, dir)
		if err != nil {
			return err
		}
		if here == nil {
			continue
		}
		for _, f := range fams {
			if err := b.family(here, f); err != nil {
				return err
			}
		}
		if err := b.projectDir(here, project); err != nil {
			return err
		}
	}
	return b.localPackages(line, dirs)
}

// projectDir binds a whole directory that is the project whose code is run, or
// the virtual environment that something was launched from.
func (b *binder) projectDir(here *directory, project bool) error {
	by := here.index().by
	whole := len(by["pyvenv.cfg"]) > 0
	if project {
		whole = whole || slices.ContainsFunc(projectFiles, func(name string) bool { return len(by[fold(name)]) > 0 })
	}
	if !whole {
		return nil
	}
	return b.bindDir(here.path)
}

// familiesOf lists the families that the programs of a command line belong to,
// by index; the first is that of every program.
func familiesOf(line []string) []int {
	out := []int{every}
	for _, word := range line {
		for _, piece := range pieces(word) {
			for _, f := range familyOf(program(piece)) {
				if !slices.Contains(out, f) {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// every is the index of everyRunner.
const every = -1

func (b *binder) family(here *directory, n int) error {
	key := familyKey{b.core, here.path, n}
	if b.l.bound.families[key] {
		return nil
	}
	b.l.bound.families[key] = true
	f := everyRunner
	if n != every {
		f = families[n]
	}
	by := here.index().by
	for _, name := range append(slices.Clone(f.files), f.dirs...) {
		for _, e := range by[fold(name)] {
			if err := b.runner(join(here.path, e.Name), e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binder) runner(at string, e Entry) error {
	if e.Mode == ModeTree {
		return b.bindTree(ItemKey{b.core, KindRunner, at}, at)
	}
	b.bindFile(KindRunner, at, e)
	if e.Mode.IsRegular() && !strings.Contains(strings.ToLower(at), "lock") {
		return b.followRunner(at)
	}
	return nil
}
