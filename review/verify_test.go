package review

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// TestTokenOfAMove: a reviewed move is valid, again and again, until it is made.
func TestTokenOfAMove(t *testing.T) {
	for name, options := range map[string][]gittest.Option{"sha1": nil, "sha256": {gittest.SHA256}} {
		t.Run(name, func(t *testing.T) {
			h := build(t, options...)
			m := h.move(h.bump("docs", "2"))
			r := h.review(m)
			if r.Commit == "" || r.Commit != h.at(RecordRefs+r.Token.Hex()) || r.Statement.Reviewer() != "grace@example.com" {
				t.Fatalf("the record: %+v", r)
			}
			got, err := h.verifyAs(Pusher{}, m, r.Token, r.Token)
			if err != nil || len(got) != 1 || got[0].Token != r.Token || got[0].Commit != r.Commit {
				t.Fatalf("%v, %v", got, err)
			}
			if err := CheckUnderLock(h.ctx, h.repo, h.policy(), got, h.now); err != nil {
				t.Error(err)
			}
			if wantCode(t, h.verify(m), fault.TokenMissing).Hint == "" {
				t.Error("no next step")
			}
			wantCode(t, h.verify(m, Token{}), fault.TokenMalformed)
			h.promote(m)
			back := h.commit(map[string]string{"agent/mcp/docs.yaml": docs("1")})
			h.promote(Move{Ref: ref, New: back})
			// The same change again: history knows.
			again := h.move(h.bump("docs", "2"))
			f := wantCode(t, h.verify(again, r.Token), fault.TokenUsed)
			if !strings.Contains(f.Hint, "evolve review "+brief(again.New)+" --ref "+ref) {
				t.Errorf("the next step is %q", f.Hint)
			}
		})
	}
}

// TestTokenSurvives what does not touch what was reviewed.
func TestTokenSurvives(t *testing.T) {
	for name, story := range map[string]func(*house) Move{
		"other files on the ref": func(h *house) Move {
			head := h.at("refs/heads/main")
			on := h.CommitOn([]string{string(h.at(ref))}, merged("1", "1", "README", "2\n"), "elsewhere")
			h.promote(Move{Ref: ref, New: gitrepo.ID(on)})
			return h.merge(on, string(head), merged("2", "1", "README", "2\n"))
		},
		"another reviewed item": func(h *house) Move {
			head := h.at("refs/heads/main")
			on := h.CommitOn([]string{string(h.at(ref))}, merged("1", "2", "README", "1\n"), "search")
			h.promote(Move{Ref: ref, New: gitrepo.ID(on)})
			return h.merge(on, string(head), merged("2", "2", "README", "1\n"))
		},
		"squashing": func(h *house) Move {
			squashed := h.CommitOn([]string{string(h.at(ref))}, merged("2", "1", "README", "9\n"), "squashed")
			return h.move(gitrepo.ID(squashed))
		},
		"later commits": func(h *house) Move { return h.move(h.commit(map[string]string{"README": "3\n"})) },
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			r := h.review(h.move(h.bump("docs", "2")))
			if err := h.verify(story(h), r.Token); err != nil {
				t.Error(err)
			}
		})
	}
}

