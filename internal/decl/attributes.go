package decl

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// attributes binds every .gitattributes from the root down to a bound path, and
// refuses those that make a checkout differ from what was reviewed.
func (l *loader) attributes(ctx context.Context) error {
	a := &attributeCheck{l: l, macros: map[string][]string{}}
	for _, dir := range directoriesOf(l.bound.paths) {
		here, err := l.dirs.list(ctx, dir)
		if err != nil {
			return err
		}
		if e, found := here.entry(".gitattributes"); found {
			if err := a.file(ctx, dir, e); err != nil {
				return err
			}
		}
	}
	a.judge()
	return nil
}

// directoriesOf lists all directories on the way to paths, the root first.
func directoriesOf(paths map[string]bool) []string {
	set := map[string]bool{}
	for p := range paths {
		for dir := baseOf(p); !set[dir]; dir = baseOf(dir) {
			set[dir] = true
			if dir == "" {
				break
			}
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

// converting are the attributes with which a checkout or an archive holds other
// bytes than the commit (gitattributes(5)).
var converting = map[string]bool{
	"filter": true, "working-tree-encoding": true, "ident": true, "export-subst": true, "export-ignore": true,
}

// maxRules bounds the converting lines of one surface.
const maxRules = 200

type attributeRule struct {
	dir, pattern string
	name, value  string // value "" if the attribute is unset
	line         int
}

type attributeCheck struct {
	l      *loader
	rules  []attributeRule
	macros map[string][]string
}

func (a *attributeCheck) file(ctx context.Context, dir string, e Entry) error {
	at := join(dir, ".gitattributes")
	l := a.l
	for _, c := range l.s.Cores {
		if dir != "" && c.Dir != "" && !strings.HasPrefix(dir+"/", c.Dir+"/") && !strings.HasPrefix(c.Dir+"/", dir+"/") {
			continue
		}
		l.addBound(ItemKey{c.Dir, KindAttributes, at}, []BoundFile{{at, e}})
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
		l.s.Problems = append(l.s.Problems, Problem{Path: at, Code: FileTooLarge, Message: "the file has more than 262144 bytes; make it smaller"})
		return nil
	}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if dir == "" { // macros are Git's at the root only, and work in every file and line
		for _, line := range lines {
			a.macro(line)
		}
	}
	for i, line := range lines {
		a.line(dir, line, i+1)
	}
	return nil
}

func (a *attributeCheck) macro(line string) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return
	}
	if name, ok := strings.CutPrefix(words[0], "[attr]"); ok {
		a.macros[name] = words[1:]
	}
}

// line reads one line of a .gitattributes: a pattern, or a macro of the root,
// and attributes.
func (a *attributeCheck) line(dir, line string, number int) {
	words := strings.Fields(line)
	if len(words) < 2 || strings.HasPrefix(words[0], "#") {
		return
	}
	pattern, rest := words[0], words[1:]
	if strings.HasPrefix(pattern, `"`) {
		// A quoted pattern may hold spaces and escapes: it counts for every path.
		pattern = "*"
		if end := strings.LastIndex(line, `"`); end > 0 {
			rest = strings.Fields(line[end+1:])
		}
	}
	if strings.HasPrefix(pattern, "[attr]") {
		return
	}
	a.set(attributeRule{dir: dir, pattern: pattern, line: number}, rest, 0)
}

func (a *attributeCheck) set(rule attributeRule, attributes []string, depth int) {
	const maxMacros = 8
	for _, attribute := range attributes {
		name, value, _ := strings.Cut(attribute, "=")
		unset := strings.HasPrefix(name, "-") || strings.HasPrefix(name, "!")
		name = strings.TrimLeft(name, "-!")
		if expansion, macro := a.macros[name]; macro && !unset && depth < maxMacros {
			a.set(rule, expansion, depth+1)
		}
		if !converting[name] {
			continue
		}
		rule.name, rule.value = name, value
		if !unset && value == "" {
			rule.value = "set"
		}
		if unset {
			rule.value = ""
		}
		a.rules = append(a.rules, rule)
	}
}

// judge reports every bound path that a converting attribute applies to. The
// last rule that matches counts, as in Git.
func (a *attributeCheck) judge() {
	if len(a.rules) == 0 {
		return
	}
	if len(a.rules) > maxRules {
		a.l.problem(".gitattributes", AttributeConverts, "more than 200 lines convert files on checkout; write fewer, wider patterns")
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
			case name == "filter" && value == "lfs":
				a.l.s.LFS = append(a.l.s.LFS, p)
			case reported < maxReported && !a.l.reported(p):
				reported++
				a.l.problem(p, AttributeConverts,
					"a .gitattributes gives this path "+name+", so a checkout holds other bytes than were reviewed; unset it for this path")
			}
		}
	}
}

func (a *attributeCheck) effective(p string) map[string]string {
	out := map[string]string{}
	for _, r := range a.rules {
		if r.matches(p) {
			out[r.name] = r.value
		}
	}
	return out
}

// matches is Git's wildmatch for the plain forms. A pattern with brackets or a
// backslash counts as a match: refusing too much is safe. Letter case is
// ignored, as Git does where core.ignoreCase is set.
func (r attributeRule) matches(p string) bool {
	rel := p
	if r.dir != "" {
		var ok bool
		if rel, ok = strings.CutPrefix(p, r.dir+"/"); !ok {
			return false
		}
	}
	pattern := strings.ToLower(r.pattern)
	rel = strings.ToLower(rel)
	if strings.ContainsAny(pattern, `[]\`) {
		return r.value != "" // an unset counts only where it surely applies
	}
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return globMatch(pattern, path.Base(rel))
	}
	return globMatch(strings.TrimPrefix(pattern, "/"), rel)
}

// globMatch matches *, ? and ** against a whole path.
func globMatch(pattern, name string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchParts(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			pattern = pattern[1:]
			if len(pattern) == 0 {
				return len(name) > 0
			}
			for i := range name {
				if matchParts(pattern, name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
