package promote

import (
	"context"
	"fmt"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// PrepareMerge merges theirs into ours and writes the merge commit as an object
// that no ref names. Like a rollback's, it follows from the two commits alone,
// so its id is the same wherever it is made. Where one of the two contains the
// other, that one is the result. Codes: git_failed for a conflict.
func (g *Gate) PrepareMerge(ctx context.Context, ours, theirs gitrepo.ID) (gitrepo.ID, error) {
	for _, pair := range [][2]gitrepo.ID{{ours, theirs}, {theirs, ours}} {
		contained, err := g.Repo.IsAncestor(ctx, pair[0], pair[1])
		if err != nil {
			return "", err
		}
		if contained {
			return pair[1], nil
		}
	}
	tree, err := g.Repo.MergeTree(ctx, ours, theirs)
	if err != nil {
		return "", err
	}
	a, err := g.Repo.ReadCommit(ctx, ours)
	if err != nil {
		return "", err
	}
	b, err := g.Repo.ReadCommit(ctx, theirs)
	if err != nil {
		return "", err
	}
	return g.Repo.Derive(ctx, gitrepo.Derivation{
		Tree: tree, Parents: []gitrepo.ID{ours, theirs}, When: derivedTime(a, b),
		Message: fmt.Sprintf("Merge %s\n\nMade to be reviewed.\n", short(theirs)),
	})
}
