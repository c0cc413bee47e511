package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// IsAncestor reports whether a is an ancestor of b or equal to it.
func (r *Repo) IsAncestor(ctx context.Context, a, b ID) (bool, error) {
	if a == b {
		return true, nil
	}
	out, err := r.run(ctx, command{args: []string{"merge-base", "--is-ancestor", string(a), string(b)}})
	switch {
	case err == nil:
		return true, nil
	case out.status == 1:
		return false, nil
	}
	return false, r.failed(err, "merge-base")
}

// MergeBase returns the one best common ancestor. Codes: revision_unknown if
// there is none or more than one.
func (r *Repo) MergeBase(ctx context.Context, a, b ID) (ID, error) {
	out, err := r.run(ctx, command{args: []string{"merge-base", "--all", string(a), string(b)}})
	if err != nil && out.status != 1 {
		return "", r.failed(err, "merge-base")
	}
	ids := strings.Fields(string(out.stdout))
	if len(ids) != 1 {
		return "", fault.New(fault.RevisionUnknown, "%s and %s have %d merge bases, where one is needed", short(a), short(b), len(ids)).
			WithHint("name the base: evolve diff BASE HEAD")
	}
	return ID(ids[0]), nil
}

// Range lists the commits of base..tip, newest first, at most limit (an error
// beyond it). base "" means the whole history of tip.
func (r *Repo) Range(ctx context.Context, base, tip ID, limit int) ([]ID, error) {
	out, err := r.ask(ctx, append([]string{"rev-list", "--max-count=" + strconv.Itoa(limit+1)}, between(base, tip)...)...)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(out)
	if len(words) > limit {
		return nil, fault.New(fault.Unsupported, "more than %d commits would move at once", limit).
			WithHint("name the token outright: --token TOKEN")
	}
	ids := make([]ID, 0, len(words))
	for _, w := range words {
		ids = append(ids, ID(w))
	}
	return ids, nil
}

func between(base, tip ID) []string {
	if base == "" {
		return []string{string(tip)}
	}
	return []string{string(tip), "^" + string(base)}
}

// Step is a commit and one parent to compare it with ("" for a root commit).
type Step struct{ Parent, Commit ID }

// ChangingSteps lists, oldest first, the steps within base..tip whose trees
// differ at or under one of the literal paths. The steps compared are every
// commit with its first parent, and every commit that descends from base with
// each parent that is base or descends from it, so that any path from base to
// tip that changes one of the paths contains a listed step (comparing with first
// parents alone misses a merge whose first parent is older than base). base ""
// means the whole history of tip.
//
// Codes: repository_unreadable where a shallow clone cuts the history.
func (r *Repo) ChangingSteps(ctx context.Context, base, tip ID, paths []string) ([]Step, error) {
	if base == tip || len(paths) == 0 {
		return nil, nil
	}
	out, err := r.ask(ctx, append([]string{"rev-list", "--topo-order", "--reverse", "--parents"}, between(base, tip)...)...)
	if err != nil {
		return nil, err
	}
	steps, roots := stepsOf(base, out)
	if err := r.checkShallow(ctx, roots); err != nil {
		return nil, err
	}
	return r.differing(ctx, steps, paths)
}

// stepsOf reads the lines "commit parent..." of rev-list, parents first.
func stepsOf(base ID, list string) (steps []Step, roots []ID) {
	descends := map[string]bool{string(base): base != ""}
	for line := range strings.Lines(list) {
		ids := strings.Fields(line)
		if len(ids) == 1 {
			steps = append(steps, Step{Commit: ID(ids[0])})
			roots = append(roots, ID(ids[0]))
			continue
		}
		for i, parent := range ids[1:] {
			if descends[parent] {
				descends[ids[0]] = true
			}
			if i == 0 || descends[parent] {
				steps = append(steps, Step{Parent: ID(parent), Commit: ID(ids[0])})
			}
		}
	}
	return steps, roots
}

