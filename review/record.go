package review

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// The refs of records and revocations, and the names in their trees.
const (
	RecordRefs     = "refs/evolve/reviews/"
	RevocationRefs = "refs/evolve/revoked/"
	statementFile  = "statement.json"
	signatureFile  = "statement.json.sig"
)

// maxSignature bounds an armored signature in bytes.
const maxSignature = 64 << 10

// Record is one review: its token, the commit that holds it, what was signed.
type Record struct {
	Token     Token
	Commit    gitrepo.ID
	Statement *Statement

	data, signature []byte
	key             ssh.PublicKey // set once verified
}

// MintRequest is a change that a person accepted.
type MintRequest struct {
	Ref        string
	Base, Head gitrepo.ID // Base "" if the ref does not exist
	Deltas     []decl.Delta
	Now        time.Time
	Expiry     time.Duration
	Reason     string
	// ReportDigest is kept for information: the report as it was shown.
	ReportDigest string
}

// Mint signs a change and writes the record. Codes: signing_failed, io_failed.
func Mint(ctx context.Context, repo *gitrepo.Repo, p *Policy, s Signer, m MintRequest) (*Record, error) {
	head, err := repo.ReadCommit(ctx, m.Head)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return nil, fault.New(fault.Internal, "no random bytes can be had").WithCause(err)
	}
	at := m.Now.UTC().Truncate(time.Second)
	base := string(m.Base)
	if base == "" {
		base = Absent
	}
	body := statementBody{
		Type:          statementType,
		Subject:       []subject{{Name: m.Ref, Digest: map[string]string{"gitCommit": string(m.Head)}}},
		PredicateType: reviewType,
		Predicate: predicate{
			Version: predicateVersion, Repository: p.Repository, Ref: m.Ref, ObjectFormat: repo.ObjectFormat(),
			Base: base, Head: string(m.Head), HeadTree: string(head.Tree), SurfaceRules: decl.SurfaceRules,
			Salt: hex.EncodeToString(salt), Items: itemLines(hex.EncodeToString(salt), m.Deltas),
			Reviewer: s.principal, IssuedAt: at, ExpiresAt: at.Add(m.Expiry.Truncate(time.Second)), Reason: m.Reason,
			ReportDigest: m.ReportDigest, PolicyDigest: p.digest(),
		},
	}
	data, err := encodeStatement(body)
	if err != nil {
		return nil, fault.New(fault.Internal, "the statement cannot be encoded").WithCause(err)
	}
	statement, err := decodeStatement(data)
	if err != nil {
		return nil, fault.New(fault.Internal, "the statement does not read back as it was written").WithCause(err)
	}
	signature, err := s.sign(ctx, reviewNamespace, data)
	if err != nil {
		return nil, err
	}
	r := &Record{Token: tokenOf(data), Statement: statement, data: data, signature: signature, key: s.public}
	r.Commit, err = writeRecord(ctx, repo, RecordRefs+r.Token.Hex(), "evolve review", at, data, signature)
	return r, err
}

func writeRecord(ctx context.Context, repo *gitrepo.Repo, ref, subject string, at time.Time, data, sig []byte) (gitrepo.ID, error) {
	return repo.WriteRecord(ctx, ref, subject, at, []gitrepo.TreeFile{
		{Name: statementFile, Data: data}, {Name: signatureFile, Data: sig},
	})
}

// digest is of the policy's settings as they were when a record was made.
func (p *Policy) digest() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(p.settings)
	return hex.EncodeToString(h.Sum(nil))
}

// load finds the record of a token. beside are records that come with a push and
// are no refs yet. Codes: token_unknown.
func load(ctx context.Context, repo *gitrepo.Repo, t Token, beside map[Token]gitrepo.ID) (*Record, error) {
	commit, pushed := beside[t]
	if !pushed {
		var err error
		if commit, err = repo.ReadRef(ctx, RecordRefs+t.hex); err != nil {
			return nil, err
		}
	}
	if commit == "" {
		return nil, fault.New(fault.TokenUnknown, "there is no record of %s in this repository", t.short()).
			WithHint("git fetch REMOTE '%s*:%s*' brings records from where the review was made", RecordRefs, RecordRefs)
	}
	r, problem := readRecord(ctx, repo, t, commit)
	if ctx.Err() != nil {
		return nil, fault.New(fault.Interrupted, "interrupted").WithCause(ctx.Err())
	}
	if problem != "" {
		return nil, fault.New(fault.TokenUnknown, "the record of %s %s", t.short(), problem).
			WithHint("remove it and fetch it again: git update-ref -d %s%s", RecordRefs, t.hex)
	}
	return r, nil
}

