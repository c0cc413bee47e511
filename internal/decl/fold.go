package decl

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold maps a name to what a case-insensitive file system takes it for: case
// folded and composed (APFS, HFS+), without the characters that HFS+ ignores,
// and without what NTFS and Windows drop (trailing dots and spaces, a stream
// name after a colon).
func fold(name string) string {
	if isPlainLower(name) {
		return name
	}
	name = strings.Map(dropIgnored, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// isPlainLower is the common case: nothing to fold.
func isPlainLower(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 || c >= 'A' && c <= 'Z' || c == ':' || c == ' ' || c == '.' && i == len(name)-1 {
			return false
		}
	}
	return true
}

// dropIgnored drops the characters that HFS+ ignores in names (Apple TN1150;
// Git's next_hfs_char has the same list).
func dropIgnored(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// foldsTo reports whether name is taken for want by some file system without
// being its bytes. That includes NTFS short names (AGENT~1.YAM).
func foldsTo(name, want string) bool {
	if name == want {
		return false
	}
	folded, target := fold(name), fold(want)
	return folded == target || isShortName(folded, target)
}

// isShortName reports whether folded may be the 8.3 alias that NTFS makes for
// target: up to six characters of its base, "~", digits, three of its suffix.
func isShortName(folded, target string) bool {
	base, suffix, _ := strings.Cut(folded, ".")
	stem, digits, found := strings.Cut(base, "~")
	if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	wantBase, wantSuffix := target, ""
	if dot := strings.LastIndexByte(target, '.'); dot > 0 {
		wantBase, wantSuffix = target[:dot], target[dot+1:]
	}
	if len(wantBase) <= 8 && len(wantSuffix) <= 3 {
		return false // fits: no alias is made
	}
	return stem != "" && strings.HasPrefix(wantBase, stem) && suffix == wantSuffix[:min(3, len(wantSuffix))]
}

// looksLikeDeclaration reports whether a name is, or is taken for, that of a
// declaration; exact says that its bytes are.
func looksLikeDeclaration(name string) (looks, exact bool) {
	lower := strings.ToLower(name)
	if hasYAMLSuffix(lower) {
		return true, true
	}
	folded := fold(name)
	return hasYAMLSuffix(folded) || strings.HasSuffix(folded, ".yam") && strings.Contains(folded, "~"), false
}

func hasYAMLSuffix(s string) bool {
	return strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml")
}
