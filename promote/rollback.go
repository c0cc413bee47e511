package promote

import (
	"context"
	"fmt"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Rollback is a rollback worked out and not made yet.
type Rollback struct {
	Ref string // full name
	// From is the ref's present commit, Target the commit whose tree it is to
	// have again.
	From, Target gitrepo.ID
	// Commit is the commit that the ref moves to: its tree is Target's, its
	// parent is From. It equals From where nothing would change.
	Commit gitrepo.ID
}

// PrepareRollback works out the rollback of ref, which is at from, to the tree
// of target, and writes its commit as an object that no ref names. target "" is
// the commit that the ref was at before its last audited move.
//
// The commit follows from ref, from and target alone (fixed author, the time of
// from), so it can be reviewed before the rollback is made, here or on another
// clone, and is made again with the same id.
//
// Codes: ref_invalid if the ref does not exist; ref_moved if it does not stand
// where it was last promoted to; revision_unknown if there is no earlier commit,
// or target is none; what reading and writing objects can fail with.
func (g *Gate) PrepareRollback(ctx context.Context, ref string, from, target gitrepo.ID) (Rollback, error) {
	r := Rollback{Ref: ref, From: from, Target: target}
	if from == "" {
		return r, fault.New(fault.RefInvalid, "%s does not exist: there is nothing to roll back", safetext.Terminal(ref)).
			WithHint("git branch --all shows what there is")
	}
	var err error
	if target == "" {
		r.Target, err = g.beforeLastMove(ref, from)
	} else {
		err = g.checkEarlier(ctx, r)
	}
	if err != nil {
		return r, err
	}
	r.Commit, err = g.rollbackCommit(ctx, r)
	return r, err
}

// beforeLastMove is the default target. A ref that something else moved since is
// refused: undoing the last audited move would undo that as well, unseen.
func (g *Gate) beforeLastMove(ref string, from gitrepo.ID) (gitrepo.ID, error) {
	moves, _, err := g.LastMoves()
	if err != nil {
		return "", err
	}
	const name = "name the commit: evolve rollback --ref %s --to REV"
	shown := safetext.Terminal(ref)
	last, known := moves[ref]
	switch {
	case !known:
		return "", fault.New(fault.RevisionUnknown, "the audit log of this repository knows no move of %s", shown).WithHint(name, shown)
	case last.New != from:
		return "", fault.New(fault.RefMoved, "%s stands at %s, and its last audited move was to %s", shown, short(from), short(last.New)).
			WithHint(name, shown)
	case last.Old == "":
		return "", fault.New(fault.RevisionUnknown, "the last audited move of %s created it: there is no earlier commit", shown).WithHint(name, shown)
	}
	return last.Old, nil
}

// checkEarlier holds a target that a person named against the ref's history.
func (g *Gate) checkEarlier(ctx context.Context, r Rollback) error {
	earlier, err := g.Repo.IsAncestor(ctx, r.Target, r.From)
	if err != nil || earlier {
		return err
	}
	return fault.New(fault.RevisionUnknown, "%s is no earlier commit of %s", short(r.Target), safetext.Terminal(r.Ref)).
		WithHint("git log %s shows its commits", refShort(r.Ref))
}

func (g *Gate) rollbackCommit(ctx context.Context, r Rollback) (gitrepo.ID, error) {
	target, err := g.Repo.ReadCommit(ctx, r.Target)
	if err != nil {
		return "", err
	}
	from, err := g.Repo.ReadCommit(ctx, r.From)
	if err != nil {
		return "", err
	}
	if target.Tree == from.Tree {
		return r.From, nil
	}
	return g.Repo.Derive(ctx, gitrepo.Derivation{
		Tree: target.Tree, Parents: []gitrepo.ID{r.From}, When: derivedTime(from),
		Message: fmt.Sprintf("Roll back to %s\n\nThe tree is that of commit %s.\n", short(r.Target), r.Target),
	})
}

// derivedTime is the time of a commit made on top of others: the latest of
// theirs, so that it is the same for everybody and never runs backwards.
func derivedTime(parents ...*gitrepo.Commit) time.Time {
	latest := time.Unix(0, 0)
	for _, p := range parents {
		if p.Committer.When.After(latest) {
			latest = p.Committer.When
		}
	}
	return latest
}
