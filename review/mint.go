package review

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// MintRequest is a change that a person accepted.
type MintRequest struct {
	Ref        string
	Base, Head gitrepo.ID // Base "" if the ref does not exist
	Deltas     []decl.Delta
	Now        time.Time
	Expiry     time.Duration // at most the policy's MaxExpiry
	Reason     string
	// ReportDigest is kept for information: the report as it was shown.
	ReportDigest string
	// Rand is where the salt comes from; nil means crypto/rand.
	Rand io.Reader
}

// Mint signs a change and writes the record. Codes: usage, ref_invalid,
// config_invalid, signing_failed, io_failed.
func Mint(ctx context.Context, repo *gitrepo.Repo, p *Policy, s Signer, m MintRequest) (*Record, error) {
	if err := m.check(p); err != nil {
		return nil, err
	}
	principal, err := s.principalAt(m.Now)
	if err != nil {
		return nil, err
	}
	body, err := m.statement(ctx, repo, p, principal)
	if err != nil {
		return nil, err
	}
	data, err := encode(body)
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
	r.Commit, err = writeRecord(ctx, repo, RecordRefs+r.Token.hex, "evolve review", statement.IssuedAt(), data, signature)
	if err != nil {
		return nil, err
	}
	if !p.shared() {
		keepFingerprintKey(repo.CommonDir())
	}
	return r, nil
}

func (m MintRequest) check(p *Policy) error {
	switch {
	case len(m.Deltas) == 0:
		return fault.New(fault.Internal, "a review of no change was asked for")
	case !validRef(m.Ref):
		return fault.New(fault.RefInvalid, "%s cannot be named in a record: its name is no plain UTF-8", safetext.Terminal(m.Ref))
	case m.Expiry < time.Second || m.Expiry > p.MaxExpiry:
		return fault.New(fault.Usage, "a token may be good for a second to %s (evolve.maxExpiry)", inWords(p.MaxExpiry))
	}
	return CheckReason(m.Reason)
}

// statement is what is signed.
func (m MintRequest) statement(ctx context.Context, repo *gitrepo.Repo, p *Policy, principal string) (statementBody, error) {
	head, err := repo.ReadCommit(ctx, m.Head)
	if err != nil {
		return statementBody{}, err
	}
	random := m.Rand
	if random == nil {
		random = rand.Reader
	}
	raw := make([]byte, saltBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return statementBody{}, fault.New(fault.Internal, "no random bytes can be had").WithCause(err)
	}
	salt := hex.EncodeToString(raw)
	base := string(m.Base)
	if base == "" {
		base = Absent
	}
	return statementBody{
		Type:          statementType,
		Subject:       []subject{{Name: m.Ref, Digest: map[string]string{"gitCommit": string(m.Head)}}},
		PredicateType: reviewType,
		Predicate: predicate{
			Version: predicateVersion, Repository: p.Repository, Ref: m.Ref, ObjectFormat: repo.ObjectFormat(),
			Base: base, Head: string(m.Head), HeadTree: string(head.Tree), SurfaceRules: decl.SurfaceRules,
			Salt: salt, Change: itemLines(salt, m.Deltas), Reviewer: principal,
			IssuedAt: stamp(m.Now), ExpiresAt: stamp(m.Now.Truncate(time.Second).Add(m.Expiry)), Reason: m.Reason,
			ReportDigest: m.ReportDigest, PolicyDigest: p.digest(),
		},
	}, nil
}

// digest is of the policy's settings as they were when a record was made.
func (p *Policy) digest() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(p.settings) // strings always encode
	return hex.EncodeToString(h.Sum(nil))
}
