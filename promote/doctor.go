package promote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// Examination looks at the gate's own files, at the repository, and at whether
// refs stand where they were last moved to. It writes nothing.
func (g *Gate) Examination(ctx context.Context) ([]review.Check, error) {
	repository, err := g.examineRepository(ctx)
	if err != nil {
		return nil, err
	}
	out := append([]review.Check{g.examineAudit(), g.examineClaims()}, repository...)
	last, _, err := g.LastMoves()
	if err != nil {
		return out, nil //nolint:nilerr // examineAudit says so
	}
	for _, look := range []func(context.Context, map[string]Entry) ([]review.Check, error){
		g.examineGuards, g.examineWorktrees, g.examineMoves,
	} {
		checks, err := look(ctx, last)
		if err != nil {
			return nil, err
		}
		out = append(out, checks...)
	}
	return out, nil
}

func (g *Gate) examineAudit() review.Check {
	const id = "audit-log"
	n := 0
	damaged, err := g.audit().each(func(Entry) { n++ })
	switch {
	case err != nil:
		return review.Check{
			ID: id, Status: review.StatusProblem, Message: "the audit log cannot be read",
			Hint: "check the owner and mode of " + safetext.Terminal(g.audit().path),
		}
	case damaged > 0:
		return review.Check{
			ID: id, Status: review.StatusWarning, Message: fmt.Sprintf("the audit log has %d line(s) that were cut short", damaged),
			Hint: "nothing to do: a move whose line was cut short is written down again by the next promotion",
		}
	}
	return review.Check{ID: id, Status: review.StatusOK, Message: fmt.Sprintf("the audit log has %d line(s)", n)}
}

func (g *Gate) examineClaims() review.Check {
	const id = "claims"
	list, err := g.claims().list()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return review.Check{
			ID: id, Status: review.StatusProblem, Message: "the claims cannot be read",
			Hint: "check the owner and mode of the evolve directory in the Git directory",
		}
	}
	expired := 0
	for _, c := range list {
		if g.Now().After(c.Expires) {
			expired++
		}
	}
	if expired > 0 {
		return review.Check{
			ID: id, Status: review.StatusWarning, Message: fmt.Sprintf("%d claim(s) of moves that were cut short are left", expired),
			Hint: "nothing to do: the next promotion settles them",
		}
	}
	return review.Check{ID: id, Status: review.StatusOK, Message: fmt.Sprintf("%d claim(s), none left over", len(list))}
}

// examineMoves compares each ref with the last audited move to it: whoever can
// write the Git directory can move a ref, and this is how it shows.
func (g *Gate) examineMoves(ctx context.Context, last map[string]Entry) ([]review.Check, error) {
	var out []review.Check
	for _, ref := range slices.Sorted(maps.Keys(last)) {
		e := last[ref]
		check := review.Check{
			ID: "ref", Status: review.StatusOK,
			Message: safetext.Terminal(ref) + " stands where it was last promoted to",
		}
		value, err := g.Repo.ReadRef(ctx, ref)
		if err != nil {
			return nil, err
		}
		if value != e.New {
			check.Status = review.StatusProblem
			check.Message = fmt.Sprintf("ref_moved: %s stands at %s, and was last promoted to %s",
				safetext.Terminal(ref), short(gitrepo.ID(name(value))), short(e.New))
			check.Hint = "something moved it past evolve: look at git reflog " + refShort(ref)
		}
		out = append(out, check)
	}
	return out, nil
}
