package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// The attributes of a branch choose among the merge drivers that the host has
// configured. A review must not run one.
func TestMergeTreeRunsNoConfiguredDriver(t *testing.T) {
	lines := func(first, last string) string { return first + strings.Repeat("same\n", 9) + last }
	for _, options := range [][]gittest.Option{nil, {gittest.Bare}, {gittest.SHA256}} {
		g := gittest.New(t, options...)
		files := map[string]string{".gitattributes": "* merge=mine\n", "f": lines("one\n", "ten\n")}
		base := g.CommitOn(nil, files, "base")
		files["f"] = lines("uno\n", "ten\n")
		ours := g.CommitOn([]string{base}, files, "ours")
		files["f"] = lines("one\n", "diez\n")
		theirs := g.CommitOn([]string{base}, files, "theirs")
		files["f"] = lines("eins\n", "ten\n")
		against := g.CommitOn([]string{base}, files, "against")
		ran := filepath.Join(t.TempDir(), "ran")
		g.Git("config", "merge.mine.driver", "touch "+ran)

		r := open(t, g)
		tree, err := r.MergeTree(t.Context(), ID(ours), ID(theirs))
		noError(t, err)
		equal(t, "merged", g.Git("cat-file", "blob", string(tree)+":f"), strings.TrimSuffix(lines("uno\n", "diez\n"), "\n"))
		_, err = r.MergeTree(t.Context(), ID(ours), ID(against))
		wantCode(t, err, fault.GitFailed)
		if _, err := os.Stat(ran); err == nil {
			t.Error("the merge driver ran")
		}
		g.Git("config", "merge.a=b.driver", "touch "+ran)
		_, err = r.MergeTree(t.Context(), ID(ours), ID(theirs))
		wantCode(t, err, fault.ConfigInvalid)
	}
}

// Equal derivations have equal ids, whatever the user's configuration says.
func TestDeriveIsTheSameForEverybody(t *testing.T) {
	g := gittest.New(t)
	id := g.Commit(map[string]string{"a": "1\n"}, "one")
	c, err := open(t, g).ReadCommit(t.Context(), ID(id))
	noError(t, err)
	d := Derivation{Tree: c.Tree, Parents: []ID{c.ID}, Message: "Again", When: c.Committer.When}
	first, err := open(t, g).Derive(t.Context(), d)
	noError(t, err)
	g.Git("config", "commit.gpgSign", "true")
	g.Git("config", "i18n.commitEncoding", "ISO-8859-1")
	r := openWith(t, Options{Dir: g.Dir(), Env: g.Env("GIT_AUTHOR_NAME=Other", "GIT_COMMITTER_DATE=2030-01-01T00:00:00Z", "TZ=Asia/Tokyo")})
	again, err := r.Derive(t.Context(), d)
	noError(t, err)
	equal(t, "the id", again, first)
	got, err := r.ReadCommit(t.Context(), again)
	noError(t, err)
	equal(t, "message", got.Message, "Again\n")
	equal(t, "author", got.Author.Email, "evolve@localhost")
	equal(t, "date", got.Committer.When, c.Committer.When)
}
