package gitrepo

import (
	"context"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Home is the user's home directory, "" if the environment names none.
func (r *Repo) Home() string {
	home, _ := Lookup(r.userEnv, "HOME")
	return home
}

// SymbolicTarget follows a ref, if it is a symbolic one, to the ref it names in
// the end. Codes: ref_invalid for a loop.
func (r *Repo) SymbolicTarget(ctx context.Context, ref string) (string, error) {
	return r.followSymbolic(ctx, ref)
}

// PeelCommit follows annotated tags to a commit. Codes: revision_unknown.
func (r *Repo) PeelCommit(ctx context.Context, id ID) (ID, error) {
	if !r.isID(string(id)) {
		return "", fault.New(fault.RevisionUnknown, "that is no object id of this repository")
	}
	if _, err := r.ReadCommit(ctx, id); err == nil {
		return id, nil
	}
	return r.ResolveCommit(ctx, string(id))
}
