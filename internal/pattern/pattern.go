// Package pattern holds regular expressions that are compiled when they are
// first used. Some sixty of them, compiled when a program starts, would cost a
// push as much as a git process, and most pushes need few of them.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is one regular expression. It is safe for use by several goroutines;
// its methods are those of regexp.Regexp.
type Pattern struct{ compiled func() *regexp.Regexp }

// New takes the text of a regular expression. One that does not compile panics
// at its first use, so every Pattern must be used by some test.
func New(text string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether s holds a match.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindString returns the leftmost match in s, "" if there is none.
func (p Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringSubmatch returns the leftmost match and its groups, nil if there is
// none.
func (p Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindAllStringSubmatch returns the first n matches and their groups, all if n is
// negative.
func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString replaces every match by repl, in which $1 is a group.
func (p Pattern) ReplaceAllString(s, repl string) string {
	return p.compiled().ReplaceAllString(s, repl)
}

// Split cuts s at the matches, into n pieces at most, all if n is negative.
func (p Pattern) Split(s string, n int) []string { return p.compiled().Split(s, n) }
