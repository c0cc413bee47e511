package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// workingTree is the bytes on disk as decl reads them. Nothing is followed: a
// symbolic link is an entry of its own, and a path through one is absent.
type workingTree struct{ root string }

// WorkingTree returns the worktree's bytes on disk, untracked files included,
// ignoring the index. Codes: repository_unreadable in a bare repository.
func (r *Repo) WorkingTree() (decl.Tree, error) { return WorkingTreeAt(r.workTree) }

// WorkingTreeAt is WorkingTree of the worktree at root; "" is none.
func WorkingTreeAt(root string) (decl.Tree, error) {
	if root == "" {
		return nil, fault.New(fault.RepositoryUnreadable, "a bare repository has no working tree").
			WithHint("name the revision to read")
	}
	return workingTree{root}, nil
}

// dir checks that every component is a real directory and returns its path.
func (w workingTree) dir(dir string) (string, error) {
	at := w.root
	if dir == "" {
		return at, nil
	}
	for part := range strings.SplitSeq(dir, "/") {
		if !plainName(part) {
			return "", fmt.Errorf("no directory: %w", fs.ErrNotExist)
		}
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil || !info.IsDir() {
			return "", fmt.Errorf("no directory: %w", fs.ErrNotExist)
		}
	}
	return at, nil
}

// plainName reports whether a name is one component on this system.
func plainName(name string) bool {
	return checkName(name) == "" && !strings.ContainsRune(name, filepath.Separator)
}

// List implements decl.Tree.
func (w workingTree) List(_ context.Context, dir string) ([]decl.Entry, error) {
	at, err := w.dir(dir)
	if err != nil {
		return nil, err
	}
	infos, err := os.ReadDir(at)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	var entries []decl.Entry
	for _, d := range infos {
		if checkName(d.Name()) != "" {
			continue
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since the directory was read
		}
		if err != nil {
			return nil, unreadable(dir, err)
		}
		mode := diskMode(filepath.Join(at, d.Name()), info)
		entries = append(entries, decl.Entry{Name: d.Name(), Mode: mode})
	}
	return entries, nil // os.ReadDir sorts bytewise by name
}

func diskMode(path string, info fs.FileInfo) decl.Mode {
	switch m := info.Mode(); {
	case m.IsDir():
		if _, err := os.Lstat(filepath.Join(path, ".git")); err == nil {
			return decl.ModeSubmodule
		}
		return decl.ModeTree
	case m&fs.ModeSymlink != 0:
		return decl.ModeSymlink
	case m.IsRegular() && m&0o100 != 0: // the owner's bit alone, as Git reads it
		return decl.ModeExecutable
	case m.IsRegular():
		return decl.ModeRegular
	}
	// Git tracks none of pipes, sockets and devices; reading one could hang.
	return decl.ModeSubmodule
}

// Read implements decl.Tree.
func (w workingTree) Read(_ context.Context, dir string, e decl.Entry, limit int64) ([]byte, error) {
	at, err := w.dir(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(at, e.Name)
	info, err := os.Lstat(path)
	if err != nil || !plainName(e.Name) {
		return nil, fmt.Errorf("no file: %w", fs.ErrNotExist)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return nil, unreadable(dir, err)
		}
		return []byte(target), nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("no file: %w", fs.ErrNotExist)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, unreadable(dir, err) // another file, or a link, took its place
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, unreadable(dir, err)
	}
	if int64(len(data)) > limit {
		return nil, fault.New(fault.SurfaceUnreadable, "a file in %s has more than %d bytes", inWords(dir), limit).WithCause(decl.ErrTooLarge)
	}
	return data, nil
}

func unreadable(dir string, cause error) error {
	return fault.New(fault.SurfaceUnreadable, "the working tree cannot be read in %s", inWords(dir)).WithCause(cause)
}

func inWords(dir string) string {
	if dir == "" {
		return "its root"
	}
	return safetext.Terminal(dir)
}
