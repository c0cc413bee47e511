package gogit

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// objects reads objects through go-git, one at a time.
type objects struct {
	mu    sync.Mutex
	dir   string // of the objects
	files *filesystem.Storage
}

// Read implements gitrepo.Source.
func (o *objects) Read(ctx context.Context, id gitrepo.ID, kind string, limit int64) ([]byte, error) {
	var data []byte
	err := o.with(ctx, id, func(h plumbing.Hash) (err error) {
		if f, lerr := os.Open(o.loosePath(id)); lerr == nil {
			defer func() { _ = f.Close() }()
			data, err = readLoose(f, id, kind, limit)
		} else {
			data, err = o.readPacked(h, id, kind, limit)
		}
		if err != nil {
			return err
		}
		return gitrepo.CheckHash("sha1", id, kind, data)
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (o *objects) loosePath(id gitrepo.ID) string {
	return filepath.Join(o.dir, string(id[:2]), string(id[2:]))
}

// readLoose reads a file of one object. go-git's storage would inflate all of
// it, whatever its header says; this stops at the limit.
func readLoose(f io.Reader, id gitrepo.ID, kind string, limit int64) ([]byte, error) {
	r, err := objfile.NewReader(f)
	if err != nil {
		return nil, broken(id, err)
	}
	defer func() { _ = r.Close() }()
	is, size, err := r.Header()
	if err != nil {
		return nil, broken(id, err)
	}
	return capAndRead(r, is, size, id, kind, limit)
}

func (o *objects) readPacked(h plumbing.Hash, id gitrepo.ID, kind string, limit int64) ([]byte, error) {
	size, err := o.files.EncodedObjectSize(h)
	if err != nil {
		return nil, broken(id, err)
	}
	if size > limit {
		return nil, gitrepo.TooLarge(id, size, limit)
	}
	object, err := o.files.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return nil, broken(id, err)
	}
	r, err := object.Reader()
	if err != nil {
		return nil, broken(id, err)
	}
	defer func() { _ = r.Close() }()
	return capAndRead(r, object.Type(), size, id, kind, limit)
}

// capAndRead reads an object whose header is known, and no byte more than that
// promises.
func capAndRead(r io.Reader, is plumbing.ObjectType, size int64, id gitrepo.ID, kind string, limit int64) ([]byte, error) {
	switch {
	case is.String() != kind:
		return nil, gitrepo.WrongKind(id, is.String(), kind)
	case size > limit:
		return nil, gitrepo.TooLarge(id, size, limit)
	}
	data, err := io.ReadAll(io.LimitReader(r, size+1))
	if err == nil && int64(len(data)) != size {
		err = errors.New("the header names another size")
	}
	if err != nil {
		return nil, broken(id, err)
	}
	return data, nil
}

// kind is what an object says that it is. Only what may lead to a commit is
// opened: nothing larger than a commit or tag may be.
func (o *objects) kind(ctx context.Context, id gitrepo.ID) (kind string, err error) {
	err = o.with(ctx, id, func(h plumbing.Hash) error {
		if f, lerr := os.Open(o.loosePath(id)); lerr == nil {
			defer func() { _ = f.Close() }()
			if kind, err = looseKind(f); err != nil {
				return broken(id, err)
			}
			return nil
		}
		size, err := o.files.EncodedObjectSize(h)
		if err != nil {
			return broken(id, err)
		}
		if size > gitrepo.MaxCommitBytes {
			return gitrepo.TooLarge(id, size, gitrepo.MaxCommitBytes)
		}
		object, err := o.files.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return broken(id, err)
		}
		kind = object.Type().String()
		return nil
	})
	return kind, err
}

func looseKind(f io.Reader) (string, error) {
	r, err := objfile.NewReader(f)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	is, _, err := r.Header()
	return is.String(), err
}

// with runs one read. A broken pack has made go-git panic before; that is a
// broken repository and no bug of ours.
func (o *objects) with(ctx context.Context, id gitrepo.ID, do func(plumbing.Hash) error) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() != nil {
		return fault.New(fault.Interrupted, "interrupted").WithCause(ctx.Err())
	}
	if !gitrepo.IsID(string(id), sha1Digits) {
		return fault.New(fault.SurfaceUnreadable, "no object id of this repository where one must be")
	}
	defer func() {
		if recover() != nil {
			err = broken(id, errors.New("go-git stopped"))
		}
	}()
	return do(plumbing.NewHash(string(id)))
}

func broken(id gitrepo.ID, cause error) error {
	if errors.Is(cause, plumbing.ErrObjectNotFound) {
		return gitrepo.Absent(id)
	}
	return fault.New(fault.SurfaceUnreadable, "object %s cannot be read", gitrepo.Short(id)).
		WithHint("the repository may be damaged: git fsck, where there is a git program").WithCause(cause)
}
