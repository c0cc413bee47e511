package review

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// TestStandardPrograms runs the commands that the manual prints, as they are.
func TestStandardPrograms(t *testing.T) {
	const manual = `git show refs/evolve/reviews/HEX:statement.json | sha256sum
git show refs/evolve/reviews/HEX:statement.json.sig > SIG
git show refs/evolve/reviews/HEX:statement.json | ssh-keygen -Y verify -f SIGNERS -I WHO -n mcp-review@evolve -s SIG`
	check := func(t *testing.T, h *house, r *Record, signers string) {
		t.Helper()
		fill := strings.NewReplacer("HEX", r.Token.Hex(), "SIGNERS", signers, "WHO", r.Statement.Reviewer(), "SIG", filepath.Join(h.dir(), "sig"))
		var out []string
		for line := range strings.Lines(manual) {
			cmd := exec.Command("sh", "-c", fill.Replace(line))
			cmd.Dir, cmd.Env = h.Dir(), h.Env()
			text, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v: %s", line, err, text)
			}
			out = append(out, string(text))
		}
		if !strings.HasPrefix(out[0], r.Token.Hex()+" ") {
			t.Errorf("sha256sum says %s", out[0])
		}
		if !strings.HasPrefix(out[2], `Good "mcp-review@evolve" signature for `+r.Statement.Reviewer()) {
			t.Errorf("ssh-keygen says %s", out[2])
		}
	}
	t.Run("with the generated key", func(t *testing.T) {
		h := build(t)
		r := h.review(h.move(h.bump("docs", "2")))
		check(t, h, r, filepath.Join(h.repo.CommonDir(), "evolve", "signers"))
	})
	t.Run("with a key of one's own", func(t *testing.T) {
		h := build(t)
		key, public := h.keygen("ada", "-t", "ecdsa")
		file := h.signers(line("ada@example.com", public))
		h.as(key)
		check(t, h, h.review(h.move(h.bump("docs", "2"))), file)
	})
}

