package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Occupant is a worktree that has a ref checked out.
type Occupant struct {
	// Path is the top of the worktree.
	Path string

	repo     *Repo
	adminDir string // the Git directory of this worktree
	attached bool   // HEAD names the ref, and no operation holds it instead
}

// Occupants lists the worktrees that have ref checked out, or are busy with a rebase
// or bisection of it.
func (r *Repo) Occupants(ctx context.Context, ref string) ([]*Occupant, error) {
	trees, err := r.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var out []*Occupant
	for _, t := range trees {
		o := &Occupant{Path: t.path, repo: r, adminDir: r.adminDir(t), attached: t.branch == ref}
		if !o.attached && (!t.detached || !operatesOn(o.adminDir, ref)) {
			continue
		}
		if t.main && r.gitDir == r.commonDir && r.workTree != "" {
			o.Path = r.workTree // of a submodule, Git lists the Git directory
		}
		out = append(out, o)
	}
	return out, nil
}

// operations are the files of a Git directory that say that an operation is in
// the middle, with what a person calls it.
var operations = []struct{ file, name string }{
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"sequencer", "a cherry-pick or revert"},
	{"rebase-merge", "a rebase"},
	{"rebase-apply", "a rebase or git am"},
	{"BISECT_START", "a bisection"},
}

// CheckClean refuses unless the files of the worktree can follow its branch from
// one commit to another without losing anything: no operation is in progress, no
// tracked file is edited or may hide an edit, nothing that Git does not track,
// ignored or not, is where a file must go. It writes nothing.
// Codes: worktree_busy.
func (o *Occupant) CheckClean(ctx context.Context, from, to ID) error {
	if err := o.checkPlace(); err != nil {
		return err
	}
	if err := o.checkHidden(ctx); err != nil {
		return err
	}
	if err := o.checkEdits(ctx); err != nil {
		return err
	}
	return o.checkWay(ctx, from, to)
}

func (o *Occupant) busy(format string, args ...any) *fault.Fault {
	return fault.New(fault.WorktreeBusy, "the worktree %s %s", safetext.Terminal(o.Path), fmt.Sprintf(format, args...))
}

// git is a run of git in this worktree.
func (o *Occupant) git(args ...string) command {
	return command{args: args, dir: o.Path, env: []string{"GIT_DIR=" + o.adminDir, "GIT_WORK_TREE=" + o.Path}}
}

func (o *Occupant) ask(ctx context.Context, args ...string) (string, error) {
	out, err := o.repo.run(ctx, o.git(args...))
	if err != nil {
		return "", o.repo.failed(err, args[0])
	}
	return string(out.stdout), nil
}

// checkPlace looks at the directory and for operations in progress.
func (o *Occupant) checkPlace() error {
	if info, err := os.Stat(o.Path); err != nil || !info.IsDir() || o.adminDir == "" || o.adminDir == o.Path {
		return o.busy("is not there, though Git lists it").WithHint("git worktree prune, if it was removed")
	}
	for _, op := range operations {
		if exists(filepath.Join(o.adminDir, op.file)) {
			return o.busy("is in the middle of %s", op.name).WithHint("finish it there, or git status says how to give it up")
		}
	}
	if !o.attached {
		return o.busy("is in the middle of an operation").WithHint("git status there says how to end it")
	}
	if lock := filepath.Join(o.adminDir, "index.lock"); exists(lock) {
		return o.busy("has its index locked by another git").WithHint("if none runs, remove %s", safetext.Terminal(lock))
	}
	return nil
}

