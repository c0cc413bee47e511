package review

import (
	"context"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// The refs of records and of revocations, each followed by a token's digits.
const (
	RecordRefs     = "refs/evolve/reviews/"
	RevocationRefs = "refs/evolve/revoked/"
)

// The two files of a record.
const (
	statementFile = "statement.json"
	signatureFile = "statement.json.sig"
)

// maxSignature bounds an armored signature in bytes; one of the largest RSA key
// has under 6 KiB.
const maxSignature = 64 << 10

// Record is one review: its token, the commit that holds it, what was signed.
type Record struct {
	Token     Token
	Commit    gitrepo.ID
	Statement *Statement

	data, signature []byte
	key             ssh.PublicKey // set once verified
	// revocation is what revoked the record when it was loaded, known if
	// revocationRead; it is asked again under a ref's lock.
	revocation     gitrepo.ID
	revocationRead bool
}

// writeRecord stores a statement and its signature under a ref, once.
func writeRecord(ctx context.Context, repo *gitrepo.Repo, ref, subject string, at time.Time, data, signature []byte) (gitrepo.ID, error) {
	return repo.WriteRecord(ctx, ref, subject, at, []gitrepo.TreeFile{
		{Name: statementFile, Data: data}, {Name: signatureFile, Data: signature},
	})
}

// readFiles reads the two files of a record's commit. problem says what is wrong
// with it. Nothing beside them is accepted: whoever fetches a record gets all
// that hangs on its commit.
func readFiles(ctx context.Context, repo *gitrepo.Repo, commit gitrepo.ID) (data, signature []byte, problem string) {
	c, err := repo.ReadCommit(ctx, commit)
	if err != nil {
		return nil, nil, "is no commit that can be read"
	}
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return nil, nil, "has no tree that can be read"
	}
	entries, err := tree.List(ctx, "")
	if err != nil {
		return nil, nil, "has no tree that can be read"
	}
	regular := func(e decl.Entry, name string) bool { return e.Name == name && e.Mode == decl.ModeRegular }
	if len(c.Parents) > 0 || len(entries) != 2 || !regular(entries[0], statementFile) || !regular(entries[1], signatureFile) {
		return nil, nil, "holds something else than a statement and its signature"
	}
	if data, err = tree.Read(ctx, "", entries[0], maxStatement); err != nil {
		return nil, nil, "holds no statement that can be read"
	}
	if signature, err = tree.Read(ctx, "", entries[1], maxSignature); err != nil {
		return nil, nil, "holds no signature that can be read"
	}
	return data, signature, ""
}

// load finds the record of a token. beside are records that come with a push and
// are no refs yet. Codes: token_malformed for the zero Token, token_unknown.
func load(ctx context.Context, repo *gitrepo.Repo, t Token, beside map[Token]gitrepo.ID) (*Record, error) {
	if t == (Token{}) {
		return nil, malformed(oddity("", false, ""))
	}
	commit, pushed := beside[t]
	ask := placesOf(repo, RevocationRefs+t.hex)
	if !pushed {
		ask = append(ask, placesOf(repo, RecordRefs+t.hex)...)
	}
	refs, err := repo.ReadRefs(ctx, ask...)
	if err != nil {
		return nil, err
	}
	if !pushed {
		commit = present(refs, placesOf(repo, RecordRefs+t.hex))
	}
	if commit == "" {
		return nil, fault.New(fault.TokenUnknown, "there is no record of %s in this repository", t.short()).
			WithHint("fetch it from where the review was made: git fetch REMOTE %[1]s:%[1]s", RecordRefs+t.hex)
	}
	r, problem := readRecord(ctx, repo, t, commit)
	if ctx.Err() != nil {
		return nil, interrupted(ctx)
	}
	if problem != "" {
		return nil, fault.New(fault.TokenUnknown, "the record of %s %s", t.short(), problem).
			WithHint("remove it, git update-ref -d %[1]s, and fetch it again: git fetch REMOTE %[1]s:%[1]s", RecordRefs+t.hex)
	}
	r.revocation, r.revocationRead = present(refs, placesOf(repo, RevocationRefs+t.hex)), true
	return r, nil
}

// placesOf are the refs that a record's or revocation's name stands for: its own,
// and that of the namespace which a push serves.
func placesOf(repo *gitrepo.Repo, ref string) []string {
	if repo.Namespace() == "" {
		return []string{ref}
	}
	return []string{ref, repo.Namespace() + ref}
}

// present is the first of some refs that has a value, "" if none has.
func present(refs map[string]gitrepo.ID, names []string) gitrepo.ID {
	for _, name := range names {
		if refs[name] != "" {
			return refs[name]
		}
	}
	return ""
}

func readRecord(ctx context.Context, repo *gitrepo.Repo, t Token, commit gitrepo.ID) (*Record, string) {
	data, signature, problem := readFiles(ctx, repo, commit)
	if problem != "" {
		return nil, problem
	}
	if tokenOf(data) != t {
		return nil, "was altered: its statement has another digest"
	}
	statement, err := decodeStatement(data)
	if err != nil {
		return nil, "holds a statement in a form that this evolve does not write"
	}
	return &Record{Token: t, Commit: commit, Statement: statement, data: data, signature: signature}, ""
}

func interrupted(ctx context.Context) error {
	return fault.New(fault.Interrupted, "interrupted").WithCause(ctx.Err())
}

// authenticate holds a record's signature against those who may review now.
// Codes: token_untrusted.
func (r *Record) authenticate(t *trust, now time.Time) error {
	key, problem := t.verify(r.data, r.signature, r.Statement.Reviewer(), now)
	if problem != "" {
		return fault.New(fault.TokenUntrusted, "%s is not from an allowed reviewer: %s", r.Token.short(), problem).
			WithHint("ask a reviewer whose key is in the signers file: git config --show-origin gpg.ssh.allowedSignersFile")
	}
	r.key = key
	return nil
}
