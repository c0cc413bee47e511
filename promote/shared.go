package promote

import (
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
	// force sets the modes after creation, against the umask.
	force bool
}

// sharedPermissions reads a value of core.sharedRepository as git-config(1)
// describes it.
func sharedPermissions(value string) (permissions, error) {
	switch strings.ToLower(value) {
	case "", "umask", "false", "no", "off", "0":
		return permissions{file: 0o644, dir: 0o755}, nil
	case "group", "true", "yes", "on", "1":
		return permissions{file: 0o664, dir: 0o775 | fs.ModeSetgid, force: true}, nil
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
	return permissions{file: file, dir: file | file>>2&0o111 | fs.ModeSetgid, force: true}, nil
}

// makeDir creates a directory below an existing Git directory.
func (p permissions) makeDir(dir string) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		err := os.Mkdir(d, p.dir.Perm())
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return fault.New(fault.IOFailed, "the Git directory is not writable: evolve/ cannot be made in it").
				WithHint("give this user write permission to the Git directory").WithCause(err)
		case p.force:
			if err := os.Chmod(d, p.dir); err != nil {
				return fault.New(fault.IOFailed, "the mode of evolve/ in the Git directory cannot be set").WithCause(err)
			}
		}
	}
	return nil
}

// writeFile replaces path in one step, so that a reader sees the old bytes or
// the new ones.
func (p permissions) writeFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fault.New(fault.IOFailed, "the Git directory is not writable: no file can be made in evolve/").
			WithHint("give this user write permission to the Git directory").WithCause(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fault.New(fault.IOFailed, "a file in evolve/ of the Git directory cannot be written").
				WithHint("check the free space and the permissions of the Git directory").WithCause(err)
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(p.file)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
