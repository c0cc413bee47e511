//go:build unix

package runtime

import "os"

// executable reports whether a path names a program.
func executable(path string, _ func(string) (string, bool)) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// allowedEnv are the variables of the host that a child gets.
var allowedEnv = []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM", "TMPDIR", "TMP", "TEMP", "TZ"}

// homeEnv are the variables that name the private home.
func homeEnv(home string) []string { return []string{"HOME=" + home} }
