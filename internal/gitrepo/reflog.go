package gitrepo

import (
	"context"
	"strconv"
	"strings"
)

// maxReflog is how many of a ref's newest reflog entries Moved looks at.
const maxReflog = 1000

// Moved reports whether the ref's reflog holds a move from old ("" for its
// creation) to new among its newest entries. Where there is no reflog, the
// answer is no.
func (r *Repo) Moved(ctx context.Context, ref string, old, new ID) (bool, error) {
	if err := checkRefWord(ref); err != nil {
		return false, err
	}
	out, err := r.run(ctx, command{args: []string{
		"rev-list", "--walk-reflogs", "--max-count=" + strconv.Itoa(maxReflog), "--end-of-options", ref, "--",
	}})
	switch {
	case ctx.Err() != nil:
		return false, interrupted(ctx)
	case out.status > 0:
		return false, nil //nolint:nilerr // no such ref, or entries whose commits are gone
	case err != nil: // killed, or not started: nothing is known
		return false, r.failed(err, "rev-list")
	}
	// Newest first: each line is what the ref was moved to, the next one what
	// it was moved from.
	ids := strings.Fields(string(out.stdout))
	for i, id := range ids {
		switch {
		case ID(id) != new:
		case i+1 < len(ids):
			if ID(ids[i+1]) == old {
				return true, nil
			}
		case old == "" && len(ids) < maxReflog:
			return true, nil
		}
	}
	return false, nil
}
