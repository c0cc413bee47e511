package gitrepo

import (
	"context"
	"os"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// mergeSettings make a merge follow from the two commits alone, with the
// defaults of Git's documentation.
var mergeSettings = []string{
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "merge.renames=true", "-c", "merge.directoryRenames=conflict", "-c", "merge.renormalize=false",
	"-c", "merge.renameLimit=7000", "-c", "merge.default=text",
}

// textDriver is Git's own merge of lines in the form of a merge driver.
const textDriver = "git merge-file -q --marker-size=%L %A %O %B"

// drivers are settings that put Git's own merge in the place of every configured
// merge driver: the attributes of a branch under review choose among those, and
// must not choose a program to run.
func (r *Repo) drivers(ctx context.Context) ([]string, error) {
	config, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range config.settings {
		if !strings.HasPrefix(s.Key, "merge.") || !strings.HasSuffix(s.Key, ".driver") {
			continue
		}
		if strings.Contains(s.Key, "=") { // git -c would take it for another key
			return nil, fault.New(fault.ConfigInvalid, "a merge driver in Git's configuration has an equals sign in its name").
				WithHint("git config --show-origin --get-regexp '^merge[.].*[.]driver$'")
		}
		out = append(out, "-c", s.Key+"="+textDriver)
	}
	return out, nil
}

// MergeTree merges two commits in the object store and returns the tree; no
// index, worktree or ref is touched, and no configured program runs.
// Codes: git_failed for a conflict, which names a file, and for commits without
// a common history.
func (r *Repo) MergeTree(ctx context.Context, ours, theirs ID) (ID, error) {
	drivers, err := r.drivers(ctx)
	if err != nil {
		return "", err
	}
	args := append(append([]string{}, mergeSettings...), drivers...)
	// The real worktree would lend its attributes, which may be edited; in the
	// Git directory there are none.
	out, err := r.run(ctx, command{
		dir: r.gitDir, env: []string{"GIT_WORK_TREE=" + r.gitDir, "GIT_ATTR_NOSYSTEM=1"},
		args: append(args, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", string(ours), string(theirs)),
	})
	fields := strings.Split(string(out.stdout), "\x00")
	switch {
	case fault.CodeOf(err) == fault.Interrupted:
		return "", err
	case err == nil && r.isID(fields[0]):
		return ID(fields[0]), nil
	case out.status == 1 && len(fields) > 1 && fields[1] != "":
		return "", fault.New(fault.GitFailed, "%s does not merge into %s without a conflict: %s first",
			Short(theirs), Short(ours), safetext.Terminal(fields[1])).
			WithHint("git merge %s on the branch under review, mend the conflict, and review again", Short(ours))
	case out.status == 1:
		return "", fault.New(fault.GitFailed, "%s does not merge into %s without a conflict", Short(theirs), Short(ours)).
			WithHint("git merge %s on the branch under review, mend the conflict, and review again", Short(ours))
	}
	return "", fault.New(fault.GitFailed, "%s cannot be merged into %s: their histories have nothing in common, or objects are missing",
		Short(theirs), Short(ours)).WithHint("git merge-base %s %s; git fsck", Short(ours), Short(theirs)).WithCause(err)
}
