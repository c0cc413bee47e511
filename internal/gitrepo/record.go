package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// TreeFile is one file of a record's tree.
type TreeFile struct {
	Name string
	Data []byte
}

// WriteRecord stores files as a parentless commit with the given time and a
// fixed identity (equal inputs give equal ids) and creates ref for it. An equal
// value of the ref is no error. Codes: ref_moved if the ref exists with another
// value, io_failed.
func (r *Repo) WriteRecord(ctx context.Context, ref, subject string, when time.Time, files []TreeFile) (ID, error) {
	var listing bytes.Buffer
	for _, f := range files {
		id, err := r.write(ctx, f.Data, nil, "hash-object", "-w", "-t", "blob", "--no-filters", "--stdin")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&listing, "100644 blob %s\t%s\n", id, f.Name)
	}
	tree, err := r.write(ctx, listing.Bytes(), nil, "mktree")
	if err != nil {
		return "", err
	}
	commit, err := r.Derive(ctx, Derivation{Tree: ID(tree), Message: subject, When: when})
	if err != nil {
		return "", err
	}
	return commit, r.createRef(ctx, ref, commit)
}

// write runs one git that writes an object, and returns its id.
func (r *Repo) write(ctx context.Context, stdin []byte, env []string, args ...string) (string, error) {
	if stdin == nil {
		stdin = []byte{}
	}
	out, err := r.run(ctx, command{args: args, stdin: stdin, env: env, user: true})
	id := strings.TrimSpace(string(out.stdout))
	if err != nil || !r.isID(id) {
		if fault.CodeOf(err) == fault.Interrupted {
			return "", err
		}
		return "", fault.New(fault.IOFailed, "no object can be written to the repository; nothing was changed").
			WithHint("check the free space and the permissions of the Git directory").WithCause(err)
	}
	return id, nil
}

func (r *Repo) createRef(ctx context.Context, ref string, id ID) error {
	if err := checkRefWord(ref); err != nil {
		return err
	}
	_, err := r.run(ctx, command{
		args:  []string{"-c", "core.warnAmbiguousRefs=false", "update-ref", "--stdin", "-z"},
		stdin: []byte("create " + ref + "\x00" + string(id) + "\x00"), user: true,
	})
	if err == nil {
		return nil
	}
	if fault.CodeOf(err) == fault.Interrupted {
		return err
	}
	value, rerr := r.ReadRef(ctx, ref)
	switch {
	case rerr == nil && value == id:
		return nil
	case rerr == nil && value != "":
		return fault.New(fault.RefMoved, "%s exists with another content", safetext.Terminal(ref))
	}
	return fault.New(fault.IOFailed, "the ref %s cannot be created; nothing was changed", safetext.Terminal(ref)).
		WithHint("check the permissions of the Git directory, and its hooks").WithCause(err)
}

// DeleteRef deletes a ref if it still has the value old. One that is gone is no
// error, whoever deleted it: a git that was killed may have done it. Codes:
// ref_moved, git_failed (with ErrCommitted in its chain where the ref cannot be read
// afterwards), interrupted.
func (r *Repo) DeleteRef(ctx context.Context, ref string, old ID) error {
	if !r.isID(string(old)) { // Git would take "" for "whatever it is"
		return fault.New(fault.Internal, "a ref is deleted with its old value only")
	}
	if err := checkRefWord(ref); err != nil {
		return err
	}
	_, err := r.run(ctx, command{
		args:  []string{"-c", "core.warnAmbiguousRefs=false", "update-ref", "--no-deref", "--stdin", "-z"},
		stdin: []byte("delete " + ref + "\x00" + string(old) + "\x00"), user: true,
	})
	if err == nil {
		return nil
	}
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	value, rerr := r.ReadRef(settle, ref)
	switch {
	case rerr != nil:
		err = errors.Join(ErrCommitted, rerr, err)
	case value == "":
		return nil
	case value != old:
		return fault.New(fault.RefMoved, "%s no longer has the value that was read", safetext.Terminal(ref))
	case fault.CodeOf(err) == fault.Interrupted:
		return err
	}
	return fault.New(fault.GitFailed, "%s cannot be deleted", safetext.Terminal(ref)).
		WithHint("check the permissions of the Git directory, and its hooks").WithCause(err)
}
