package promote

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// permissions are the modes of the files that a repository's users share:
// claims and the audit log. core.sharedRepository decides, as for Git's own
// files; key files do not pass here and stay private.
type permissions struct {
	file, dir fs.FileMode
	// force sets the modes after creation, against the umask: added to what the
	// umask left or, if exact, instead of it.
	force, exact bool
}

// sharedPermissions reads a value of core.sharedRepository as git-config(1)
// describes it.
func sharedPermissions(value string) (permissions, error) {
	switch strings.ToLower(value) {
	case "", "umask", "false", "no", "off", "0":
		return permissions{file: 0o666, dir: 0o777}, nil
	case "group", "true", "yes", "on", "1":
		return permissions{file: 0o660, dir: 0o770 | fs.ModeSetgid, force: true}, nil
	case "all", "world", "everybody", "2":
		return permissions{file: 0o664, dir: 0o775 | fs.ModeSetgid, force: true}, nil
	}
	mode, err := strconv.ParseUint(value, 8, 12)
	if err != nil || mode&0o600 != 0o600 || mode > 0o777 {
		return permissions{}, fault.New(fault.ConfigInvalid, "core.sharedRepository is no value that Git knows").
			WithHint("git config core.sharedRepository group")
	}
	file := fs.FileMode(mode) &^ 0o111
	// A directory can be searched by those who can read it.
	return permissions{file: file, dir: file | file>>2&0o111 | fs.ModeSetgid, force: true, exact: true}, nil
}

// creation is the mode that a file or directory is made with, before the umask.
func (p permissions) creation(dir bool) fs.FileMode {
	switch {
	case p.exact && dir:
		return p.dir.Perm()
	case p.exact:
		return p.file
	case dir:
		return 0o777
	}
	return 0o666
}

// forced is the mode that a file or directory must get, and whether it must:
// only its owner can set it, and others find it set.
func (p permissions) forced(now, want fs.FileMode) (fs.FileMode, bool) {
	if !p.force {
		return 0, false
	}
	if !p.exact {
		want |= now.Perm()
	}
	return want, true
}

// setFile sets the mode of an open file that this process made.
func (p permissions) setFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if mode, must := p.forced(info.Mode(), p.file); must && mode != info.Mode() {
		return f.Chmod(mode)
	}
	return nil
}

func (p permissions) setDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode, must := p.forced(info.Mode(), p.dir); must {
		return os.Chmod(dir, mode)
	}
	return nil
}

// makeDir creates a directory below an existing Git directory.
func (p permissions) makeDir(dir string) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		err := os.Mkdir(d, p.creation(true))
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return fault.New(fault.IOFailed, "the Git directory is not writable: evolve/ cannot be made in it").
				WithHint("give this user write permission to the Git directory").WithCause(err)
		default:
			if err := p.setDir(d); err != nil {
				return fault.New(fault.IOFailed, "the mode of evolve/ in the Git directory cannot be set").WithCause(err)
			}
		}
	}
	return nil
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".tmp-"

// writeFile replaces path in one step, so that a reader sees the old bytes or
// the new ones.
func (p permissions) writeFile(path string, data []byte) (err error) {
	// Not os.CreateTemp, whose files are private whatever the umask says.
	name := filepath.Join(filepath.Dir(path), tempPrefix+rand.Text())
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, p.creation(false))
	if err != nil {
		return fault.New(fault.IOFailed, "the Git directory is not writable: no file can be made in evolve/").
			WithHint("give this user write permission to the Git directory").WithCause(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(name)
			err = fault.New(fault.IOFailed, "a file in evolve/ of the Git directory cannot be written").
				WithHint("check the free space and the permissions of the Git directory").WithCause(err)
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = p.setFile(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	return err
}
