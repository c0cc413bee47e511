package gitrepo

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// goGitObjects reads objects through go-git, one at a time.
type goGitObjects struct {
	mu    sync.Mutex
	files *filesystem.Storage
}

// read implements source.
func (o *goGitObjects) read(ctx context.Context, id ID, kind string, limit int64) ([]byte, error) {
	var data []byte
	err := o.with(ctx, id, func(h plumbing.Hash) error {
		size, err := o.files.EncodedObjectSize(h)
		if err != nil {
			return goGitFault(id, err)
		}
		if size > limit {
			return tooLarge(id, size, limit)
		}
		object, err := o.files.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return goGitFault(id, err)
		}
		if is := object.Type().String(); is != kind {
			return wrongKind(id, is, kind)
		}
		data, err = contents(object, limit)
		if err != nil {
			return goGitFault(id, err)
		}
		if int64(len(data)) != size {
			return goGitFault(id, errors.New("the header names another size"))
		}
		return checkHash("sha1", id, kind, data)
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// contents reads at most one byte more than the limit.
func contents(object plumbing.EncodedObject, limit int64) (data []byte, err error) {
	r, err := object.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, limit+1))
}

// kind is what an object says that it is.
func (o *goGitObjects) kind(ctx context.Context, id ID) (kind string, err error) {
	err = o.with(ctx, id, func(h plumbing.Hash) error {
		object, err := o.files.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return goGitFault(id, err)
		}
		kind = object.Type().String()
		return nil
	})
	return kind, err
}

// with runs one read. A broken pack has made go-git panic before; that is a
// broken repository and no bug of ours.
func (o *goGitObjects) with(ctx context.Context, id ID, do func(plumbing.Hash) error) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if !isID(string(id), sha1Digits) {
		return fault.New(fault.SurfaceUnreadable, "no object id of this repository where one must be")
	}
	defer func() {
		if recover() != nil {
			err = goGitFault(id, errors.New("go-git stopped"))
		}
	}()
	return do(plumbing.NewHash(string(id)))
}

func goGitFault(id ID, cause error) error {
	if errors.Is(cause, plumbing.ErrObjectNotFound) {
		return absent(id)
	}
	return fault.New(fault.SurfaceUnreadable, "object %s cannot be read", short(id)).
		WithHint("the repository may be damaged: git fsck, where there is a git program").WithCause(cause)
}
