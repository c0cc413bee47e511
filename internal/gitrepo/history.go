package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// IsAncestor reports whether a is an ancestor of b or equal to it.
// Codes: repository_unreadable where the edge of a shallow clone hides the
// answer.
func (r *Repo) IsAncestor(ctx context.Context, a, b ID) (bool, error) {
	if a == b {
		return true, nil
	}
	if _, near := r.nearby(ctx, a, b); near {
		return true, nil
	}
	out, err := r.run(ctx, command{args: []string{"merge-base", "--is-ancestor", string(a), string(b)}})
	switch {
	case err == nil:
		return true, nil
	case out.status == 1:
		return false, r.checkEdge(ctx, a, b)
	}
	if fault.CodeOf(err) != fault.Interrupted { // a may lie behind the edge itself
		if edge := r.checkEdge(ctx, "", b); edge != nil {
			return false, edge
		}
	}
	return false, r.failed(err, "merge-base")
}

// checkEdge makes sure that a no is one: that the history of b which is not a's
// does not end at the edge of a shallow clone.
func (r *Repo) checkEdge(ctx context.Context, a, b ID) error {
	if !exists(filepath.Join(r.commonDir, "shallow")) {
		return nil
	}
	out, err := r.ask(ctx, append([]string{"rev-list", "--max-parents=0"}, between(a, b)...)...)
	if err != nil {
		return err
	}
	var roots []ID
	for _, id := range strings.Fields(out) {
		roots = append(roots, ID(id))
	}
	return r.checkShallow(ctx, roots)
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
		return "", fault.New(fault.RevisionUnknown, "%s and %s have %d merge bases, where one is needed", Short(a), Short(b), len(ids)).
			WithHint("name the base: evolve diff BASE HEAD")
	}
	return ID(ids[0]), nil
}

// Range lists the commits of base..tip, newest first, at most limit (an error
// beyond it). base "" means the whole history of tip.
func (r *Repo) Range(ctx context.Context, base, tip ID, limit int) ([]ID, error) {
	if ids, near := r.nearby(ctx, base, tip); near && len(ids) <= limit {
		return ids, nil
	}
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
	changed := map[Step]bool{}
	for _, s := range steps {
		if s.Parent == "" {
			changed[s] = true // the caller compares the few roots itself
		}
	}
	// With several parents on one line diff-tree makes a combined diff, so each
	// pair has a line of its own; the marker line of a pair that differs is the
	// commit, and pairs of one commit are asked in separate rounds.
	for _, round := range rounds(steps) {
		for _, batch := range batches(paths) {
			if err := r.diffRound(ctx, round, batch, changed); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(steps, func(s Step) bool { return !changed[s] }), nil
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

// batches splits paths so that each batch fits on a command line. A path of ""
// is the whole tree, and makes the rest needless.
func batches(paths []string) [][]string {
	if slices.Contains(paths, "") {
		return [][]string{nil}
	}
	const most = 64 << 10 // bytes; Linux allows 128 KiB for one argument, 2 MiB in all
	var out [][]string
	size := most
	for _, p := range paths {
		if size += len(p) + 1; size > most {
			out, size = append(out, nil), len(p)+1
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

// diffRound marks the steps that differ under paths.
func (r *Repo) diffRound(ctx context.Context, steps []Step, paths []string, changed map[Step]bool) error {
	byCommit := map[string]Step{}
	var input bytes.Buffer
	for _, s := range steps {
		byCommit[string(s.Commit)] = s
		input.WriteString(string(s.Commit) + " " + string(s.Parent) + "\n")
	}
	// Lines of differences begin with a colon, so that no file name is taken for
	// the line of a commit.
	args := append([]string{"diff-tree", "--stdin", "-r", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--no-relative", "--no-color", "--"}, paths...)
	out, err := r.run(ctx, command{args: args, stdin: input.Bytes()})
	if err != nil {
		return r.failed(err, "diff-tree")
	}
	for line := range strings.Lines(string(out.stdout)) {
		if s, ok := byCommit[strings.TrimSuffix(line, "\n")]; ok {
			changed[s] = true
		}
	}
	return nil
}