// checkHidden refuses files whose edits Git was told not to see. A file that a
// sparse checkout leaves out is no such file as long as it is not there.
func (o *Occupant) checkHidden(ctx context.Context) error {
	out, err := o.ask(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(out, "\x00") {
		flag, name, ok := strings.Cut(line, " ")
		if !ok || flag == "H" || flag == "M" { // M: not merged, which is an edit
			continue
		}
		shown := safetext.Terminal(name)
		if flag != "S" {
			return o.busy("hides edits of %s (assume-unchanged)", shown).
				WithHint("git update-index --no-assume-unchanged %s", shown)
		}
		if exists(filepath.Join(o.Path, filepath.FromSlash(name))) {
			return o.busy("hides edits of %s (skip-worktree)", shown).
				WithHint("git update-index --no-skip-worktree %s", shown)
		}
	}
	return nil
}

// checkEdits asks Git, with the settings off that make it look less closely.
func (o *Occupant) checkEdits(ctx context.Context) error {
	run, err := o.repo.run(ctx, o.git("-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.untrackedCache=false",
		"status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=none", "--no-renames"))
	if err != nil {
		return o.repo.failed(err, "status")
	}
	out := string(run.stdout)
	const lead = len("XY ")
	first, _, _ := strings.Cut(out, "\x00")
	if len(first) <= lead {
		return nil
	}
	return o.busy("has changes that are not committed, %s first", safetext.Terminal(first[lead:])).
		WithHint("git -C %s status; commit them or git stash", safetext.Terminal(o.Path))
}

// rawChange is one line of a raw difference of two trees.
type rawChange struct {
	oldMode, newMode string
	path             string
}

const (
	noMode   = "000000"
	linkMode = "160000"
)

// checkWay looks at each place that the move writes to. Git overwrites what is
// ignored without a word, and cannot move submodules along.
func (o *Occupant) checkWay(ctx context.Context, from, to ID) error {
	out, err := o.ask(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--no-relative", string(from), string(to))
	if err != nil {
		return err
	}
	changes := parseRaw(out)
	was := map[string]bool{}
	for _, c := range changes {
		was[c.path] = c.oldMode != noMode
		if c.oldMode == linkMode || c.newMode == linkMode {
			return o.busy("cannot follow: the submodule %s changes", safetext.Terminal(c.path)).
				WithHint("run git switch --detach there, promote, then git switch and git submodule update")
		}
	}
	for _, c := range changes {
		if c.oldMode != noMode || c.newMode == noMode {
			continue
		}
		if name := o.inTheWay(c.path, was); name != "" {
			return o.busy("has %s, which Git does not track, where the move puts a file", safetext.Terminal(name)).
				WithHint("move it away: git -C %s status --ignored", safetext.Terminal(o.Path))
		}
	}
	return nil
}

// parseRaw reads ":OLD NEW ID ID STATUS" and the path, each ended by a zero byte.
func parseRaw(out string) []rawChange {
	var changes []rawChange
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		const perLine = 5
		if len(words) == perLine {
			changes = append(changes, rawChange{words[0], words[1], fields[i+1]})
		}
	}
	return changes
}

// inTheWay finds what is on disk on the way to a path that the move adds and
// that no tracked file of before accounts for: a file or link where a directory
// must be, or anything at the path itself.
func (o *Occupant) inTheWay(path string, was map[string]bool) string {
	for end := 0; end < len(path); {
		next := strings.IndexByte(path[end:], '/')
		if next < 0 {
			end = len(path)
		} else {
			end += next
		}
		name := path[:end]
		info, err := os.Lstat(filepath.Join(o.Path, filepath.FromSlash(name)))
		switch {
		case err != nil:
			return "" // nothing is here, and so nothing is below
		case was[name]:
			return "" // a tracked file, which makes room
		case end < len(path) && info.IsDir():
			end++ // past the slash
		case info.IsDir():
			return o.leftIn(name, was)
		default:
			return name
		}
	}
	return ""
}

// leftIn finds what would stay in a directory that must become a file: anything
// but the tracked files that the move removes.
func (o *Occupant) leftIn(dir string, was map[string]bool) string {
	entries, err := os.ReadDir(filepath.Join(o.Path, filepath.FromSlash(dir)))
	if err != nil {
		return dir
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		switch {
		case was[name]:
		case e.IsDir():
			if left := o.leftIn(name, was); left != "" {
				return left
			}
		default:
			return name
		}
	}
	return ""
}

// Follow brings index and files of a clean worktree from one commit to another,
// after its branch has moved. It is not cut short by an interrupt, which would
// leave the files halfway. Codes: git_failed, with the command that mends it.
func (o *Occupant) Follow(ctx context.Context, from, to ID) error {
	c := o.git("read-tree", "-m", "-u", "--no-recurse-submodules", string(from), string(to))
	c.user = true
	if _, err := o.repo.run(context.WithoutCancel(ctx), c); err != nil {
		return fault.New(fault.GitFailed, "the branch moved to %s, but the files of the worktree %s could not follow",
			Short(to), safetext.Terminal(o.Path)).
			WithHint("mend what is in the way there, then: git -C %s read-tree -m -u %s %s", safetext.Terminal(o.Path), from, to).
			WithCause(err)
	}
	return nil
}
