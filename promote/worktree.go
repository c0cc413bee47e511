package promote

import (
	"context"
	"errors"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// checkWorktrees refuses to move a branch under a worktree's feet: its files
// would look like a change that undoes the promotion. With UpdateWorktree, one
// worktree may have it, if its files can follow; that one is returned. The move
// from a commit to itself has nothing to follow.
func (g *Gate) checkWorktrees(ctx context.Context, o Order) (*gitrepo.Occupant, error) {
	busy, err := g.Repo.Occupants(ctx, o.Ref)
	if err != nil || len(busy) == 0 {
		return nil, err
	}
	ref := safetext.Terminal(o.Ref)
	switch {
	case !o.UpdateWorktree:
		return nil, fault.New(fault.WorktreeBusy, "%s is checked out in %s", ref, safetext.Terminal(busy[0].Path)).
			WithHint("--update-worktree moves its files along; or run git switch --detach there first")
	case len(busy) > 1:
		return nil, fault.New(fault.WorktreeBusy, "%s is checked out in %d worktrees, %s first; only one can follow",
			ref, len(busy), safetext.Terminal(busy[0].Path)).WithHint("run git switch --detach in the others")
	case o.Old == "" || o.New == "" || o.Old == o.New:
		return nil, nil
	}
	return busy[0], busy[0].CheckClean(ctx, o.Old, o.New)
}

// follow moves the files of a worktree after its branch. The move is done and
// written down: what fails here is said, and is no refusal.
func follow(ctx context.Context, tree *gitrepo.Occupant, o Order) error {
	if tree == nil {
		return nil
	}
	err := tree.Follow(ctx, o.Old, o.New)
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.WithCause(errors.Join(errAfterMove, f.Cause))
	}
	return err
}
