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
	maxTreeBytes   = 32 << 20
	maxCommitBytes = 4 << 20
)

// objectReader is the long-lived git cat-file child.
type objectReader struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	format string
	dead   error
	stop   func()
}

func startObjects(ctx context.Context, r *Repo) (*objectReader, error) {
	// The child outlives single requests; the context of Open bounds its life.
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, quietSettings...), "cat-file", "--batch-command")...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.readEnv, waitDelay
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		if out, err = cmd.StdoutPipe(); err == nil {
			if err = cmd.Start(); err == nil {
				return &objectReader{
					cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10), format: r.format, stop: cancel,
				}, nil
			}
		}
	}
	cancel()
	return nil, fault.New(fault.GitFailed, "git cat-file could not be started").WithCause(err)
}

// close ends the child. Its exit status says nothing that a reader needs.
func (o *objectReader) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.in.Close()
	o.stop()
	_ = o.cmd.Wait()
	o.dead = errors.New("closed")
	return nil
}

// read returns the bytes of an object that must have the given kind. The size
// is asked first; more than limit is an error before a byte is read.
func (o *objectReader) read(ctx context.Context, id ID, kind string, limit int64) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Interrupted, "interrupted").WithCause(err)
	}
	size, err := o.request("info", id, kind)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fault.New(fault.SurfaceUnreadable, "object %s has %d bytes; at most %d are read", short(id), size, limit).
			WithCause(decl.ErrTooLarge)
	}
	if size, err = o.request("contents", id, kind); err != nil {
		return nil, err
	}
	if size > limit {
		return nil, o.die(errors.New("size changed"))
	}
	data := make([]byte, size+1) // and the line break behind it
	if _, err := io.ReadFull(o.out, data); err != nil {
		return nil, o.die(err)
	}
	data = data[:size]
	if err := o.check(id, kind, data); err != nil {
		return nil, err
	}
	return data, nil
}

// request sends one line and reads the header of the answer.
func (o *objectReader) request(verb string, id ID, kind string) (int64, error) {
	if o.dead != nil {
		return 0, fault.New(fault.SurfaceUnreadable, "object %s cannot be read: git's reader has ended", short(id)).
			WithHint("run git fsck; in a partial clone, git fetch --refetch").WithCause(o.dead)
	}
	if _, err := io.WriteString(o.in, verb+" "+string(id)+"\n"); err != nil {
		return 0, o.missing(id, err)
	}
	line, err := o.out.ReadString('\n')
	if err != nil {
		return 0, o.missing(id, err)
	}
	fields := strings.Fields(line)
	if len(fields) == 2 && fields[1] == "missing" {
		return 0, o.absent(id)
	}
	if len(fields) != 3 || fields[0] != string(id) {
		return 0, o.die(errors.New("unexpected answer"))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return 0, o.die(errors.New("unexpected size"))
	}
	if fields[1] != kind {
		if verb == "contents" {
			return 0, o.die(errors.New("kind changed"))
		}
		return 0, fault.New(fault.SurfaceUnreadable, "object %s is a %s, where a %s must be", short(id), knownKind(fields[1]), kind)
	}
	return size, nil
}

// missing is the end of the child in the middle of a request: in a partial
// clone Git ends when an object is absent and may not be fetched.
func (o *objectReader) missing(id ID, cause error) error {
	_ = o.die(cause)
	return o.absent(id)
}

func (o *objectReader) absent(id ID) error {
	return fault.New(fault.SurfaceUnreadable, "object %s is not in this repository", short(id)).
		WithHint("a partial or shallow clone lacks it: git fetch --unshallow, or git fetch --refetch")
}

func (o *objectReader) die(cause error) error {
	o.dead = cause
	o.stop()
	return fault.New(fault.SurfaceUnreadable, "git cat-file answered out of order").WithCause(cause)
}

// check hashes the bytes against the id: cat-file serves what it finds.
func (o *objectReader) check(id ID, kind string, data []byte) error {
	var h hash.Hash
	if o.format == "sha256" {
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
			return fault.New(fault.SurfaceUnreadable, "object %s is part of a SHA-1 collision", short(id))
		}
	} else {
		sum = h.Sum(nil)
	}
	if hex.EncodeToString(sum) != string(id) {
		return fault.New(fault.SurfaceUnreadable, "object %s holds bytes that do not match its id", short(id)).
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

// short abbreviates an id for a message.
func short(id ID) string { return string(id[:min(len(id), 12)]) }
