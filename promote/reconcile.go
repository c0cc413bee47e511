package promote

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Reconcile finishes what a crash cut short: a claim whose move was made and is
// in no audit line is written down, and claims that no longer fit anything are
// removed. Claims whose process lives are left to it, so that Reconcile never
// waits. Where refs are named, a claim of another ref that cannot be read is left
// for later: it holds up none of these.
func (g *Gate) Reconcile(ctx context.Context, refs ...string) error {
	names, err := g.claims().names()
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		path := filepath.Join(g.claims().dir, name)
		switch {
		case strings.HasSuffix(name, claimSuffix):
			err = g.reconcileOne(ctx, path, refs)
		case strings.HasSuffix(name, holdSuffix):
			err = g.dropHold(path)
		case strings.HasPrefix(name, tempPrefix):
			g.dropTemporary(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) reconcileOne(ctx context.Context, path string, refs []string) error {
	h, err := g.claims().tryHold(path)
	if h == nil || err != nil {
		return err
	}
	defer h.release()
	c, err := readClaim(path)
	if err != nil {
		return nil //nolint:nilerr // settled meanwhile, or no claim: doctor counts what is left
	}
	made, err := g.wasMade(ctx, c)
	switch {
	case err != nil && ctx.Err() == nil && len(refs) > 0 && !slices.Contains(refs, c.Ref):
		return nil
	case err != nil:
		return err
	case made:
		return g.settle(c, true)
	case g.Now().Before(c.Expires) && !g.Now().Add(claimLife).Before(c.At):
		// The move may still be on its way: a push between its hooks, or the git
		// child of a command that was killed. A claim from the future is a clock
		// that jumped, and is good for nothing.
		return nil
	}
	return g.claims().remove(c.Ref, c.Old, c.New)
}

// wasMade reports whether the move of a claim was made: the ref is there, or its
// reflog says that it was.
func (g *Gate) wasMade(ctx context.Context, c Claim) (bool, error) {
	value, err := g.Repo.ReadRef(ctx, c.Ref)
	if err != nil || value == c.New {
		return err == nil, err
	}
	if value == c.Old || value == "" {
		return false, nil
	}
	return g.Repo.Moved(ctx, c.Ref, c.Old, c.New)
}

// settle writes the audit line of a move and then forgets the claim; in this
// order, so that a crash between the two is seen by Reconcile. A claim whose
// line is there already is only forgotten.
func (g *Gate) settle(c Claim, recovered bool) error {
	write := g.audit().append
	if recovered {
		write = g.audit().appendOnce // perhaps only the claim's removal was cut off
	}
	err := write(Entry{
		At: g.Now().UTC(), Who: c.Who, By: c.By, Ref: c.Ref, Old: c.Old, New: c.New,
		Tokens: c.Tokens, Verdict: VerdictMoved, Reason: c.Reason, Recovered: recovered, Claim: c.ID(),
	})
	if err != nil {
		return fault.New(fault.IOFailed, "%s moved to %s, but the audit log could not be written",
			safetext.Terminal(c.Ref), short(c.New)).
			WithHint("mend the Git directory: the next promotion writes the line").
			WithCause(errors.Join(errAfterMove, err))
	}
	// A claim that cannot be removed is seen to be settled by the next command.
	_ = g.claims().remove(c.Ref, c.Old, c.New)
	return nil
}

// dropHold removes the hold of a process that died, where no claim goes with it.
func (g *Gate) dropHold(path string) error {
	if _, err := os.Lstat(strings.TrimSuffix(path, holdSuffix) + claimSuffix); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	h, err := g.claims().tryHold(path[:len(path)-len(holdSuffix)] + claimSuffix)
	if h != nil {
		h.release()
	}
	return err
}

// dropTemporary removes what a crash left of a write, once no write can still
// be at it. Files have the file system's time, which is none of the gate's.
func (g *Gate) dropTemporary(path string) {
	if info, err := os.Lstat(path); err == nil && g.Now().Sub(info.ModTime()).Abs() > claimLife {
		_ = os.Remove(path)
	}
}
