package decl

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// attributes binds every .gitattributes from the root down to a bound path, and
// refuses those that make a checkout differ from what was reviewed.
func (l *loader) attributes(ctx context.Context) error {
	l.findWays()
	a := &attributeCheck{l: l, macros: map[string][]string{}}
	for _, dir := range l.onTheWay() {
		here, err := l.dirs.list(ctx, dir)
		if err != nil {
			return err
		}
		if here == nil {
			continue
		}
		l.strangeNames(here, attributesName)
		if e, found := here.entry(attributesName); found {
			if err := a.file(ctx, dir, e); err != nil {
				return err
			}
		}
	}
	a.judge()
	return nil
}

// findWays lists, for every core, the directories on the way to what it binds.
func (l *loader) findWays() {
	l.bound.ways = map[string]map[string]bool{}
	for p, cores := range l.bound.paths {
		for _, core := range cores {
			ways := l.bound.ways[core]
			if ways == nil {
				ways = map[string]bool{}
				l.bound.ways[core] = ways
			}
			for dir := baseOf(p); !ways[dir]; dir = baseOf(dir) {
				ways[dir] = true
			}
		}
	}
}

// onTheWay lists the directories of all ways, the root first.
func (l *loader) onTheWay() []string {
	set := map[string]bool{}
	for _, ways := range l.bound.ways {
		for dir := range ways {
			set[dir] = true
		}
	}
	out := make([]string, 0, len(set))
	for dir := range set {
		out = append(out, dir)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return out
}

// attributesName is the file that Git reads attributes from.
const attributesName = ".gitattributes"

// converting are the attributes with which a checkout or an archive holds other
// bytes than the commit (gitattributes(5)).
var converting = map[string]bool{
	"filter": true, "working-tree-encoding": true, "ident": true, "export-subst": true, "export-ignore": true,
}

// maxRules bounds the converting lines of one surface.
const maxRules = 200

type attributeCheck struct {
	l      *loader
	rules  []attributeRule
	macros map[string][]string
}

func (a *attributeCheck) file(ctx context.Context, dir string, e Entry) error {
	at := join(dir, e.Name)
	l := a.l
	for core, ways := range l.bound.ways {
		if ways[dir] {
			l.addBound(ItemKey{core, KindAttributes, at}, []BoundFile{{at, e}})
		}
	}
	if !e.Mode.IsRegular() {
		l.notRegular(at, e.Mode)
		return nil
	}
	data, err := l.readFile(ctx, dir, e)
	if err != nil {
		return err
	}
	if len(data) > MaxFileBytes {
		l.problem(at, FileTooLarge, "the file has more than 262144 bytes; make it smaller")
		return nil
	}
	lines := strings.Split(strings.TrimPrefix(string(data), byteOrderMark), "\n")
	if dir == "" { // macros are Git's at the root only, and work in every file and line
		for _, line := range lines {
			a.addMacro(line)
		}
	}
	for _, line := range lines {
		a.addLine(dir, line)
	}
	return nil
}

// judge reports every bound path that a converting attribute applies to. The
// last rule that matches counts, as in Git.
func (a *attributeCheck) judge() {
	if len(a.rules) == 0 {
		return
	}
	if len(a.rules) > maxRules {
		a.l.problem(attributesName, AttributeConverts, "more than 200 lines convert files on checkout; write fewer, wider patterns")
		return
	}
	paths := make([]string, 0, len(a.l.bound.paths))
	for p := range a.l.bound.paths {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	reported := 0
	for _, p := range paths {
		for name, value := range a.effective(p) {
			switch {
			case value == "":
			case name == "filter" && value == lfs:
				a.l.s.LFS = append(a.l.s.LFS, p)
			case reported < maxReported && !a.l.reported(p):
				reported++
				a.l.problem(p, AttributeConverts,
					"a .gitattributes gives this path "+name+", so a checkout holds other bytes than were reviewed; unset it for this path")
			}
		}
	}
}

// effective is the last rule for each attribute, as in Git. A value that is let
// through takes another's place only where every Git reads it so.
func (a *attributeCheck) effective(p string) map[string]string {
	out := map[string]string{}
	for _, r := range a.rules {
		switch {
		case !r.matches(p):
		case r.name == "filter" && r.value == lfs && out[r.name] != "" && !r.surely(p):
		default:
			out[r.name] = r.value
		}
	}
	return out
}

// lfs is the filter that is known: it replaces a pointer that holds a digest.
const lfs = "lfs"
