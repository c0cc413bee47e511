// Package workspace writes the reviewed files of one core of a revision into a
// private directory, so that its servers can be run without touching anybody's
// worktree.
//
// Only what a review covers is written: agent.yaml, the declarations, what they
// launch and what runners read. The layout is the repository's. Nothing outside
// the directory is ever written: paths are checked component by component, and
// every file must be new.
package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Workspace is a private directory with the files of one core. Remove it when
// done.
type Workspace struct {
	root string
	core string
}

// New writes the files of core at a revision into a new directory under parent
// ("" is the system's place for temporary files). Modes are 0700 and 0600, and
// 0700 for executable files. Codes: io_failed, surface_unreadable.
func New(ctx context.Context, tree decl.Tree, surface *decl.Surface, core, parent string) (*Workspace, error) {
	root, err := os.MkdirTemp(parent, "evolve-workspace-*")
	if err != nil {
		return nil, fault.New(fault.IOFailed, "no private workspace can be made").
			WithHint("check the free space and TMPDIR").WithCause(err)
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // servers are held to the workspace after symbolic links
	}
	w := &Workspace{root: root, core: core}
	if err := w.write(ctx, tree, surface.Paths(core)); err != nil {
		return nil, errors.Join(err, w.Remove())
	}
	return w, nil
}

// Dir is the core's directory in the workspace: where its servers run.
func (w *Workspace) Dir() string { return filepath.Join(w.root, filepath.FromSlash(w.core)) }

// Remove deletes the workspace. Servers may have made their own files
// unreadable; that is mended first.
func (w *Workspace) Remove() error {
	_ = filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) //nolint:gosec // a directory of ours
		}
		return nil
	})
	if err := os.RemoveAll(w.root); err != nil {
		return fault.New(fault.IOFailed, "the private workspace %s cannot be removed", safetext.Terminal(w.root)).
			WithHint("remove it by hand").WithCause(err)
	}
	return nil
}

func (w *Workspace) write(ctx context.Context, tree decl.Tree, paths []string) error {
	if err := os.MkdirAll(w.Dir(), 0o700); err != nil {
		return failed(w.core, err)
	}
	left := int64(decl.MaxSurfaceBytes)
	from := &reader{tree: tree}
	for _, p := range paths {
		if ctx.Err() != nil {
			return fault.New(fault.Interrupted, "interrupted while the workspace was written").WithCause(ctx.Err())
		}
		n, err := w.file(ctx, from, p, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func (w *Workspace) file(ctx context.Context, from *reader, p string, limit int64) (int64, error) {
	if !safePath(p) {
		return 0, fault.New(fault.SurfaceUnreadable, "%s is no path that can be written safely", safetext.Terminal(p)).
			WithHint("rename the file")
	}
	mode, data, err := from.read(ctx, p, limit)
	if err != nil {
		return 0, err
	}
	return int64(len(data)), w.put(p, mode, data)
}

// reader reads reviewed files of a revision. It remembers the last directory:
// files come sorted by path.
type reader struct {
	tree    decl.Tree
	dir     string
	entries map[string]decl.Entry
}

func (r *reader) read(ctx context.Context, p string, limit int64) (decl.Mode, []byte, error) {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if r.entries == nil || r.dir != dir {
		list, err := r.tree.List(ctx, dir)
		if err != nil {
			return 0, nil, err
		}
		r.dir, r.entries = dir, make(map[string]decl.Entry, len(list))
		for _, e := range list {
			r.entries[e.Name] = e
		}
	}
	e, ok := r.entries[name]
	if !ok {
		return 0, nil, fault.New(fault.SurfaceUnreadable, "%s is gone while it was read", safetext.Terminal(p)).
			WithHint("run the command again")
	}
	data, err := r.tree.Read(ctx, dir, e, limit)
	return e.Mode, data, err
}

// safePath refuses what could leave the workspace or mean something else on this
// system.
func safePath(p string) bool {
	for _, part := range strings.Split(p, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") || !filepath.IsLocal(part) ||
			strings.ContainsAny(part, "\\\x00") {
			return false
		}
	}
	return filepath.IsLocal(filepath.FromSlash(p))
}

func (w *Workspace) put(p string, mode decl.Mode, data []byte) error {
	at := filepath.Join(w.root, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return failed(p, err)
	}
	perm := os.FileMode(0o600)
	if mode == decl.ModeExecutable {
		perm = 0o700
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return failed(p, err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return failed(p, err)
	}
	return nil
}

func failed(p string, err error) error {
	return fault.New(fault.IOFailed, "%s cannot be written to the private workspace", safetext.Terminal(p)).
		WithHint("check the free space; two names that this system takes for one cannot both be written").WithCause(err)
}
