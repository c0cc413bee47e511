package promote

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// The oldest Git that has all that is used (git merge-tree --write-tree).
const (
	gitMajor = 2
	gitMinor = 38
)

// examineRepository looks at what Git holds for things that make the gate refuse
// or that make other programs see something else than it does.
func (g *Gate) examineRepository(ctx context.Context) ([]review.Check, error) {
	var out []review.Check
	for _, look := range []func(context.Context) (review.Check, error){
		g.examineVersion, g.examineHistory, g.examineObjects, g.examineReplaced,
	} {
		check, err := look(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, check)
	}
	return out, nil
}

// judged is a check with one bad outcome.
func judged(id string, bad bool, status review.CheckStatus, good, problem, mend string) review.Check {
	if bad {
		return review.Check{ID: id, Status: status, Message: problem, Hint: mend}
	}
	return review.Check{ID: id, Status: review.StatusOK, Message: good}
}

func (g *Gate) examineVersion(ctx context.Context) (review.Check, error) {
	major, minor, err := g.Repo.Version(ctx)
	if err != nil {
		return review.Check{}, err
	}
	said := fmt.Sprintf("Git %d.%d", major, minor)
	return judged("git", major < gitMajor || major == gitMajor && minor < gitMinor, review.StatusProblem,
		said+" has all that is needed", said+" is too old",
		fmt.Sprintf("install Git %d.%d or newer", gitMajor, gitMinor)), nil
}

func (g *Gate) examineHistory(context.Context) (review.Check, error) {
	return judged("history", g.Repo.Shallow(), review.StatusWarning, "the whole history is here",
		"this is a shallow clone: where its history ends, the gate refuses", "git fetch --unshallow"), nil
}

func (g *Gate) examineObjects(ctx context.Context) (review.Check, error) {
	partial, err := g.Repo.Partial(ctx)
	return judged("objects", partial, review.StatusWarning, "this is no partial clone",
		"this is a partial clone: the gate fetches nothing, and refuses where a file is missing",
		"git fetch --refetch --no-filter"), err
}

func (g *Gate) examineReplaced(ctx context.Context) (review.Check, error) {
	refs, err := g.Repo.Refs(ctx, "refs/replace/")
	if err != nil {
		return review.Check{}, err
	}
	if g.Repo.Grafted() {
		return review.Check{
			ID: "replaced", Status: review.StatusWarning,
			Message: "info/grafts gives commits other parents: the gate ignores that, and other programs may not",
			Hint:    "remove the file info/grafts in the Git directory",
		}, nil
	}
	return judged("replaced", len(refs) > 0, review.StatusWarning, "no object is replaced by another",
		fmt.Sprintf("%d object(s) are replaced by others: the gate reads the originals, and other programs do not", len(refs)),
		"git replace --list, then git replace --delete OBJECT"), nil
}

// examineGuards looks at each guarded ref, and at locks that a killed Git left.
func (g *Gate) examineGuards(ctx context.Context, last map[string]Entry) ([]review.Check, error) {
	var out []review.Check
	for _, ref := range g.Policy.Guard {
		value, err := g.Repo.ReadRef(ctx, ref)
		shown := safetext.Terminal(ref)
		if err != nil || value == "" {
			out = append(out, judged("guard", true, review.StatusWarning, "", shown+" is guarded and does not exist",
				"git config --show-origin --get-all evolve.guard; a name is written in full, such as refs/heads/main"))
			continue
		}
		target, err := g.Repo.SymbolicTarget(ctx, ref)
		if err != nil {
			return nil, err
		}
		out = append(out, judged("guard", target != ref, review.StatusWarning, shown+" is guarded",
			shown+" is guarded and stands for "+safetext.Terminal(target),
			"git config --add evolve.guard "+safetext.Terminal(target)))
	}
	names := append(slices.Collect(maps.Keys(last)), g.Policy.Guard...)
	slices.Sort(names)
	for _, ref := range slices.Compact(names) {
		if lock := g.Repo.LockOf(ref); lock != "" {
			out = append(out, judged("lock", true, review.StatusWarning, "", safetext.Terminal(ref)+" is locked: no move can be made",
				"if no git is running, remove "+safetext.Terminal(lock)))
		}
	}
	return out, nil
}

// examineWorktrees finds a worktree whose files did not follow the last move of
// its branch: committing there would undo the move.
func (g *Gate) examineWorktrees(ctx context.Context, last map[string]Entry) ([]review.Check, error) {
	var out []review.Check
	for _, ref := range slices.Sorted(maps.Keys(last)) {
		trees, err := g.Repo.Occupants(ctx, ref)
		if err != nil {
			return nil, err
		}
		for _, tree := range trees {
			if left, err := leftBehind(ctx, tree, last[ref]); err == nil && left {
				out = append(out, judged("worktree", true, review.StatusProblem, "",
					fmt.Sprintf("the files of %s did not follow the last move of %s", safetext.Terminal(tree.Path), safetext.Terminal(ref)),
					fmt.Sprintf("git -C %s read-tree -m -u %s %s", safetext.Terminal(tree.Path), last[ref].Old, last[ref].New)))
			}
		}
	}
	return out, nil
}

// leftBehind reports whether an index is that of before a move, and not that of
// after it. An error means that it cannot be told, such as of a worktree that is
// gone.
func leftBehind(ctx context.Context, tree *gitrepo.Occupant, e Entry) (bool, error) {
	if e.Old == "" {
		return false, nil
	}
	after, err := tree.IndexIs(ctx, e.New)
	if err != nil || after {
		return false, err
	}
	return tree.IndexIs(ctx, e.Old)
}
