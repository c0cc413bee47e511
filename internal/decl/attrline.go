package decl

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

// attributeRule is what one line of a .gitattributes does to one converting
// attribute.
type attributeRule struct {
	dir, pattern string
	name, value  string // value "" if the attribute is unset
	sure         bool   // every Git reads the line in this way
}

// attributeBlank is what separates the words of a line (Git's attr.c); nothing
// else does, so that U+00A0 or a form feed is part of a word.
const attributeBlank = " \t\r"

// plainLine is a line about whose meaning no Git differs: a pattern without
// quotes, brackets, backslash or a leading "!", then valid attribute names. Git
// drops a whole line for one invalid name, for a NUL byte, and, in newer
// versions, for its length or a reserved name.
var plainLine = pattern.New(`^[ \t]*[^ \t\r"#!\[\]\\\x00][^ \t\r\[\]\\\x00]*([ \t\r]+[-!]?[A-Za-z0-9._][A-Za-z0-9._-]*(=[^ \t\r\x00]*)?)+[ \t\r]*$`)

// maxPlainLine is the length from which newer versions of Git drop a line
// (ATTR_MAX_LINE_LENGTH).
const maxPlainLine = 2048

// attributeWords cuts a line into its pattern and attributes. It errs to one
// side: sure is false for a line that some Git may drop or read in another way.
// Then an attribute that it sets still counts, for every path if the pattern is
// in doubt, and one that it unsets does not.
func attributeWords(line string) (pattern string, attributes []string, sure bool) {
	sure = len(line) < maxPlainLine && plainLine.MatchString(line) && !strings.Contains(line, "builtin_")
	separators := attributeBlank
	if !sure {
		separators += "\"\x00"
	}
	trimmed := strings.TrimLeft(line, attributeBlank)
	words := strings.FieldsFunc(trimmed, func(r rune) bool { return strings.ContainsRune(separators, r) })
	switch {
	case len(words) == 0 || strings.HasPrefix(trimmed, "#"):
		return "", nil, false
	case sure:
		return words[0], words[1:], true
	case strings.ContainsAny(line, "\"\\\x00") || strings.HasPrefix(trimmed, "!"):
		return "*", words, false
	}
	return words[0], words[1:], false
}

const macroPrefix = "[attr]"

// addMacro notes what a macro sets. What it unsets does not count: whether a
// macro is expanded depends on what later lines say about the macro itself.
func (a *attributeCheck) addMacro(line string) {
	_, definition, found := strings.Cut(line, macroPrefix)
	if !found {
		return
	}
	words := strings.FieldsFunc(definition, func(r rune) bool { return strings.ContainsRune(attributeBlank+"\"\x00", r) })
	if len(words) > 1 {
		a.macros[words[0]] = append(a.macros[words[0]], words[1:]...)
	}
}

// addLine notes what a line does to converting attributes.
func (a *attributeCheck) addLine(dir, line string) {
	if strings.HasPrefix(strings.TrimLeft(line, attributeBlank), macroPrefix) {
		return
	}
	pattern, attributes, sure := attributeWords(line)
	for _, attribute := range attributes {
		name, value, _ := strings.Cut(attribute, "=")
		bare := strings.TrimLeft(name, "-!")
		switch {
		case bare == name:
			a.set(attributeRule{dir: dir, pattern: pattern, sure: sure}, name, value, map[string]bool{})
		case sure && converting[bare]:
			a.rules = append(a.rules, attributeRule{dir: dir, pattern: pattern, name: bare, sure: true})
		}
	}
}

// set adds a rule for a converting attribute, and those behind a macro.
func (a *attributeCheck) set(rule attributeRule, name, value string, open map[string]bool) {
	if converting[name] {
		rule.name, rule.value = name, value
		if value == "" {
			rule.value = "set"
		}
		a.rules = append(a.rules, rule)
	}
	if open[name] {
		return
	}
	open[name] = true
	for _, attribute := range a.macros[name] {
		inner, value, _ := strings.Cut(attribute, "=")
		rule.sure = false
		if strings.TrimLeft(inner, "-!") == inner && len(a.rules) <= maxRules {
			a.set(rule, inner, value, open)
		}
	}
}

// matches reports whether a rule counts for a path. A rule that sets errs
// towards a match: a pattern with brackets or a backslash always matches, and
// letter case is ignored, as Git does where core.ignoreCase is set. A rule that
// unsets matches only where every Git agrees.
func (r attributeRule) matches(p string) bool {
	if r.value == "" {
		return r.surely(p)
	}
	return strings.ContainsAny(r.pattern, `[]\`) || globMatch(lowerASCII(r.dir), lowerASCII(r.pattern), lowerASCII(p))
}

func (r attributeRule) surely(p string) bool { return r.sure && globMatch(r.dir, r.pattern, p) }

// globMatch is Git's wildmatch for plain patterns, bytewise as in Git.
func globMatch(dir, pattern, p string) bool {
	if dir != "" {
		var ok bool
		if p, ok = strings.CutPrefix(p, dir+"/"); !ok {
			return false
		}
	}
	if strings.HasSuffix(pattern, "/") {
		return false // a directory alone; attributes are not inherited
	}
	if !strings.Contains(pattern, "/") {
		return globSegment(pattern, p[strings.LastIndexByte(p, '/')+1:])
	}
	return globPath(strings.Split(strings.TrimPrefix(pattern, "/"), "/"), strings.Split(p, "/"))
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// globPath matches whole paths; ** stands for any number of components.
func globPath(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 0 && pattern[0] == "**" {
				pattern = pattern[1:]
			}
			if len(pattern) == 0 {
				return len(name) > 0
			}
			for i := range name {
				if globSegment(pattern[0], name[i]) && globPath(pattern[1:], name[i+1:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 || !globSegment(pattern[0], name[0]) {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}

// globSegment matches one component: * stands for any bytes, ? for one. It
// takes time proportional to the product of the lengths at most.
func globSegment(pattern, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
