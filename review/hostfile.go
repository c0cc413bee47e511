package review

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Names in <git common dir>/evolve.
const (
	folder             = "evolve"
	signersName        = "signers"
	keyName            = "signing-key"
	fingerprintKeyName = "fingerprint-key"
)

// The modes that matter: what others than the owner may do.
const (
	othersWrite   = 0o022
	anybodyWrites = 0o002
	othersAny     = 0o077
)

// maxHostFile bounds a file that policy rests on, in bytes.
const maxHostFile = 1 << 20

// place knows what the content of the repository decides: the worktrees, without
// the Git directories inside them. Directories are known by identity, since a
// path can be written in several ways where letter case does not count.
type place struct{ worktrees, gitDirs []fs.FileInfo }

func newPlace(repo Host, worktrees []string) place {
	look := func(dirs ...string) (out []fs.FileInfo) {
		for _, d := range dirs {
			if info, err := os.Stat(d); d != "" && err == nil {
				out = append(out, info)
			}
		}
		return out
	}
	return place{worktrees: look(append(worktrees, repo.WorkTree())...), gitDirs: look(repo.CommonDir(), repo.GitDir())}
}

// inside reports whether a path, or a symbolic link on the way to it, lies in a
// worktree: then a checkout decides what the path names.
func (p place) inside(path string) bool {
	real, links, _ := follow(path)
	return slices.ContainsFunc(append(links, real, filepath.Clean(path)), p.covers)
}

// covers reports whether the nearest known directory around an entry is a
// worktree.
func (p place) covers(entry string) bool {
	for dir := filepath.Dir(entry); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			same := func(known fs.FileInfo) bool { return os.SameFile(known, info) }
			if slices.ContainsFunc(p.worktrees, same) {
				return true
			}
			if slices.ContainsFunc(p.gitDirs, same) {
				return false
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// maxLinks is where Linux gives up too (ELOOP).
const maxLinks = 40

// follow resolves a path, component by component, and lists the symbolic links it
// meets. What does not exist stays as it is written.
func follow(path string) (real string, links []string, err error) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	real, rest := root, parts(path[len(volume):])
	for len(rest) > 0 {
		next := filepath.Join(real, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return filepath.Join(append([]string{next}, rest...)...), links, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		links = append(links, next)
		target, err := os.Readlink(next)
		if err == nil && len(links) > maxLinks {
			err = errors.New("too many symbolic links")
		}
		if err != nil {
			return filepath.Join(append([]string{next}, rest...)...), links, err
		}
		if filepath.IsAbs(target) {
			real = root
		}
		rest = append(parts(target[len(filepath.VolumeName(target)):]), rest...)
	}
	return real, links, nil
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' })
}

// HostFile reads a file that the host's policy rests on, by the rules for such
// files: an absolute path outside every worktree, a regular file that nobody but
// its owner may write, who is this user or the administrator. what names it in
// messages. A file that does not exist is an error that wraps fs.ErrNotExist.
// Codes: config_invalid.
func (p *Policy) HostFile(path, what string) ([]byte, error) { return p.place.readHostFile(path, what) }

// readHostFile reads a file that the host's policy rests on: named by an absolute
// path, outside every worktree, a regular file that nobody but its owner may
// write, who is this user or the administrator, and that nobody else can replace.
// what names it in messages. A file that does not exist is an error that wraps
// fs.ErrNotExist. Codes: config_invalid.
func (p place) readHostFile(path, what string) ([]byte, error) {
	bad := func(problem string) *fault.Fault {
		return fault.New(fault.ConfigInvalid, "%s, %s, %s", what, safetext.Terminal(path), problem)
	}
	if !filepath.IsAbs(path) {
		return nil, bad("is not named by an absolute path").WithHint("name it by its absolute path, or one that begins with ~/")
	}
	if p.inside(path) {
		return nil, bad("lies inside a worktree, where the repository's content decides it").
			WithHint("move it outside every worktree, such as to /etc or ~/.config, and name it there")
	}
	// A pipe would be waited for, and that wait cannot be interrupted.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, bad("is no regular file").WithHint("make it a regular file")
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, bad("cannot be read").WithHint("check its owner and mode").WithCause(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, bad("is no regular file").WithHint("make it a regular file").WithCause(err)
	}
	if problem, mend := exposed(info, path); problem != "" {
		return nil, bad(problem).WithHint("%s", mend)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxHostFile+1))
	if err != nil {
		return nil, bad("cannot be read").WithCause(err)
	}
	if len(data) > maxHostFile {
		return nil, bad("has more than 1 MiB").WithHint("keep only the lines that are needed")
	}
	return data, nil
}

// exposed says why someone else could decide what a file holds, "" if nobody can.
func exposed(info fs.FileInfo, path string) (problem, mend string) {
	switch {
	case !modesMean:
		return "", ""
	case info.Mode().Perm()&othersWrite != 0:
		return "can be written by others than its owner", "chmod go-w " + ShellWord(path)
	case !owned(info):
		return "belongs to another user", "chown it to the user who runs evolve, or to root"
	}
	real, links, _ := follow(path)
	for _, at := range append(links, real) {
		if dir := openDirectory(filepath.Dir(at)); dir != "" {
			return "lies in a directory that anybody can write", "chmod o-w " + ShellWord(dir)
		}
	}
	return "", ""
}

// openDirectory returns the directory, of dir and those above it, in which anybody
// may replace entries; "" if there is none.
func openDirectory(dir string) string {
	for {
		info, err := os.Stat(dir)
		if err == nil && info.Mode().Perm()&anybodyWrites != 0 && info.Mode()&fs.ModeSticky == 0 {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// secret reports whether a key file may be read by its owner only.
func secret(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (!modesMean || info.Mode().Perm()&othersAny == 0 && owned(info))
}
