package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// RefState is what a name stands for.
type RefState struct {
	// Target is the ref that an update of the name would move: the name itself,
	// or what it names in the end where it is symbolic.
	Target string
	// Value is the target's value, "" if it does not exist.
	Value ID
}

// RefStates looks many full names up in few processes: a push may bring some
// hundred. Codes: ref_invalid, git_failed.
func (r *Repo) RefStates(ctx context.Context, names []string) (map[string]RefState, error) {
	out := make(map[string]RefState, len(names))
	for _, name := range names {
		if err := checkRefWord(name); err != nil {
			return nil, err
		}
	}
	known, rest := r.early.take(names)
	for name, ref := range known {
		if ref.value != "" {
			out[name] = RefState{Target: cmp.Or(ref.symref, name), Value: ref.value}
		}
	}
	for _, batch := range batches(rest) {
		listed, err := r.ask(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, batch...)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(listed) {
			id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			name, target, _ := strings.Cut(rest, " ")
			if target == "" {
				target = name
			}
			out[name] = RefState{Target: target, Value: ID(id)}
		}
	}
	for _, name := range names {
		if _, there := out[name]; there {
			continue
		}
		target, err := r.danglingTarget(ctx, name)
		if err != nil {
			return nil, err
		}
		out[name] = RefState{Target: target}
	}
	return out, nil
}

// danglingTarget follows a name that has no value: it may be a symbolic ref to a
// ref that does not exist, and an update would create that one. In the files
// backend such a name has a file; a process is asked only then.
func (r *Repo) danglingTarget(ctx context.Context, name string) (string, error) {
	if !exists(filepath.Join(r.commonDir, "reftable")) {
		info, err := os.Lstat(filepath.Join(r.commonDir, filepath.FromSlash(name)))
		if err != nil || info.IsDir() {
			return name, nil //nolint:nilerr // no file, no symbolic ref
		}
	}
	return r.followSymbolic(ctx, name)
}

// PackedValue is the value that the packed-refs file holds for a ref, "" if none,
// and whether another process has that file locked to write it anew. In a
// repository with another backend there is no such file.
func (r *Repo) PackedValue(ref string) (value ID, locked bool, err error) {
	locked = exists(filepath.Join(r.commonDir, "packed-refs.lock"))
	f, err := os.Open(filepath.Join(r.commonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", locked, nil
	}
	if err != nil {
		return "", locked, fault.New(fault.GitFailed, "packed-refs in the Git directory cannot be read").
			WithHint("check the permissions of the Git directory").WithCause(err)
	}
	defer func() { _ = f.Close() }()
	suffix := []byte(" " + ref)
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for lines.Scan() {
		if id, ok := bytes.CutSuffix(lines.Bytes(), suffix); ok && r.isID(string(id)) {
			value = ID(id)
		}
	}
	if err := lines.Err(); err != nil {
		return "", locked, fault.New(fault.GitFailed, "packed-refs in the Git directory cannot be read").
			WithHint("git fsck names what is broken").WithCause(err)
	}
	return value, locked, nil
}

// ReadBlob reads and hashes one blob of at most limit bytes.
// Codes: surface_unreadable.
func (r *Repo) ReadBlob(ctx context.Context, id ID, limit int64) ([]byte, error) {
	return r.objects.Read(ctx, id, "blob", limit)
}
