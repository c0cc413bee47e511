package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Holds checks that dir, where the host says that a core can run, has what the
// core's servers launch and what runners read, byte for byte as it was reviewed:
// else something else would run than was shown to a reviewer. The declarations
// themselves are read from the revision and need not be there, and what is there
// beside the reviewed files, such as installed dependencies, is the host's.
// Codes: surface_unreadable, io_failed, interrupted.
func Holds(ctx context.Context, dir string, tree decl.Tree, surface *decl.Surface, core *decl.Core) error {
	read := map[string]bool{core.Agent.Path: true}
	for _, f := range core.Files {
		read[f.Path] = true
	}
	left := int64(decl.MaxSurfaceBytes)
	from := &reader{tree: tree}
	for _, p := range surface.Paths(core.Dir) {
		if read[p] {
			continue
		}
		if ctx.Err() != nil {
			return fault.New(fault.Interrupted, "interrupted while the workspace was compared").WithCause(ctx.Err())
		}
		_, want, err := from.read(ctx, p, left)
		if err != nil {
			return err
		}
		left -= int64(len(want))
		at, err := filepath.Rel(filepath.FromSlash(core.Dir), filepath.FromSlash(p))
		if err != nil {
			return failed(p, err)
		}
		if err := sameFile(filepath.Join(dir, at), p, want); err != nil {
			return err
		}
	}
	return nil
}

func sameFile(at, p string, want []byte) error {
	other := func(problem string, cause error) error {
		return fault.New(fault.SurfaceUnreadable, "%s was reviewed, and %s in the workspace", safetext.Terminal(p), problem).
			WithHint("check the revision out there, or leave --workspace out").WithCause(cause)
	}
	f, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return other("is missing", err)
	}
	if err != nil {
		return other("cannot be read", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return other("is no regular file", err)
	}
	got, err := io.ReadAll(io.LimitReader(f, int64(len(want))+1))
	switch {
	case err != nil:
		return other("cannot be read", err)
	case !bytes.Equal(got, want):
		return other("has other bytes", nil)
	}
	return nil
}
