package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// What a push can do, row by row. Each row is a push with real Git from a clone
// to a bare repository whose hooks are evolve's.
func TestWhatAPushCanDo(t *testing.T) {
	for _, row := range pushRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.run(newSite(t))
		})
	}
}

var pushRows = []struct {
	name string
	run  func(*site)
}{
	// An alias that is a symbolic ref moves another branch: the hook sees only the
	// alias, reference-transaction lists the target.
	{"alias symref", func(s *site) {
		s.server.Git("symbolic-ref", "refs/heads/alias", mainRef)
		head := s.change("1.1.0")
		s.refused("token_missing", "HEAD:alias")
		token := s.review(mainRef, s.base, head)
		s.accepted("--atomic", "HEAD:alias", record(token))
		s.at(mainRef, head)
		s.reaped()
	}},
	// ... and one whose target does not exist would create it.
	{"alias to an absent ref", func(s *site) {
		s.server.Git("config", "--add", "evolve.guard", "refs/heads/live")
		s.server.Git("symbolic-ref", "refs/heads/alias", "refs/heads/live")
		s.refused("token_missing", "HEAD:alias")
		s.at("refs/heads/live", "")
	}},
	// The same branch twice in one push, once by an alias.
	{"alias beside its target", func(s *site) {
		s.server.Git("symbolic-ref", "refs/heads/alias", mainRef)
		s.note("two")
		s.refused("ref_protected", "HEAD:main", "HEAD:alias")
	}},
	{"create", func(s *site) {
		s.server.Git("config", "--add", "evolve.guard", "refs/heads/live")
		s.refused("token_missing", "HEAD:refs/heads/live")
		token := s.review("refs/heads/live", "", s.base)
		s.accepted("--atomic", "HEAD:refs/heads/live", record(token))
		s.at("refs/heads/live", s.base)
		s.reaped()
	}},
	// A new name for content that nobody reviewed (go-gitea/gitea 33370, 36381):
	// branches that nobody guards are nobody's business, their later arrival at a
	// guarded name is.
	{"new branch, then renamed", func(s *site) {
		s.change("1.1.0")
		s.accepted("HEAD:refs/heads/topic")
		if _, err := s.server.Try("", "branch", "-M", "topic", "main"); err == nil {
			s.t.Error("a branch could be renamed over the guarded one")
		}
		s.at(mainRef, s.base)
	}},
	{"delete, loose", func(s *site) { s.refused("ref_protected", ":main") }},
	{"delete, packed", func(s *site) {
		s.server.Git("pack-refs", "--all")
		s.refused("ref_protected", ":main")
	}},
	{"delete, packed and loose", func(s *site) {
		s.server.Git("pack-refs", "--all")
		s.note("two")
		s.accepted("HEAD:main")
		s.refused("ref_protected", ":main")
	}},
	{"force push", func(s *site) {
		s.clone.Git("commit", "-q", "--amend", "-m", "another one")
		s.refused("not_fast_forward", "--force", "HEAD:main")
	}},
	// An annotated tag, and a tag of a tag: peeled for the judging. Git itself then
	// keeps tag objects out of refs/heads/.
	{"annotated and nested tags onto a branch", func(s *site) {
		s.change("1.1.0")
		s.clone.Git("tag", "-a", "v1", "-m", "v1")
		s.clone.Git("tag", "-a", "v2", "-m", "v2", "v1")
		s.refused("token_missing", "v1:main")
		s.refused("token_missing", "v2:main")
	}},
	{"nested tag on a guarded tag", func(s *site) {
		s.server.Git("config", "--add", "evolve.guard", "refs/tags/live")
		s.clone.Git("tag", "-a", "v1", "-m", "v1")
		s.clone.Git("tag", "-a", "live", "-m", "live", "v1")
		s.refused("token_missing", "refs/tags/live")
		token := s.review("refs/tags/live", "", s.base)
		s.accepted("--atomic", "refs/tags/live", record(token))
		s.at("refs/tags/live", s.clone.Git("rev-parse", "refs/tags/live"))
		s.reaped()
	}},
	{"a tag on something that is no commit", func(s *site) {
		s.server.Git("config", "--add", "evolve.guard", "refs/tags/live")
		s.refused("revision_unknown", "HEAD^{tree}:refs/tags/live")
	}},
	// Several refs: one refusal refuses the whole push, with and without --atomic.
	{"several refs", func(s *site) {
		s.change("1.1.0")
		s.refused("token_missing", "HEAD:refs/heads/topic", "HEAD:main")
		s.refused("token_missing", "--atomic", "HEAD:refs/heads/topic", "HEAD:main")
	}},
	// Without --atomic a push can half succeed: another check of Git's refuses a ref
	// after pre-receive passed. The token is not used up by that.
	{"half succeeds", func(s *site) {
		s.server.Git("config", "receive.denyDeletes", "true")
		head := s.change("1.1.0")
		s.accepted("HEAD:refs/heads/topic")
		token := s.review(mainRef, s.base, head)
		if _, err := s.push("--atomic", "HEAD:main", record(token), ":topic"); err == nil {
			s.t.Error("the delete went through")
		}
		s.at(mainRef, s.base)
		s.accepted("--atomic", "HEAD:main", record(token))
		s.at(mainRef, head)
	}},
	// Two guarded refs in one push, each with its record.
	{"two guarded refs", func(s *site) {
		s.server.Git("config", "--add", "evolve.guard", "refs/heads/live")
		head := s.change("1.1.0")
		one, two := s.review(mainRef, s.base, head), s.review("refs/heads/live", "", head)
		s.refused("token_wrong_ref", "--atomic", "HEAD:main", "HEAD:refs/heads/live", record(one))
		s.accepted("--atomic", "HEAD:main", "HEAD:refs/heads/live", record(one), record(two))
		s.at(mainRef, head)
		s.at("refs/heads/live", head)
		s.reaped()
	}},
	{"a branch named HEAD", func(s *site) {
		s.change("1.1.0")
		s.accepted("HEAD:refs/heads/HEAD")
		s.at(mainRef, s.base)
		s.refused("token_missing", "HEAD:main")
	}},
	// Replace refs change what cat-file serves (gittuf/gittuf 133).
	{"replace refs", func(s *site) {
		head := s.change("1.1.0")
		s.clone.Git("replace", head, s.base)
		s.refused("ref_protected", "refs/replace/*:refs/replace/*")
		s.server.Git("fetch", "-q", s.clone.Dir(), "refs/replace/*:refs/replace/*", "HEAD") // the host's own
		s.clone.Git("replace", "-d", head)
		s.refused("token_missing", "HEAD:main")
	}},
	// Everything else of evolve's own names, in any letter case.
	{"names of evolve's own", func(s *site) {
		for _, name := range []string{"refs/evolve/x", "refs/evolve/claims/x", "refs/Evolve/x", "refs/evolve/reviews/abc", "refs/evolve/revoked/abc", "refs/Replace/x"} {
			s.refused("ref_protected", "HEAD:"+name)
		}
	}},
	// Records are created, never changed and never deleted, and must verify.
	{"records", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.accepted(record(token))
		s.refused("ref_protected", ":"+record(token))
		s.refused("ref_protected", "--force", "HEAD:"+record(token))
		s.refused("token_unknown", "HEAD:refs/evolve/reviews/"+strings.Repeat("ab", 32))
		s.accepted("--push-option="+token.String(), "HEAD:main")
		s.at(mainRef, head)
	}},
	// Duplicate entries in a tree: read one way by rev:path and another by a
	// checkout, where fsckObjects is off.
	{"duplicate tree entries", func(s *site) {
		blob := s.clone.GitInput(docs("9.9.9"), "hash-object", "-w", "--stdin")
		id := s.clone.Git("rev-parse", "HEAD:agent")
		raw := func(hex string) string {
			var b []byte
			for i := 0; i < len(hex); i += 2 {
				var c byte
				_, _ = fmt.Sscanf(hex[i:i+2], "%02x", &c)
				b = append(b, c)
			}
			return string(b)
		}
		inner := s.clone.WriteRawObject("tree", []byte("100644 docs.yaml\x00"+raw(blob)))
		agent := s.clone.WriteRawObject("tree", []byte("40000 mcp\x00"+raw(inner)))
		top := s.clone.WriteRawObject("tree", []byte("40000 agent\x00"+raw(id)+"40000 agent\x00"+raw(agent)))
		commit := s.clone.Git("commit-tree", top, "-p", s.base, "-m", "two agents")
		s.refused("surface_unreadable", commit+":main")
	}},
	{"agent becomes a symlink", func(s *site) {
		head := s.clone.CommitOn([]string{s.base}, map[string]string{
			"agent/mcp/docs.yaml": gittest.Removed, "other/mcp/docs.yaml": docs("1.0.0"),
		}, "moved")
		blob := s.clone.GitInput("other", "hash-object", "-w", "--stdin")
		tree := s.clone.GitInput(s.clone.Git("ls-tree", head)+"\n120000 blob "+blob+"\tagent\n", "mktree")
		link := s.clone.Git("commit-tree", tree, "-p", head, "-m", "link")
		out, err := s.push(link + ":main")
		if err == nil {
			s.t.Errorf("agent could become a symbolic link:\n%s", out)
		}
		s.at(mainRef, s.base)
	}},
	// Agent/MCP escapes a pathspec, and is agent/mcp on a disk that folds case.
	{"case variants", func(s *site) {
		s.clone.Commit(map[string]string{"Agent/MCP/evil.yaml": docs("1.0.0")}, "case")
		if out, err := s.push("HEAD:main"); err == nil {
			s.t.Errorf("a case variant went through:\n%s", out)
		}
		s.at(mainRef, s.base)
	}},
	{"one file and 300 files", func(s *site) {
		head := s.note("two")
		s.accepted("HEAD:main")
		files := map[string]string{}
		for i := range 300 {
			files[fmt.Sprintf("data/%03d.txt", i)] = fmt.Sprint(i)
		}
		files["agent/mcp/docs.yaml"] = docs("1.1.0")
		next := s.clone.Commit(files, "three hundred") // beyond receive.unpackLimit: a kept pack
		s.refused("token_missing", "HEAD:main")
		token := s.review(mainRef, head, next)
		s.accepted("--atomic", "HEAD:main", record(token))
		s.at(mainRef, next)
	}},
	// The object directory of a push (git-lfs/git-lfs 4685), as a kept pack.
	{"receive.unpackLimit=1", func(s *site) {
		s.server.Git("config", "receive.unpackLimit", "1")
		head := s.change("1.1.0")
		s.refused("token_missing", "HEAD:main")
		token := s.review(mainRef, s.base, head)
		s.accepted("--atomic", "HEAD:main", record(token))
		s.at(mainRef, head)
	}},
	// What a receive-pack that was killed leaves behind.
	{"stale incoming directories", func(s *site) {
		for _, name := range []string{"tmp_objdir-incoming-aaaaaa", "tmp_objdir-incoming-zzzzzz"} {
			noError(s.t, os.MkdirAll(s.server.Path("objects/"+name+"/pack"), 0o755))
		}
		head := s.change("1.1.0")
		s.refused("token_missing", "HEAD:main")
		token := s.review(mainRef, s.base, head)
		s.accepted("--atomic", "HEAD:main", record(token))
		s.at(mainRef, head)
	}},
	{"shallow clone pushes", func(s *site) {
		s.note("two")
		s.accepted("HEAD:main")
		shallow := gittest.New(s.t)
		shallow.Git("remote", "add", "origin", "file://"+s.server.Dir())
		shallow.Git("fetch", "-q", "--depth=1", "origin", "main")
		shallow.Git("reset", "-q", "--hard", "FETCH_HEAD")
		before := s.server.Git("rev-parse", mainRef)
		shallow.Commit(map[string]string{"agent/mcp/docs.yaml": docs("1.1.0")}, "shallow")
		if out, err := pushFrom(shallow, "file://"+s.server.Dir(), "HEAD:main"); err == nil || !strings.Contains(out, "token_missing") {
			s.t.Errorf("%v\n%s", err, out)
		}
		s.at(mainRef, before)
		next := shallow.CommitOn([]string{before}, map[string]string{"README": "shallow\n", "agent/mcp/docs.yaml": docs("1.0.0")}, "shallow note")
		if out, err := pushFrom(shallow, "file://"+s.server.Dir(), next+":main"); err != nil {
			s.t.Errorf("%v\n%s", err, out)
		}
		s.at(mainRef, next)
	}},
	// Push options: absent, empty, 60 kB, with escapes; never repeated.
	{"push options", func(s *site) {
		head := s.change("1.1.0")
		s.refused("token_missing", "HEAD:main")
		out := s.refused("token_missing", "--push-option=", "--push-option="+strings.Repeat("A", 60_000), "--push-option=\x1b[2J\x07token=x", "HEAD:main")
		if strings.Contains(out, "AAAA") || strings.Contains(out, "\x1b[2J") {
			s.t.Error("a push option is repeated")
		}
		token := s.review(mainRef, s.base, head)
		s.refused("token_unknown", "--push-option=token="+token.String(), "HEAD:main")
		s.accepted(record(token))
		s.accepted("--push-option=other", "--push-option=token="+token.String(), "HEAD:main")
		s.at(mainRef, head)
	}},
	{"a trailer names the token", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.clone.Git("commit", "-q", "--allow-empty", "-m", "Release", "-m", "MCP-Review: "+token.String())
		s.refused("token_unknown", "HEAD:main")
		s.accepted(record(token))
		s.accepted("HEAD:main")
	}},
	// A plan that is reusable where there was no prior state (hashicorp/terraform
	// 24078), and applying what was not reviewed (runatlantis/atlantis 1122, 6451).
	{"another change rides along", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.clone.Commit(map[string]string{"agent/mcp/web.yaml": docs("6.6.6")}, "and another")
		s.refused("token_stale", "--atomic", "HEAD:main", record(token))
		s.accepted(record(token))
		s.accepted("--push-option=token="+token.String(), head+":main")
	}},
	// Approval that survives a rebase (GitLab 560286): it does where the change is
	// the same, and the pusher is still not the reviewer where that is asked.
	{"rebased by its own reviewer", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.server.Git("config", "evolve.forbidSelfReview", "true")
		s.server.Git("config", "evolve.pusherVariable", "TEST_PUSHER")
		s.clone.Git("commit", "-q", "--amend", "-m", "rebased")
		s.refused("self_review", "--atomic", "HEAD:main", record(token)) // nobody is proved
	}},
	{"an expired token", func(s *site) {
		head := s.change("1.1.0")
		s.server.Git("config", "evolve.maxExpiry", "1h")
		token := s.reviewIn(s.clone, mainRef, s.base, head, 3*time.Hour)
		s.refused("token_expired", "--atomic", "HEAD:main", record(token))
	}},
	{"a revoked token", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.accepted(record(token))
		s.revoke(token)
		s.accepted("refs/evolve/revoked/" + token.Hex())
		s.refused("token_revoked", "--push-option="+token.String(), "HEAD:main")
		s.refused("ref_protected", ":refs/evolve/revoked/"+token.Hex())
	}},
	// A trailer names a token no better than an option does: what the push itself
	// takes back carries none of its moves.
	{"a trailer's token and its revocation", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.accepted(record(token))
		s.clone.Git("commit", "-q", "--allow-empty", "-m", "Release", "-m", "MCP-Review: "+token.String())
		s.revoke(token)
		s.refused("token_missing", "HEAD:main", "refs/evolve/revoked/"+token.Hex())
	}},
	// What a reviewer took back before its record ever left the clone.
	{"a record and its revocation", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.revoke(token)
		revoked := "refs/evolve/revoked/" + token.Hex()
		s.refused("token_missing", "--atomic", "HEAD:main", record(token), revoked)
		s.refused("token_untrusted", record(token), head+":"+revoked)
		s.accepted("refs/evolve/*:refs/evolve/*")
		s.at(revoked, s.clone.Git("rev-parse", revoked))
		s.refused("token_revoked", "--push-option="+token.String(), "HEAD:main")
		s.at(mainRef, s.base)
	}},
	{"a revocation in the same push", func(s *site) {
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.accepted(record(token))
		s.revoke(token)
		s.refused("token_missing", "--push-option="+token.String(), "HEAD:main", "refs/evolve/revoked/"+token.Hex())
	}},
	{"two reviewers", func(s *site) {
		s.server.Git("config", "evolve.requiredReviews", "2")
		head := s.change("1.1.0")
		token := s.review(mainRef, s.base, head)
		s.refused("reviews_insufficient", "--atomic", "HEAD:main", record(token))
	}},
	{"a reviewer that the server does not know", func(s *site) {
		head := s.change("1.1.0")
		noError(s.t, os.WriteFile(filepath.Join(filepath.Dir(s.server.Dir()), "signers"), []byte("# nobody\n"), 0o644))
		token := s.review(mainRef, s.base, head)
		s.refused("token_untrusted", "--atomic", "HEAD:main", record(token))
	}},
	// Git fails inside the hook, and that is no yes (gitleaks 1981).
	{"broken configuration refuses", func(s *site) {
		s.note("two")
		s.server.Git("config", "evolve.maxExpiry", "soon")
		s.refused("config_invalid", "HEAD:main")
	}},
	// Workflow commands and escapes in what a push brings are never printed
	// (google/osv-scanner 2749).
	{"escapes in names and contents", func(s *site) {
		s.clone.Commit(map[string]string{"agent/mcp/docs.yaml": "command: \"\x1b[31m\"\n# ::error::x\n"}, "::set-output name=x::y")
		out, err := s.push("HEAD:main")
		if err == nil || strings.Contains(out, "\x1b[31m") || strings.Contains(out, "::error") {
			s.t.Errorf("%v\n%q", err, out)
		}
	}},
}