func readRecord(ctx context.Context, repo *gitrepo.Repo, t Token, commit gitrepo.ID) (*Record, string) {
	data, err := repo.ReadBlobAt(ctx, commit, statementFile, maxStatement)
	if err != nil {
		return nil, "holds no readable statement"
	}
	if tokenOf(data) != t {
		return nil, "was altered: its statement has another digest"
	}
	statement, err := decodeStatement(data)
	if err != nil {
		return nil, "holds a statement in a form that evolve does not write"
	}
	signature, err := repo.ReadBlobAt(ctx, commit, signatureFile, maxSignature)
	if err != nil {
		return nil, "holds no readable signature"
	}
	return &Record{Token: t, Commit: commit, Statement: statement, data: data, signature: signature}, ""
}

// authenticate holds a record's signature against those who may review now.
// Codes: token_untrusted.
func (r *Record) authenticate(t *trust, now time.Time) error {
	key, problem := t.verify(r.data, r.signature, reviewNamespace, r.Statement.Reviewer(), now)
	if problem != "" {
		return fault.New(fault.TokenUntrusted, "%s is not from an allowed reviewer: %s", r.Token.short(), problem).
			WithHint("ask a reviewer whose key is in the signers file (gpg.ssh.allowedSignersFile)")
	}
	r.key = key
	return nil
}

// revocation is what a reviewer signs to take a review back.
type revocation struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     struct {
		Version   int       `json:"version"`
		Token     string    `json:"token"`
		Reviewer  string    `json:"reviewer"`
		RevokedAt time.Time `json:"revokedAt"`
	} `json:"predicate"`
}

// Revoke takes a review back. Only its own reviewer can. Codes: token_unknown,
// token_untrusted, signing_failed, io_failed.
func Revoke(ctx context.Context, repo *gitrepo.Repo, p *Policy, s Signer, t Token, now time.Time) error {
	r, err := load(ctx, repo, t, nil)
	if err != nil {
		return err
	}
	key, problem := checkSignature(r.data, r.signature, reviewNamespace)
	if problem != "" || !sameKey(key, s.public) {
		return fault.New(fault.TokenUntrusted, "%s was not signed with your key; only its reviewer can revoke it", t.short()).
			WithHint("to stop all of a reviewer's tokens, take their key out of the signers file")
	}
	rev := revocation{
		Type:    statementType,
		Subject: []subject{{Name: t.String(), Digest: map[string]string{"sha256": t.hex}}}, PredicateType: revocationType,
	}
	rev.Predicate.Version, rev.Predicate.Token, rev.Predicate.Reviewer = predicateVersion, t.String(), s.principal
	rev.Predicate.RevokedAt = now.UTC().Truncate(time.Second)
	data, err := encodeStatement(rev)
	if err != nil {
		return fault.New(fault.Internal, "the revocation cannot be encoded").WithCause(err)
	}
	signature, err := s.sign(ctx, revokeNamespace, data)
	if err != nil {
		return err
	}
	_, err = writeRecord(ctx, repo, RevocationRefs+t.hex, "evolve revocation", rev.Predicate.RevokedAt, data, signature)
	if fault.CodeOf(err) == fault.RefMoved {
		return nil // revoked already
	}
	return err
}

// checkRevocation holds a revocation against the record's signer. problem is ""
// if it counts.
func checkRevocation(ctx context.Context, repo *gitrepo.Repo, t Token, commit gitrepo.ID, signer ssh.PublicKey) (problem string) {
	data, err := repo.ReadBlobAt(ctx, commit, statementFile, maxSignature)
	if err != nil {
		return "holds no readable statement"
	}
	var rev revocation
	if decodeCanonical(data, &rev) != nil || rev.PredicateType != revocationType || rev.Predicate.Token != t.String() {
		return "is no revocation of this token"
	}
	signature, err := repo.ReadBlobAt(ctx, commit, signatureFile, maxSignature)
	if err != nil {
		return "holds no readable signature"
	}
	key, problem := checkSignature(data, signature, revokeNamespace)
	if problem == "" && !sameKey(key, signer) {
		problem = "was not signed by the record's reviewer"
	}
	return problem
}

// revoked refuses a revoked token. A revocation that cannot be verified counts
// too: whoever wrote it can write this repository, and a needless refusal costs
// a review.
func (r *Record) revoked(ctx context.Context, repo *gitrepo.Repo) error {
	commit, err := repo.ReadRef(ctx, RevocationRefs+r.Token.hex)
	if err != nil || commit == "" {
		return err
	}
	said := "was revoked by its reviewer"
	if problem := checkRevocation(ctx, repo, r.Token, commit, r.key); problem != "" {
		said = fmt.Sprintf("has a revocation that %s; it is refused all the same", problem)
	}
	return fault.New(fault.TokenRevoked, "%s %s", r.Token.short(), said).WithHint("review the change again")
}
