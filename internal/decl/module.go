package decl

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

var (
	// moduleForm is the dotted form of an import path.
	moduleForm = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$`)
	moduleName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)
	// moduleFlag is Python's -m alone, in a cluster (-Im), or with the module behind it
	// (-mpkg).
	moduleFlag = pattern.New(`^-[bBdEiIOPqsSuvx]*m([A-Za-z_][A-Za-z0-9_.]*)?$`)
)

// sourceRoots are the directories of a project from which installed code is
// imported (the layouts of the Python Packaging User Guide).
var sourceRoots = []string{"", "src", "lib", "python"}

// dotted binds the directory from which a dotted module is imported: any module
// there can shadow another.
func (b *binder) dotted(base, text string) error {
	for _, piece := range pieces(text) {
		if !strings.Contains(piece, ".") || !moduleForm.MatchString(piece) {
			continue
		}
		for _, root := range sourceRoots {
			dir := strings.TrimSuffix(join(base, root), "/")
			if base == "" {
				dir = root
			}
			found, err := b.descend(dir, strings.ReplaceAll(piece, ".", "/"))
			if err != nil {
				return err
			}
			if len(found) == 0 {
				continue
			}
			b.named[piece] = true
			if piece == strings.TrimSpace(text) {
				b.named[text] = true
			}
			b.place(dir)
			if err := b.bindDir(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// modules binds what -m imports from. The working directory comes first on the
// search path of python -m: whatever can be imported from there can shadow the
// module, or another that it imports, also if the module is not in the tree.
func (b *binder) modules(args []string) error {
	var all []string
	for _, a := range args {
		all = append(all, pieces(a)...)
	}
	for i, piece := range all {
		if !strings.HasPrefix(piece, "-") {
			continue
		}
		m := moduleFlag.FindStringSubmatch(piece)
		switch {
		case m == nil && piece != "--module":
			continue
		case m != nil && m[1] != "" && piece != "-m":
			// -mpkg; or a cluster that ends in m, whose module comes next.
			if err := b.module(m[1]); err != nil {
				return err
			}
		}
		if i+1 < len(all) {
			if err := b.module(all[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binder) module(name string) error {
	if !moduleName.MatchString(name) {
		return nil
	}
	first, _, _ := strings.Cut(name, ".")
	for _, base := range b.bases {
		for _, root := range sourceRoots {
			dir := join(base, root)
			if base == "" || root == "" {
				dir = base + root
			}
			here, err := b.l.dirs.list(b.ctx, dir)
			if err != nil {
				return err
			}
			if here == nil || len(here.named(first)) == 0 {
				continue
			}
			b.named[name] = true
			b.place(dir)
			if err := b.bindDir(dir); err != nil {
				return err
			}
		}
	}
	for _, dir := range b.cwds {
		if err := b.importable(dir); err != nil {
			return err
		}
	}
	return nil
}

// importable binds every module and package that lies directly in a directory.
func (b *binder) importable(dir string) error {
	here, err := b.l.dirs.list(b.ctx, dir)
	if err != nil || here == nil || b.l.bound.items[launchedKey(b.core, dir)] {
		return err
	}
	for _, e := range here.entries {
		at := join(dir, e.Name)
		lower := strings.ToLower(e.Name)
		switch {
		case e.Mode == ModeTree:
			below, err := b.l.dirs.list(b.ctx, at)
			if err != nil {
				return err
			}
			if below != nil && len(below.index().short["__init__"]) > 0 {
				if err := b.bindDir(at); err != nil {
					return err
				}
			}
		case strings.HasSuffix(lower, ".py"), strings.HasSuffix(lower, ".pyc"), strings.HasSuffix(lower, ".so"), strings.HasSuffix(lower, ".pyd"):
			b.bindFile(KindLaunched, at, e)
		}
	}
	return nil
}
