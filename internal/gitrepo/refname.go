package gitrepo

import "strings"

// goodRefName reports whether Git takes a full name for a ref's: the rules of
// git-check-ref-format(1), which costs a process to ask. A test holds the two
// together.
func goodRefName(name string) bool {
	if strings.HasSuffix(name, ".") || !strings.Contains(name, "/") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\") ||
		strings.ContainsFunc(name, func(c rune) bool { return c < 0x20 || c == 0x7f }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
