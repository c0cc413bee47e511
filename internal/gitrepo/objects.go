package gitrepo

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/pjbgf/sha1cd"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
)

// Limits of the objects that are read besides blobs, in bytes. Git itself makes
// neither so large in practice; a hostile repository costs at most this.
const (
	maxTreeBytes = 32 << 20
	// MaxCommitBytes is the limit of commits and annotated tags.
	MaxCommitBytes = 4 << 20
)

// objectReader reads objects through one long-lived git cat-file child. A child
// that ended, as Git's does over an absent object in a partial clone, is replaced
// at the next request: one unreadable object hides no other.
type objectReader struct {
	mu     sync.Mutex
	start  func() (*catFile, error)
	child  *catFile // nil before the first request and after a failure
	closed bool
	format string
	digits int
	// careful says that sizes are asked for first: an object was too large, and
	// cost its child.
	careful bool
}

// catFile is one child.
type catFile struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	stop func()
}

// newObjectReader starts no child yet. Children outlive single requests; the
// context of Open bounds their life.
func newObjectReader(ctx context.Context, r *Repo) *objectReader {
	return &objectReader{
		format: r.format,
		digits: r.digits(),
		start:  func() (*catFile, error) { return r.startCatFile(ctx) },
	}
}

func (r *Repo) startCatFile(ctx context.Context) (*catFile, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &catFile{cmd: r.child(ctx, command{args: []string{"cat-file", "--batch-command"}}), stop: cancel}
	if err := c.begin(); err != nil {
		cancel()
		return nil, err
	}
	return c, nil
}

func (c *catFile) begin() (err error) {
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	return c.cmd.Start()
}

// end ends the child and waits for it. Its exit status says nothing that a
// reader needs.
func (c *catFile) end() {
	_ = c.in.Close()
	c.stop()
	_ = c.cmd.Wait()
}

func (o *objectReader) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop()
	o.closed = true
	return nil
}

func (o *objectReader) drop() {
	if o.child != nil {
		o.child.end()
		o.child = nil
	}
}

// Read implements Source. Git writes an object's size in front of its contents:
// more than limit is an error before a byte of them is read.
func (o *objectReader) Read(ctx context.Context, id ID, kind string, limit int64) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(id) != o.digits || strings.Trim(string(id), "0123456789abcdef") != "" {
		return nil, fault.New(fault.SurfaceUnreadable, "no object id of this repository where one must be")
	}
	if err := o.ready(ctx); err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, o.child.stop)
	data, err := o.child.read(id, kind, limit, o.careful)
	if !release() { // ctx ended, and the child with it
		o.drop()
		return nil, interrupted(ctx)
	}
	var broken brokenReader
	switch {
	case errors.As(err, &broken):
		o.drop()
		o.careful = o.careful || broken.refused != nil
		return nil, broken.fault(id)
	case err != nil:
		return nil, err
	}
	return data, CheckHash(o.format, id, kind, data)
}

// ready sees to it that there is a child.
func (o *objectReader) ready(ctx context.Context) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if o.closed {
		return fault.New(fault.Internal, "the repository was closed")
	}
	if o.child != nil {
		return nil
	}
	child, err := o.start()
	if err != nil {
		return fault.New(fault.GitFailed, "git cat-file could not be started").WithCause(err)
	}
	o.child = child
	return nil
}

// brokenReader is an answer after which the child is of no more use.
type brokenReader struct {
	cause   error
	ended   bool  // in the middle of a request
	refused error // what is wrong with an object whose contents are left unread
}

func (b brokenReader) Error() string { return b.cause.Error() }

func (b brokenReader) fault(id ID) error {
	if b.refused != nil {
		return b.refused
	}
	if b.ended { // so Git does over an absent object that it may not fetch
		return Absent(id)
	}
	return fault.New(fault.SurfaceUnreadable, "object %s cannot be read: git cat-file answered out of order", Short(id)).
		WithHint("run git fsck").WithCause(b.cause)
}

func (c *catFile) read(id ID, kind string, limit int64, careful bool) ([]byte, error) {
	if careful {
		if size, err := c.request("info", id, kind); err != nil {
			return nil, err
		} else if size > limit {
			return nil, TooLarge(id, size, limit)
		}
	}
	size, err := c.request("contents", id, kind)
	if err != nil {
		return nil, err
	}
	if size > limit {
		err := TooLarge(id, size, limit)
		return nil, brokenReader{cause: err, refused: err}
	}
	return c.contents(size)
}

