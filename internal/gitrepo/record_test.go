package gitrepo

import (
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

var recordTime = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func recordFiles(text string) []TreeFile {
	return []TreeFile{{Name: "statement.json", Data: []byte(text)}, {Name: "statement.json.sig", Data: []byte("sig\r\n")}}
}

func TestWriteRecord(t *testing.T) {
	for name, options := range map[string][]gittest.Option{"sha1": nil, "sha256": {gittest.SHA256, gittest.Bare}} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t, options...)
			g.Commit(map[string]string{".gitattributes": "* text eol=crlf\n"}, "one")
			// Nothing of the user's configuration changes what is stored.
			g.Git("config", "core.autocrlf", "true")
			g.Git("config", "i18n.commitEncoding", "latin1")
			g.Git("config", "commit.gpgSign", "true")
			g.Git("config", "core.warnAmbiguousRefs", "true")
			r := open(t, g)
			const ref = "refs/evolve/reviews/aa"
			id, err := r.WriteRecord(t.Context(), ref, "evolve: review", recordTime, recordFiles("{}\r\n"))
			noError(t, err)
			value, err := r.ReadRef(t.Context(), ref)
			noError(t, err)
			equal(t, "the ref", value, id)
			for file, want := range map[string]string{"statement.json": "{}\r\n", "statement.json.sig": "sig\r\n"} {
				data, err := readBlobAt(t.Context(), r, id, file, 100)
				noError(t, err)
				equal(t, file, string(data), want)
			}
			c, err := r.ReadCommit(t.Context(), id)
			noError(t, err)
			equal(t, "parents", len(c.Parents), 0)
			equal(t, "committer", c.Committer, Person{"evolve", "evolve@localhost", recordTime})
			equal(t, "author", c.Author, c.Committer)
			equal(t, "message", c.Message, "evolve: review\n")
			noFsckErrors(t, g)

			again, err := r.WriteRecord(t.Context(), ref, "evolve: review", recordTime, recordFiles("{}\r\n"))
			noError(t, err)
			equal(t, "the same record", again, id)

			before := state(t, g)
			_, err = r.WriteRecord(t.Context(), ref, "evolve: review", recordTime, recordFiles("{\"other\": 1}"))
			wantCode(t, err, fault.RefMoved)
			equal(t, "refs", state(t, g), before)
		})
	}
}

func noFsckErrors(t *testing.T, g *gittest.Repo) {
	t.Helper()
	if out, err := g.Try("", "fsck", "--strict", "--full"); err != nil {
		t.Errorf("git fsck: %s: %v", out, err)
	}
}

func TestWriteRecordIsTheSameForEveryUser(t *testing.T) {
	var ids []ID
	for _, env := range [][]string{
		nil,
		{"GIT_AUTHOR_NAME=Other", "GIT_COMMITTER_EMAIL=o@example.com", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z", "TZ=Asia/Tokyo", "LC_ALL=de_DE.UTF-8"},
	} {
		g := gittest.New(t)
		r := openWith(t, Options{Dir: g.Dir(), Env: g.Env(env...)})
		id, err := r.WriteRecord(t.Context(), "refs/evolve/reviews/aa", "evolve: review", recordTime, recordFiles("{}"))
		noError(t, err)
		ids = append(ids, id)
	}
	equal(t, "the id for another user", ids[1], ids[0])
}

func TestWriteRecordRefusals(t *testing.T) {
	g := gittest.New(t)
	one := g.Commit(map[string]string{"a": "1\n"}, "one")
	g.Git("update-ref", "refs/evolve/reviews/dir/x", one)
	writeFile(t, g.Path(".git/refs/evolve/reviews/held.lock"), "", 0o666)
	r := open(t, g)
	before := state(t, g)
	for ref, code := range map[string]fault.Code{
		"refs/evolve/reviews/dir": fault.IOFailed, "refs/evolve/reviews/dir/x/y": fault.IOFailed,
		"refs/evolve/reviews/held": fault.IOFailed, "refs/evolve/reviews/a b": fault.IOFailed,
		"": fault.RefInvalid, "HEAD": fault.RefInvalid, "refs/evolve/x\x00delete refs/heads/main": fault.RefInvalid,
	} {
		_, err := r.WriteRecord(t.Context(), ref, "s", recordTime, recordFiles("{}"))
		if err == nil {
			t.Errorf("%q was written", ref)
			continue
		}
		wantCode(t, err, code)
		equal(t, "refs after "+ref, state(t, g), before)
	}
}

// A git that deleted a ref and was killed before it said so has deleted it.
func TestDeleteRefOfAKilledGit(t *testing.T) {
	g := gittest.New(t)
	one := ID(g.Commit(map[string]string{"a": "1\n"}, "one"))
	g.Git("update-ref", "refs/heads/topic", string(one))
	writeFile(t, g.Path(".git/hooks/reference-transaction"), "#!/bin/sh\n[ \"$1\" != committed ] || kill -KILL $PPID\n", 0o777)
	noError(t, open(t, g).DeleteRef(t.Context(), "refs/heads/topic", one))
	if _, err := g.Try("", "rev-parse", "--verify", "-q", "refs/heads/topic"); err == nil {
		t.Error("the ref is there")
	}
}

func TestDeleteRef(t *testing.T) {
	for name, prepare := range map[string]func(g *gittest.Repo){
		"loose": func(*gittest.Repo) {}, "packed": func(g *gittest.Repo) { g.Git("pack-refs", "--all") },
	} {
		t.Run(name, func(t *testing.T) {
			g := gittest.New(t)
			one := ID(g.Commit(map[string]string{"a": "1\n"}, "one"))
			two := ID(g.Commit(map[string]string{"a": "2\n"}, "two"))
			const ref = "refs/evolve/reviews/aa"
			g.Git("update-ref", ref, string(one))
			prepare(g)
			r := open(t, g)
			before := state(t, g)
			wantCode(t, r.DeleteRef(t.Context(), ref, two), fault.RefMoved)
			wantCode(t, r.DeleteRef(t.Context(), ref, ""), fault.Internal)
			wantCode(t, r.DeleteRef(t.Context(), ref, ID(strings.Repeat("0", 40))), fault.Internal)
			noError(t, r.DeleteRef(t.Context(), "refs/evolve/reviews/absent", one))
			wantCode(t, r.DeleteRef(t.Context(), "aa", one), fault.RefInvalid)
			equal(t, "refs", state(t, g), before)
			noError(t, r.DeleteRef(t.Context(), ref, one))
			value, err := r.ReadRef(t.Context(), ref)
			noError(t, err)
			equal(t, "the deleted ref", value, "")
			value, err = r.ReadRef(t.Context(), "refs/heads/main")
			noError(t, err)
			equal(t, "main", value, two)
		})
	}
}