// TestRecordsThatAreNot: what stands at a record's ref and is no record.
func TestRecordsThatAreNot(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	name := RecordRefs + r.Token.Hex()
	blob := func(data []byte) string { return h.WriteRawObject("blob", data) }
	tree := func(lines ...string) string { return h.GitInput(strings.Join(lines, "\n")+"\n", "mktree", "--missing") }
	file := func(name, blob string) string { return "100644 blob " + blob + "\t" + name }
	commit := func(tree string, more ...string) string {
		return h.Git(append([]string{"commit-tree", "-m", "evolve review", tree}, more...)...)
	}
	statement, signature := blob(r.data), blob(r.signature)
	altered := blob(bytes.Replace(r.data, []byte("looks good"), []byte("looks fine"), 1))
	whole := tree(file(statementFile, statement), file(signatureFile, signature))
	for problem, object := range map[string]string{
		"a tree":                   whole,
		"a blob":                   statement,
		"another digest":           commit(tree(file(statementFile, altered), file(signatureFile, signature))),
		"another record's":         string(h.forgeElsewhere(r)),
		"no signature":             commit(tree(file(statementFile, statement))),
		"no statement":             commit(tree(file(signatureFile, signature))),
		"an empty tree":            commit(h.GitInput("", "mktree")),
		"a file more":              commit(tree(file("more", statement), file(statementFile, statement), file(signatureFile, signature))),
		"a parent":                 commit(whole, "-p", string(m.New)),
		"a link for its statement": commit(tree("120000 blob "+statement+"\t"+statementFile, file(signatureFile, signature))),
		"a program":                commit(tree("100755 blob "+statement+"\t"+statementFile, file(signatureFile, signature))),
		"a directory":              commit(tree("040000 tree "+whole+"\t"+statementFile, file(signatureFile, signature))),
		"a submodule":              commit(tree("160000 commit "+string(m.New)+"\t"+statementFile, file(signatureFile, signature))),
		"a blob that is not here":  commit(tree(file(statementFile, strings.Repeat("1", 40)), file(signatureFile, signature))),
		"a huge statement":         commit(tree(file(statementFile, blob(make([]byte, maxStatement+1))), file(signatureFile, signature))),
		"a huge signature":         commit(tree(file(statementFile, statement), file(signatureFile, blob(make([]byte, maxSignature+1))))),
	} {
		t.Run(problem, func(t *testing.T) {
			h.Git("update-ref", name, object)
			f := wantCode(t, h.verify(m, r.Token), fault.TokenUnknown)
			if !strings.Contains(f.Hint, name) {
				t.Errorf("the next step is %q", f.Hint)
			}
		})
	}
	// An altered signature is a question of trust: the token says nothing of it.
	h.Git("update-ref", name, commit(tree(file(statementFile, statement), file(signatureFile, blob([]byte("no signature"))))))
	wantCode(t, h.verify(m, r.Token), fault.TokenUntrusted)
	h.Git("update-ref", name, commit(whole))
	if err := h.verify(m, r.Token); err != nil {
		t.Errorf("the same record in another commit: %v", err)
	}
	h.Git("update-ref", "-d", name)
	f := wantCode(t, h.verify(m, r.Token), fault.TokenUnknown)
	if !strings.Contains(f.Hint, "git fetch REMOTE "+name+":"+name) {
		t.Errorf("the next step is %q", f.Hint)
	}
	pushed, err := CheckPushed(h.ctx, h.repo, h.policy(), r.Token, r.Commit, h.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(h.ctx, h.repo, h.policy(), m, []Token{r.Token}, Options{
		Now: h.now, Surface: h.surface, SpentAbsent: func(Token) (bool, error) { return false, nil }, Beside: map[Token]*Record{r.Token: pushed},
	}); err != nil {
		t.Errorf("pushed beside the branch: %v", err)
	}
}

// forgeElsewhere is the commit of another whole record.
func (h *house) forgeElsewhere(r *Record) gitrepo.ID {
	return h.at(RecordRefs + h.forge(r, func(b *statementBody) { b.Predicate.Reason = "another" }).Hex())
}

func TestMintWritesOnce(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	p := h.policy()
	s, err := LoadSigner(h.ctx, h.repo, p)
	if err != nil {
		t.Fatal(err)
	}
	request := MintRequest{Ref: ref, Base: m.Old, Head: m.New, Deltas: m.Deltas, Now: noon.Add(time.Millisecond), Expiry: time.Hour}
	mint := func(change func(*MintRequest)) (*Record, error) {
		r := request
		change(&r)
		return Mint(h.ctx, h.repo, p, s, r)
	}
	zeros := func(r *MintRequest) { r.Rand = bytes.NewReader(make([]byte, saltBytes)) }
	a, err := mint(zeros)
	if err != nil {
		t.Fatal(err)
	}
	b, err := mint(zeros)
	if err != nil || a.Token != b.Token || a.Commit != b.Commit {
		t.Errorf("equal reviews differ: %v", err)
	}
	c, err := mint(func(*MintRequest) {})
	if err != nil || c.Token == a.Token {
		t.Errorf("the salt is not random: %v", err)
	}
	if got := c.Statement.ExpiresAt(); !got.Equal(noon.Add(time.Hour)) {
		t.Errorf("it expires at %s", got)
	}
	if got := h.Git("cat-file", "-p", string(a.Commit)); strings.Contains(got, "parent") || strings.Contains(got, "Grace") {
		t.Errorf("the commit is %s", got)
	}
	if got := h.Git("ls-tree", "--name-only", string(a.Commit)); got != "statement.json\nstatement.json.sig" {
		t.Errorf("it holds %s", got)
	}
	for name, c := range map[string]struct {
		code   fault.Code
		change func(*MintRequest)
	}{
		"no change":              {fault.Internal, func(r *MintRequest) { r.Deltas = nil }},
		"no time":                {fault.Usage, func(r *MintRequest) { r.Expiry = 0 }},
		"too long":               {fault.Usage, func(r *MintRequest) { r.Expiry = p.MaxExpiry + time.Second }},
		"a reason of two lines":  {fault.Usage, func(r *MintRequest) { r.Reason = "a\nb" }},
		"a ref that is no UTF-8": {fault.RefInvalid, func(r *MintRequest) { r.Ref = "refs/heads/\xff" }},
		"a head that is none":    {fault.SurfaceUnreadable, func(r *MintRequest) { r.Head = id1 }},
		"no random bytes":        {fault.Internal, func(r *MintRequest) { r.Rand = bytes.NewReader(nil) }},
	} {
		if _, err := mint(c.change); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Mint(h.ctx, h.repo, p, Signer{}, request); fault.CodeOf(err) != fault.Internal {
		t.Errorf("nobody signs: %v", err)
	}
}

// TestNothingOfAValueInARecord: a record holds digests and names, no content.
func TestNothingOfAValueInARecord(t *testing.T) {
	h := build(t)
	const secret = "hunter2-hunter2-hunter2"
	r := h.review(h.move(h.commit(map[string]string{"agent/mcp/docs.yaml": "command: docs\nenv: {TOKEN: " + secret + "}\n"})))
	if bytes.Contains(r.data, []byte(secret)) {
		t.Error("the statement holds a value")
	}
}

func TestListShowPrune(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	first := h.review(m)
	h.now = noon.Add(time.Hour)
	second := h.review(m)
	expired := h.forge(first, func(b *statementBody) {
		b.Predicate.IssuedAt, b.Predicate.ExpiresAt = stamp(noon.Add(-40*24*time.Hour)), stamp(noon.Add(-39*24*time.Hour))
	})
	broken := Token{digits}
	h.Git("update-ref", RecordRefs+broken.Hex(), string(m.New))
	h.Git("update-ref", RecordRefs+"strange", string(m.New))
	p := h.policy()
	s, err := LoadSigner(h.ctx, h.repo, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := Revoke(h.ctx, h.repo, s, expired, h.now); err != nil {
		t.Fatal(err)
	}
	list, err := List(h.ctx, h.repo, p, h.now)
	if err != nil {
		t.Fatal(err)
	}
	wantList := []struct {
		token Token
		code  fault.Code
	}{{expired, fault.TokenRevoked}, {first.Token, ""}, {second.Token, ""}, {broken, fault.TokenUnknown}}
	if len(list) != len(wantList) {
		t.Fatalf("%d records", len(list))
	}
	for i, e := range list {
		if e.Token != wantList[i].token || fault.CodeOf(e.Err) != wantList[i].code || (e.Record == nil) != (e.Token == broken) {
			t.Errorf("%d: %s %v", i, e.Token.short(), e.Err)
		}
	}
	if e, err := Show(h.ctx, h.repo, p, first.Token, h.now); err != nil || e.Record.Token != first.Token {
		t.Errorf("show: %v", err)
	}
	_, err = Show(h.ctx, h.repo, p, broken, h.now)
	wantCode(t, err, fault.TokenUnknown)

	gone, err := Prune(h.ctx, h.repo, p, h.now, true)
	if err != nil || len(gone) != 1 || gone[0] != expired || h.at(RecordRefs+expired.Hex()) == "" {
		t.Fatalf("dry run: %v, %v", gone, err)
	}
	if gone, err = Prune(h.ctx, h.repo, p, h.now, false); err != nil || len(gone) != 1 {
		t.Fatalf("%v, %v", gone, err)
	}
	if h.at(RecordRefs+expired.Hex()) != "" || h.at(RevocationRefs+expired.Hex()) != "" {
		t.Error("the record or its revocation is still there")
	}
	edge := first.Statement.ExpiresAt().Add(p.MaxExpiry)
	if gone, err = Prune(h.ctx, h.repo, p, edge, false); err != nil || len(gone) != 0 {
		t.Errorf("at the edge: %v, %v", gone, err)
	}
	if gone, err = Prune(h.ctx, h.repo, p, edge.Add(time.Second), false); err != nil || len(gone) != 1 || gone[0] != first.Token {
		t.Errorf("past the edge: %v, %v", gone, err)
	}
}

func TestRevoke(t *testing.T) {
	h := build(t)
	ada, adaPublic := h.keygen("ada")
	bob, bobPublic := h.keygen("bob")
	h.signers(line("ada@example.com", adaPublic), line("bob@example.com", bobPublic))
	h.as(ada)
	m := h.move(h.bump("docs", "2"))
	r, other := h.review(m), h.review(m)
	revoke := func(key string, token Token) error {
		h.as(key)
		p := h.policy()
		s, err := LoadSigner(h.ctx, h.repo, p)
		if err != nil {
			t.Fatal(err)
		}
		return Revoke(h.ctx, h.repo, s, token, h.now)
	}
	wantCode(t, revoke(bob, r.Token), fault.TokenUntrusted)
	wantCode(t, revoke(ada, Token{digits}), fault.TokenUnknown)
	if err := h.verify(m, r.Token); err != nil {
		t.Fatalf("after a revocation that failed: %v", err)
	}
	for range 2 {
		if err := revoke(ada, r.Token); err != nil {
			t.Fatal(err)
		}
	}
	if f := wantCode(t, h.verify(m, r.Token), fault.TokenRevoked); strings.Contains(f.Message, "verify") {
		t.Errorf("a good revocation is doubted: %s", f.Message)
	}
	if err := h.verify(m, other.Token); err != nil {
		t.Errorf("another token: %v", err)
	}
	revocation := h.at(RevocationRefs + r.Token.Hex())
	if err := CheckPushedRevocation(h.ctx, h.repo, r.Token, revocation, nil); err != nil {
		t.Errorf("pushed: %v", err)
	}
	wantCode(t, CheckPushedRevocation(h.ctx, h.repo, other.Token, revocation, nil), fault.TokenUntrusted)
	wantCode(t, CheckPushedRevocation(h.ctx, h.repo, r.Token, r.Commit, nil), fault.TokenUntrusted)
	wantCode(t, CheckPushedRevocation(h.ctx, h.repo, r.Token, m.New, nil), fault.TokenUntrusted)
	wantCode(t, CheckPushedRevocation(h.ctx, h.repo, Token{digits}, revocation, nil), fault.TokenUnknown)
	// One that does not verify counts all the same, and says so.
	h.Git("update-ref", RevocationRefs+other.Token.Hex(), string(revocation))
	if f := wantCode(t, h.verify(m, other.Token), fault.TokenRevoked); !strings.Contains(f.Message, "does not verify") {
		t.Errorf("%s", f.Message)
	}
}

func TestPushedRecords(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	r := h.review(m)
	h.Git("update-ref", "-d", RecordRefs+r.Token.Hex())
	p := h.policy()
	check := func(token Token, commit gitrepo.ID) error {
		_, err := CheckPushed(h.ctx, h.repo, h.policy(), token, commit, h.now)
		return err
	}
	if err := check(r.Token, r.Commit); err != nil {
		t.Error(err)
	}
	wantCode(t, check(Token{digits}, r.Commit), fault.TokenUnknown)
	wantCode(t, check(r.Token, m.New), fault.TokenUnknown)
	if err := CheckTokensUnderLock(h.ctx, h.repo, p, []Token{r.Token}, map[Token]gitrepo.ID{r.Token: r.Commit}, h.now); err != nil {
		t.Error(err)
	}
	wantCode(t, CheckTokensUnderLock(h.ctx, h.repo, p, []Token{r.Token}, nil, h.now), fault.TokenUnknown)
	_, public := h.keygen("nobody")
	h.signers(line("nobody", public))
	wantCode(t, check(r.Token, r.Commit), fault.TokenUntrusted)
}

func TestInterrupted(t *testing.T) {
	h := build(t)
	m := h.move(h.bump("docs", "2"))
	p := h.policy()
	s, err := LoadSigner(h.ctx, h.repo, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	if _, err := Mint(ctx, h.repo, p, s, MintRequest{Ref: ref, Base: m.Old, Head: m.New, Deltas: m.Deltas, Now: noon, Expiry: time.Hour}); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("mint: %v", err)
	}
	if _, err := List(ctx, h.repo, p, noon); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("list: %v", err)
	}
	if _, err := LocalPusher(ctx, h.repo, p); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("pusher: %v", err)
	}
	if refs := h.Git("for-each-ref", RecordRefs); refs != "" {
		t.Errorf("written: %s", refs)
	}
}

// TestFingerprintKey: a private one is made by the first review, and kept.
func TestFingerprintKey(t *testing.T) {
	h := build(t)
	path := filepath.Join(h.repo.CommonDir(), "evolve", fingerprintKeyName)
	if _, err := os.Stat(path); err == nil {
		t.Fatal("it is there before a review")
	}
	h.review(h.move(h.bump("docs", "2")))
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Fatalf("%v, %v", info, err)
	}
	key := read(t, path)
	h.review(h.move(h.bump("docs", "3")))
	if read(t, path) != key {
		t.Error("it was replaced")
	}
	if got, ok := readFingerprintKey(filepath.Dir(path)); !ok || string(got) != key {
		t.Error("it is not used")
	}
	value := func() redact.Shown {
		return Fingerprinter(h.repo.CommonDir()).Value("agent/mcp/docs.yaml", "args", 0, redact.NewRaw("a value"))
	}
	if a, b := value(), value(); a != b {
		t.Error("fingerprints differ from run to run")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if a, b := value(), value(); a == b {
		t.Error("a key that others can read is used")
	}
	if _, ok := readFingerprintKey(filepath.Dir(path)); ok {
		t.Error("it is used although others can read it")
	}
}