// contents reads what stands behind the answer to "contents".
func (c *catFile) contents(size int64) ([]byte, error) {
	data := make([]byte, size+1) // and the line break behind it
	if _, err := io.ReadFull(c.out, data); err != nil {
		return nil, brokenReader{cause: err, ended: true}
	}
	if data[size] != '\n' {
		return nil, brokenReader{cause: errors.New("no line break behind the contents")}
	}
	return data[:size:size], nil
}

// request sends one line and reads the header of the answer.
func (c *catFile) request(verb string, id ID, kind string) (int64, error) {
	if err := c.ask(verb, id); err != nil {
		return 0, err
	}
	return c.answer(verb, id, kind)
}

func (c *catFile) ask(verb string, id ID) error {
	if _, err := io.WriteString(c.in, verb+" "+string(id)+"\n"); err != nil {
		return brokenReader{cause: err, ended: true}
	}
	return nil
}

// answer reads the header of the answer to one request.
func (c *catFile) answer(verb string, id ID, kind string) (int64, error) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return 0, brokenReader{cause: err, ended: true}
	}
	fields := strings.Fields(line)
	if len(fields) == 2 && fields[1] == "missing" {
		return 0, Absent(id)
	}
	if len(fields) != 3 || fields[0] != string(id) {
		return 0, brokenReader{cause: errors.New("unexpected answer")}
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return 0, brokenReader{cause: errors.New("unexpected size")}
	}
	if fields[1] == kind {
		return size, nil
	}
	err = WrongKind(id, fields[1], kind)
	if verb == "contents" {
		return 0, brokenReader{cause: err, refused: err}
	}
	return 0, err
}

// TooLarge is the error about an object of more than limit bytes. It wraps
// decl.ErrTooLarge.
func TooLarge(id ID, size, limit int64) error {
	return fault.New(fault.SurfaceUnreadable, "object %s has %d bytes; at most %d are read", Short(id), size, limit).
		WithHint("find it: git rev-list --objects HEAD | grep ^%s; keep it out of what is launched", Short(id)).
		WithCause(decl.ErrTooLarge)
}

// WrongKind is the error about an object of another kind than must be there.
func WrongKind(id ID, is, want string) error {
	return fault.New(fault.SurfaceUnreadable, "object %s is a %s, where a %s must be", Short(id), knownKind(is), want).
		WithHint("git fsck; make the commit again with Git")
}

// Absent is the error about an object that is not there.
func Absent(id ID) error {
	return fault.New(fault.SurfaceUnreadable, "object %s is not in this repository", Short(id)).
		WithHint("a partial or shallow clone lacks it: git fetch --unshallow, or git fetch --refetch --no-filter")
}

// CheckHash hashes the bytes against the id: cat-file and go-git serve what they
// find.
func CheckHash(format string, id ID, kind string, data []byte) error {
	var h hash.Hash
	if format == "sha256" {
		h = sha256.New()
	} else {
		h = sha1cd.New()
	}
	_, _ = io.WriteString(h, kind+" "+strconv.Itoa(len(data))+"\x00")
	_, _ = h.Write(data)
	var sum []byte
	if c, ok := h.(sha1cd.CollisionResistantHash); ok {
		var collision bool
		if sum, collision = c.CollisionResistantSum(nil); collision {
			return fault.New(fault.SurfaceUnreadable, "object %s is part of a SHA-1 collision", Short(id))
		}
	} else {
		sum = h.Sum(nil)
	}
	if hex.EncodeToString(sum) != string(id) {
		return fault.New(fault.SurfaceUnreadable, "object %s holds bytes that do not match its id", Short(id)).
			WithHint("the repository is damaged or was tampered with: git fsck")
	}
	return nil
}

// knownKind keeps unexpected words of git out of messages.
func knownKind(kind string) string {
	switch kind {
	case "blob", "tree", "commit", "tag":
		return kind
	}
	return "thing of another kind"
}

// Short abbreviates an id for a message.
func Short(id ID) string { return string(id[:min(len(id), 12)]) }