// checkShallow refuses a history whose beginning is a shallow clone's edge:
// what lies behind it could hold the change that makes a token used.
func (r *Repo) checkShallow(ctx context.Context, roots []ID) error {
	_, err := os.Stat(filepath.Join(r.commonDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, id := range roots {
		c, err := r.ReadCommit(ctx, id)
		if err != nil {
			return err
		}
		if len(c.Parents) > 0 {
			return fault.New(fault.RepositoryUnreadable, "this shallow clone lacks the history that the gate must read").
				WithHint("git fetch --unshallow")
		}
	}
	return nil
}

// differing keeps the steps whose trees differ under one of the paths.
func (r *Repo) differing(ctx context.Context, steps []Step, paths []string) ([]Step, error) {
	var changed []Step
	for _, s := range steps {
		if s.Parent == "" {
			changed = append(changed, s) // the caller compares the few roots itself
		}
	}
	// With several parents on one line diff-tree makes a combined diff, so each
	// pair has a line of its own; the marker line of a pair that differs is the
	// commit, and pairs of one commit are asked in separate rounds.
	for _, round := range rounds(steps) {
		found, err := r.diffRound(ctx, round, paths)
		if err != nil {
			return nil, err
		}
		changed = append(changed, found...)
	}
	return inOrder(steps, changed), nil
}

// rounds splits the steps so that no commit appears twice in one round.
func rounds(steps []Step) [][]Step {
	var out [][]Step
	times := map[ID]int{}
	for _, s := range steps {
		if s.Parent == "" {
			continue
		}
		n := times[s.Commit]
		times[s.Commit]++
		if n == len(out) {
			out = append(out, nil)
		}
		out[n] = append(out[n], s)
	}
	return out
}

func (r *Repo) diffRound(ctx context.Context, steps []Step, paths []string) ([]Step, error) {
	byCommit := map[string]Step{}
	var input bytes.Buffer
	for _, s := range steps {
		byCommit[string(s.Commit)] = s
		input.WriteString(string(s.Commit) + " " + string(s.Parent) + "\n")
	}
	args := append([]string{"diff-tree", "--stdin", "--no-renames", "--no-ext-diff", "--no-textconv", "--name-only", "--"}, paths...)
	out, err := r.run(ctx, command{args: args, stdin: input.Bytes()})
	if err != nil {
		return nil, r.failed(err, "diff-tree")
	}
	var changed []Step
	for line := range strings.Lines(string(out.stdout)) {
		if s, ok := byCommit[strings.TrimSuffix(line, "\n")]; ok {
			changed = append(changed, s)
		}
	}
	return changed, nil
}

// inOrder returns the changed steps in the order of all steps.
func inOrder(steps, changed []Step) []Step {
	set := map[Step]bool{}
	for _, s := range changed {
		set[s] = true
	}
	var out []Step
	for _, s := range steps {
		if set[s] {
			out = append(out, s)
		}
	}
	return out
}

// CheckedOut lists the worktrees that have ref checked out, or are busy with a
// rebase or bisection of it, as absolute paths.
func (r *Repo) CheckedOut(ctx context.Context, ref string) ([]string, error) {
	trees, err := r.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var busy []string
	for _, t := range trees {
		if t.branch == ref || t.detached && r.operatesOn(t.path, ref) {
			busy = append(busy, t.path)
		}
	}
	return busy, nil
}

// Worktrees lists the absolute paths of all worktrees, without a bare one.
func (r *Repo) Worktrees(ctx context.Context) ([]string, error) {
	trees, err := r.worktrees(ctx)
	var paths []string
	for _, t := range trees {
		paths = append(paths, t.path)
	}
	return paths, err
}

type worktree struct {
	path, branch string
	detached     bool
}

func (r *Repo) worktrees(ctx context.Context) ([]worktree, error) {
	out, err := r.ask(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var trees []worktree
	for block := range strings.SplitSeq(out, "\x00\x00") {
		var t worktree
		bare := false
		for line := range strings.SplitSeq(block, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				t.path = filepath.FromSlash(value)
			case "branch":
				t.branch = value
			case "detached":
				t.detached = true
			case "bare":
				bare = true
			}
		}
		if t.path != "" && !bare {
			trees = append(trees, t)
		}
	}
	return trees, nil
}

// operatesOn reports whether the worktree at path is in the middle of an
// operation that will move ref when it ends.
func (r *Repo) operatesOn(path, ref string) bool {
	dirs := []string{r.commonDir}
	if linked, err := filepath.Glob(filepath.Join(r.commonDir, "worktrees", "*")); err == nil {
		dirs = append(dirs, linked...)
	}
	for _, dir := range dirs {
		if owner, err := os.ReadFile(filepath.Join(dir, "gitdir")); err == nil &&
			filepath.Dir(strings.TrimSpace(string(owner))) != path {
			continue
		}
		for _, f := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
			if name, err := os.ReadFile(filepath.Join(dir, f)); err == nil && strings.TrimSpace(string(name)) == ref {
				return true
			}
		}
		if start, err := os.ReadFile(filepath.Join(dir, "BISECT_START")); err == nil &&
			"refs/heads/"+strings.TrimSpace(string(start)) == ref {
			return true
		}
	}
	return false
}
