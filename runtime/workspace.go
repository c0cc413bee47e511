package runtime

import (
	"os"
	"path/filepath"
	"strings"
)

// workdir returns the directory that a server runs in: cwd within the
// workspace, symbolic links resolved. ok is false if it is no directory there.
func workdir(workspace, cwd string) (dir string, ok bool) {
	if !filepath.IsAbs(workspace) {
		return "", false
	}
	root, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return "", false
	}
	if cwd == "" {
		cwd = "."
	}
	if !filepath.IsLocal(filepath.FromSlash(cwd)) {
		return "", false
	}
	dir, err = filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(cwd)))
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// lookCommand finds a command as the host's PATH says. One with a separator is
// a path, relative to dir. Entries of PATH that are not absolute are skipped:
// what they name depends on the directory.
func lookCommand(command, dir string, lookup func(string) (string, bool)) (string, bool) {
	if strings.ContainsRune(command, '/') || strings.ContainsRune(command, filepath.Separator) {
		p := filepath.FromSlash(command)
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		return executable(p, lookup)
	}
	list, _ := lookup("PATH")
	for _, entry := range filepath.SplitList(list) {
		if !filepath.IsAbs(entry) {
			continue
		}
		if p, ok := executable(filepath.Join(entry, command), lookup); ok {
			return p, true
		}
	}
	return "", false
}
