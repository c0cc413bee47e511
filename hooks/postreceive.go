package hooks

import (
	"context"
	"os"
	"path/filepath"

	"github.com/evolve-mcp/evolve/promote"
)

// PostReceive writes the audit lines of the moves that a push made, where no
// reference-transaction hook did. Nothing can be refused any more: an error is
// for the host's eyes, and the next push or doctor settles what is left.
func PostReceive(ctx context.Context, in Input) error {
	updates, err := readUpdates(in.Stdin)
	if err != nil {
		return err
	}
	if nothingClaimed(in) {
		return nil
	}
	return inRepo(ctx, in, false, nil, func(h *hook) error {
		names := make([]string, 0, len(updates))
		for i := range updates {
			updates[i].full = inNamespace(getenv(in.Env, "GIT_NAMESPACE"), updates[i].ref)
			names = append(names, updates[i].full)
		}
		states, err := h.repo.RefStates(ctx, names)
		if err != nil {
			return err
		}
		for _, u := range updates {
			target := states[u.full].Target
			if !h.guarded(target) || u.new == "" {
				continue
			}
			if err := h.gate.SettlePushed(target, u.old, u.new); err != nil {
				return err
			}
		}
		return nil
	})
}

// nothingClaimed reports whether the repository surely has no claim to settle, in
// the plain case: Git names its directory, as in every push. Then no process needs
// to be started. It decides nothing but that.
func nothingClaimed(in Input) bool {
	dir := plainGitDir(in)
	return dir != "" && promote.NothingClaimed(dir)
}

// plainGitDir is the Git directory, as Git names it in every push, "" where there
// may be more to it.
func plainGitDir(in Input) string {
	dir := getenv(in.Env, "GIT_DIR")
	if dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(in.Dir, dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); !os.IsNotExist(err) {
		return ""
	}
	return dir
}
