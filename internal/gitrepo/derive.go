package gitrepo

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Derivation is a commit that evolve itself makes out of commits that exist: a
// rollback, or a merge to be reviewed.
type Derivation struct {
	Tree    ID
	Parents []ID
	// Message is a subject, or a subject, an empty line and a body.
	Message string
	// When is the time of author and committer, in whole seconds.
	When time.Time
}

// Derive writes a commit object (no ref). Its author is fixed and nothing of
// the user's configuration goes into it, so an equal derivation has an equal id
// wherever it is made: what one person reviews is what another promotes.
// Codes: io_failed.
func (r *Repo) Derive(ctx context.Context, d Derivation) (ID, error) {
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", "--no-gpg-sign", string(d.Tree)}
	for _, p := range d.Parents {
		args = append(args, "-p", string(p))
	}
	id, err := r.write(ctx, []byte(strings.TrimRight(d.Message, "\n")+"\n"), fixedIdentity(d.When), args...)
	return ID(id), err
}

// fixedIdentity makes the time of a commit the only thing that is not the same
// for everybody.
func fixedIdentity(when time.Time) []string {
	date := fmt.Sprintf("%d +0000", when.Unix())
	return []string{
		"GIT_AUTHOR_NAME=evolve", "GIT_AUTHOR_EMAIL=evolve@localhost", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=evolve", "GIT_COMMITTER_EMAIL=evolve@localhost", "GIT_COMMITTER_DATE=" + date,
	}
}