func merged(docsVersion, searchVersion string, more ...string) map[string]string {
	files := map[string]string{"agent/mcp/docs.yaml": docs(docsVersion), "agent/mcp/search.yaml": docs(searchVersion)}
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

func (h *house) merge(a, b string, files map[string]string) Move {
	return h.move(gitrepo.ID(h.CommitOn([]string{a, b}, files, "merge")))
}

// TestTokenUsedOrStale: what happened to the ref since the review.
func TestTokenUsedOrStale(t *testing.T) {
	for name, c := range map[string]struct {
		code  fault.Code
		story func(*house, Move) Move
	}{
		"the change was made, and undone": {fault.TokenUsed, func(h *house, m Move) Move {
			h.promote(m)
			h.promote(Move{Ref: ref, New: h.bump("docs", "1")})
			return h.move(h.bump("docs", "2"))
		}},
		"made by a merge": {fault.TokenUsed, func(h *house, m Move) Move {
			on := h.CommitOn([]string{string(m.Old)}, merged("1", "1", "README", "2\n"), "elsewhere")
			with := h.CommitOn([]string{on, string(m.New)}, merged("2", "1", "README", "2\n"), "merge")
			undone := h.CommitOn([]string{with}, merged("1", "1", "README", "2\n"), "undo")
			h.promote(Move{Ref: ref, New: gitrepo.ID(undone)})
			return h.move(gitrepo.ID(h.CommitOn([]string{undone}, merged("2", "1", "README", "2\n"), "again")))
		}},
		"another change of the same item": {fault.TokenUsed, func(h *house, m Move) Move {
			other := h.CommitOn([]string{string(m.Old)}, merged("3", "1"), "three")
			h.promote(Move{Ref: ref, New: gitrepo.ID(other)})
			return h.move(gitrepo.ID(h.CommitOn([]string{other}, merged("2", "1"), "two")))
		}},
		"the item went away and came back": {fault.TokenUsed, func(h *house, m Move) Move {
			gone := h.CommitOn([]string{string(m.Old)}, map[string]string{"agent/mcp/search.yaml": docs("1")}, "gone")
			back := h.CommitOn([]string{gone}, merged("1", "1"), "back")
			h.promote(Move{Ref: ref, New: gitrepo.ID(back)})
			return h.move(gitrepo.ID(h.CommitOn([]string{back}, merged("2", "1"), "two")))
		}},
		"the root moved and moved back": {fault.TokenUsed, func(h *house, m Move) Move {
			away := merged("1", "1", "agent.yaml", "slots:\n  mcp: other\n")
			first := h.CommitOn([]string{string(m.Old)}, away, "away")
			back := h.CommitOn([]string{first}, merged("1", "1"), "back")
			h.promote(Move{Ref: ref, New: gitrepo.ID(back)})
			return h.move(gitrepo.ID(h.CommitOn([]string{back}, merged("2", "1"), "two")))
		}},
		"more than the reviewed change": {fault.TokenStale, func(h *house, _ Move) Move { return h.move(h.bump("search", "2")) }},
		"less than it":                  {fault.TokenStale, func(h *house, _ Move) Move { return h.move(h.bump("docs", "1")) }},
		"another content":               {fault.TokenStale, func(h *house, _ Move) Move { return h.move(h.bump("docs", "9")) }},
		"another branch's base": {fault.TokenStale, func(h *house, _ Move) Move {
			stranger := h.CommitOn(nil, merged("1", "1"), "stranger")
			h.promote(Move{Ref: ref, New: gitrepo.ID(stranger)})
			return h.move(gitrepo.ID(h.CommitOn([]string{stranger}, merged("2", "1"), "two")))
		}},
		"the ref is gone": {fault.TokenStale, func(h *house, m Move) Move {
			h.Git("update-ref", "-d", ref)
			return Move{Ref: ref, New: m.New, Deltas: h.deltas("", m.New)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			m := h.move(h.bump("docs", "2"))
			r := h.review(m)
			wantCode(t, h.verify(c.story(h, m), r.Token), c.code)
		})
	}
}

// TestTokenOfANewRef: with an absent base the host's log is asked, not history.
func TestTokenOfANewRef(t *testing.T) {
	h := build(t)
	head := h.bump("docs", "2")
	m := Move{Ref: "refs/heads/new", New: head, Deltas: h.deltas("", head)}
	r := h.review(m)
	if err := h.verify(m, r.Token); err != nil {
		t.Fatal(err)
	}
	if r.Statement.Base() != Absent {
		t.Errorf("the base is %q", r.Statement.Base())
	}
	h.spent[r.Token] = true
	wantCode(t, h.verify(m, r.Token), fault.TokenUsed)
	h.spent[r.Token] = false
	h.Git("update-ref", m.Ref, h.Git("rev-parse", "live"))
	m.Old, m.Deltas = h.at(m.Ref), h.deltas(h.at(m.Ref), head)
	wantCode(t, h.verify(m, r.Token), fault.TokenStale)
}

// TestLaunchedFileIsAnItem: what a server runs is reviewed, and used up, like its
// declaration.
func TestLaunchedFileIsAnItem(t *testing.T) {
	h := build(t)
	server := map[string]string{
		"agent/mcp/docs.yaml": "command: node\nargs: [server/main.js]\n", "server/main.js": "1\n", "server/lib.js": "1\n",
	}
	h.promote(Move{Ref: ref, New: h.commit(server)})
	m := h.move(h.commit(map[string]string{"server/lib.js": "2\n"}))
	r := h.review(m)
	if len(r.Statement.Keys()) == 0 || r.Statement.Keys()[0].Kind != decl.KindLaunched {
		t.Fatalf("the change is %v", r.Statement.Keys())
	}
	if err := h.verify(m, r.Token); err != nil {
		t.Fatal(err)
	}
	h.promote(m)
	h.promote(Move{Ref: ref, New: h.commit(map[string]string{"server/lib.js": "1\n"})})
	wantCode(t, h.verify(h.move(h.commit(map[string]string{"server/lib.js": "2\n"})), r.Token), fault.TokenUsed)
}

// TestRulesInOrder: of two broken rules the first is the answer.
func TestRulesInOrder(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	other := m
	other.Ref = "refs/heads/main"
	steps := []struct {
		code  fault.Code
		mend  func()
		token func() Token
	}{
		{fault.TokenUnknown, nil, func() Token { return Token{digits} }},
		{fault.TokenUntrusted, nil, func() Token { return r.Token }},
	}
	key, public := h.keygen("nobody")
	_ = key
	h.signers(line("nobody@example.com", public))
	h.Git("config", "evolve.repository", "example.org/other")
	h.now = noon.Add(48 * time.Hour)
	for _, s := range steps {
		wantCode(t, h.verify(other, s.token()), s.code)
	}
	h.Git("config", "--unset", "gpg.ssh.allowedSignersFile")
	wantCode(t, h.verify(other, r.Token), fault.TokenWrongRepository)
	h.Git("config", "--unset", "evolve.repository")
	wantCode(t, h.verify(other, r.Token), fault.TokenWrongRef)
	signer, err := LoadSigner(h.ctx, h.repo, h.policy())
	if err != nil {
		t.Fatal(err)
	}
	if err := Revoke(h.ctx, h.repo, signer, r.Token, h.now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, h.verify(m, r.Token), fault.TokenRevoked)
	h.Git("update-ref", "-d", RevocationRefs+r.Token.Hex())
	wantCode(t, h.verify(m, r.Token), fault.TokenExpired)
	h.now = noon.Add(-6 * time.Minute)
	wantCode(t, h.verify(m, r.Token), fault.TokenNotYetValid)
	h.now = noon.Add(-5 * time.Minute)
	if err := h.verify(m, r.Token); err != nil {
		t.Errorf("within the skew: %v", err)
	}
	h.now = noon.Add(24 * time.Hour)
	wantCode(t, h.verify(m, r.Token), fault.TokenExpired)
	h.now = noon.Add(24*time.Hour - time.Second)
	if err := h.verify(m, r.Token); err != nil {
		t.Errorf("in its last second: %v", err)
	}
	h.Git("config", "evolve.maxExpiry", "1h")
	wantCode(t, h.verify(m, r.Token), fault.TokenExpired)
}

// forge signs a changed statement with the key that the repository made.
func (h *house) forge(from *Record, change func(*statementBody)) Token {
	h.t.Helper()
	body := from.Statement.body
	body.Subject = []subject{{Name: body.Subject[0].Name, Digest: maps.Clone(body.Subject[0].Digest)}}
	body.Predicate.Change = slices.Clone(body.Predicate.Change)
	change(&body)
	return h.store(encoded(h.t, body))
}

// store signs bytes and stores them as a record.
func (h *house) store(data []byte) Token {
	h.t.Helper()
	s, err := LoadSigner(h.ctx, h.repo, h.policy())
	if err != nil {
		h.t.Fatal(err)
	}
	signature, err := s.sign(h.ctx, reviewNamespace, data)
	if err != nil {
		h.t.Fatal(err)
	}
	token := tokenOf(data)
	if _, err := writeRecord(h.ctx, h.repo, RecordRefs+token.hex, "evolve review", noon, data, signature); err != nil {
		h.t.Fatal(err)
	}
	return token
}

// TestSignedButWrong: what an allowed reviewer signed is held against the host.
func TestSignedButWrong(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	for name, c := range map[string]struct {
		code   fault.Code
		change func(*statementBody)
	}{
		"other rules":            {fault.TokenRulesMismatch, func(b *statementBody) { b.Predicate.SurfaceRules++ }},
		"another repository":     {fault.TokenWrongRepository, func(b *statementBody) { b.Predicate.Repository = "example.org/other" }},
		"for longer than agreed": {fault.TokenExpired, func(b *statementBody) { b.Predicate.ExpiresAt = stamp(noon.Add(8 * 24 * time.Hour)) }},
		"another reviewer":       {fault.TokenUntrusted, func(b *statementBody) { b.Predicate.Reviewer = "ada@example.com" }},
		"an unknown base":        {fault.TokenStale, func(b *statementBody) { b.Predicate.Base = id1 }},
		"an item more": {fault.TokenStale, func(b *statementBody) {
			b.Predicate.Change = append(b.Predicate.Change, itemLines(b.Predicate.Salt, []decl.Delta{
				{Key: decl.ItemKey{Kind: decl.KindDeclaration, Path: "z"}, After: decl.Digest{1}},
			})...)
		}},
		"another salt":           {fault.TokenStale, func(b *statementBody) { b.Predicate.Salt = strings.Repeat("0", 2*saltBytes) }},
		"a version to come":      {fault.TokenUnknown, func(b *statementBody) { b.Predicate.Version = 2 }},
		"an option for its base": {fault.TokenUnknown, func(b *statementBody) { b.Predicate.Base = "--all" }},
	} {
		t.Run(name, func(t *testing.T) {
			wantCode(t, h.verify(m, h.forge(r, c.change)), c.code)
		})
	}
	wantCode(t, h.verify(m, h.store([]byte(strings.Replace(string(r.data), `"ref": `, `"ref": "refs/heads/main", "ref": `, 1)))), fault.TokenUnknown)
	sha256 := build(t, gittest.SHA256)
	foreign := sha256.review(sha256.move(sha256.bump("docs", "2")))
	wantCode(t, h.verify(m, h.forge(foreign, func(*statementBody) {})), fault.TokenWrongRepository)
}

func TestBindCommit(t *testing.T) {
	h := build(t)
	h.Git("config", "evolve.bind", "commit")
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	if err := h.verify(m, r.Token); err != nil {
		t.Fatal(err)
	}
	amended := h.CommitOn([]string{string(m.Old)}, merged("2", "1", "README", "1\n"), "another message")
	if err := h.verify(h.move(gitrepo.ID(amended)), r.Token); err != nil {
		t.Errorf("the same tree: %v", err)
	}
	wantCode(t, h.verify(h.move(h.commit(map[string]string{"README": "2\n"})), r.Token), fault.TokenStale)
	on := h.CommitOn([]string{string(m.Old)}, merged("1", "1", "README", "1\n"), "empty")
	h.promote(Move{Ref: ref, New: gitrepo.ID(on)})
	wantCode(t, h.verify(h.move(gitrepo.ID(h.CommitOn([]string{on}, merged("2", "1", "README", "1\n"), "rebased"))), r.Token), fault.TokenStale)
}

// TestNonFastForward: where refs may go back, history alone cannot tell, and the
// host's log is asked too.
func TestNonFastForward(t *testing.T) {
	h := build(t)
	h.Git("config", "evolve.bind", "commit")
	h.Git("config", "evolve.allowNonFastForward", "true")
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	if err := h.verify(m, r.Token); err != nil {
		t.Fatal(err)
	}
	h.promote(m, r.Token)
	h.Git("update-ref", ref, string(m.Old))
	wantCode(t, h.verify(m, r.Token), fault.TokenUsed)
}

// TestUnderLock: what changes between the judging and the lock is seen.
func TestUnderLock(t *testing.T) {
	h := build(t)
	key, public := h.keygen("ada")
	file := h.signers(line("ada@example.com", public))
	h.as(key)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	p := h.policy()
	records, err := h.verifyAs(Pusher{}, m, r.Token)
	if err != nil {
		t.Fatal(err)
	}
	again := func(now time.Time) error {
		t.Helper()
		err := CheckUnderLock(h.ctx, h.repo, p, records, now)
		other := CheckTokensUnderLock(h.ctx, h.repo, p, []Token{r.Token}, nil, now)
		if fault.CodeOf(err) != fault.CodeOf(other) || (err == nil) != (other == nil) {
			t.Errorf("the process that judged says %v, another one %v", err, other)
		}
		return err
	}
	if err := again(noon); err != nil {
		t.Fatal(err)
	}
	if err := CheckUnderLock(h.ctx, h.repo, p, nil, noon); err != nil {
		t.Errorf("without records: %v", err)
	}
	if err := CheckTokensUnderLock(h.ctx, h.repo, p, nil, nil, noon); err != nil {
		t.Errorf("without tokens: %v", err)
	}
	wantCode(t, again(noon.Add(24*time.Hour)), fault.TokenExpired)
	write(t, file, "# nobody any more\n")
	wantCode(t, again(noon), fault.TokenUntrusted)
	write(t, file, line("ada@example.com", public)+"\n")
	s, err := LoadSigner(h.ctx, h.repo, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := Revoke(h.ctx, h.repo, s, r.Token, noon); err != nil {
		t.Fatal(err)
	}
	wantCode(t, again(noon), fault.TokenRevoked)
}

func TestVerifyGuards(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	wantCode(t, h.verify(Move{Ref: ref, Old: m.Old, Deltas: m.Deltas}, r.Token), fault.Internal)
	_, err := Verify(h.ctx, h.repo, h.policy(), m, []Token{r.Token}, Options{Now: noon})
	wantCode(t, err, fault.Internal)
	wantCode(t, h.verify(m, make([]Token, maxTokens+1)...), fault.TokenMalformed)
	failure := errors.New("disk")
	_, err = Verify(h.ctx, h.repo, h.policy(), Move{Ref: ref, New: m.New, Deltas: m.Deltas}, []Token{h.forge(r, func(b *statementBody) { b.Predicate.Base = Absent })},
		Options{Now: noon, Surface: h.surface, SpentAbsent: func(Token) (bool, error) { return false, failure }})
	if !errors.Is(err, failure) {
		t.Errorf("a log that cannot be read: %v", err)
	}
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	_, err = Verify(ctx, h.repo, h.policy(), m, []Token{r.Token}, Options{
		Now: noon, Surface: h.surface, SpentAbsent: func(Token) (bool, error) { return false, nil },
	})
	wantCode(t, err, fault.Interrupted)
}
