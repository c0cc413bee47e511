package review

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// Entry is one record as reviews list shows it.
type Entry struct {
	Token Token
	// Record is nil if it cannot be read.
	Record *Record
	// Err is why a gate would refuse the token now, whatever the move; nil if
	// nothing speaks against it.
	Err error
}

// List reads every record, oldest first; those that cannot be read come last.
func List(ctx context.Context, repo *gitrepo.Repo, p *Policy, now time.Time) ([]Entry, error) {
	refs, err := repo.Refs(ctx, RecordRefs)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, ref := range refs {
		t, err := ParseToken(Prefix + strings.TrimPrefix(ref.Name, RecordRefs))
		if err != nil {
			continue // not one of ours; doctor names it
		}
		e, err := examine(ctx, repo, p, t, now)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Entry) int {
		if a.Record == nil || b.Record == nil {
			return cmp.Compare(boolRank(a.Record == nil), boolRank(b.Record == nil))
		}
		return a.Record.Statement.IssuedAt().Compare(b.Record.Statement.IssuedAt())
	})
	return out, nil
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Show reads one record. Codes: token_unknown.
func Show(ctx context.Context, repo *gitrepo.Repo, p *Policy, t Token, now time.Time) (Entry, error) {
	e, err := examine(ctx, repo, p, t, now)
	if err == nil && e.Record == nil {
		err = e.Err
	}
	return e, err
}

func examine(ctx context.Context, repo *gitrepo.Repo, p *Policy, t Token, now time.Time) (Entry, error) {
	e := Entry{Token: t}
	r, err := load(ctx, repo, t, nil)
	if fault.CodeOf(err) == fault.TokenUnknown {
		e.Err = err
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Record = r
	e.Err = r.standing(ctx, repo, p, now)
	return e, nil
}

// standing checks what does not depend on a move.
func (r *Record) standing(ctx context.Context, repo *gitrepo.Repo, p *Policy, now time.Time) error {
	t, err := loadTrust(ctx, repo, p, reviewNamespace)
	if err != nil {
		return err
	}
	if err := r.authenticate(t, now); err != nil {
		return err
	}
	if r.Statement.body.Predicate.SurfaceRules != decl.SurfaceRules {
		return fault.New(fault.TokenRulesMismatch, "made under other surface rules")
	}
	if r.Statement.body.Predicate.Repository != p.Repository {
		return fault.New(fault.TokenWrongRepository, "made for another repository")
	}
	if err := r.revoked(ctx, repo); err != nil {
		return err
	}
	return r.inTime(p, now)
}

// Prune removes records, with their revocations, whose tokens expired longer ago
// than evolve.maxExpiry, and returns their tokens. A record that cannot be read
// stays.
func Prune(ctx context.Context, repo *gitrepo.Repo, p *Policy, now time.Time, dryRun bool) ([]Token, error) {
	list, err := List(ctx, repo, p, now)
	if err != nil {
		return nil, err
	}
	var gone []Token
	for _, e := range list {
		if e.Record == nil || now.Before(e.Record.Statement.ExpiresAt().Add(p.MaxExpiry)) {
			continue
		}
		gone = append(gone, e.Token)
		if dryRun {
			continue
		}
		if err := repo.DeleteRef(ctx, RecordRefs+e.Token.hex, e.Record.Commit); err != nil {
			return gone, err
		}
		revoked, err := repo.ReadRef(ctx, RevocationRefs+e.Token.hex)
		if err != nil {
			return gone, err
		}
		if revoked != "" {
			if err := repo.DeleteRef(ctx, RevocationRefs+e.Token.hex, revoked); err != nil {
				return gone, err
			}
		}
	}
	return gone, nil
}

// CheckPushed judges a record that comes with a push: it must be whole, named by
// its digest, and signed by an allowed reviewer.
func CheckPushed(ctx context.Context, repo *gitrepo.Repo, p *Policy, t Token, commit gitrepo.ID, now time.Time) error {
	r, err := load(ctx, repo, t, map[Token]gitrepo.ID{t: commit})
	if err != nil {
		return err
	}
	tr, err := loadTrust(ctx, repo, p, reviewNamespace)
	if err != nil {
		return err
	}
	return r.authenticate(tr, now)
}

// CheckPushedRevocation judges a revocation that comes with a push: it must be
// signed by the reviewer of a record that is here.
func CheckPushedRevocation(ctx context.Context, repo *gitrepo.Repo, _ *Policy, t Token, commit gitrepo.ID, _ time.Time) error {
	r, err := load(ctx, repo, t, nil)
	if err != nil {
		return err
	}
	key, problem := checkSignature(r.data, r.signature, reviewNamespace)
	if problem == "" {
		problem = checkRevocation(ctx, repo, t, commit, key)
	}
	if problem != "" {
		return fault.New(fault.TokenUntrusted, "the pushed revocation of %s %s", t.short(), problem)
	}
	return nil
}

// Load reads the records of tokens and verifies their signatures again, for a
// check under the ref's lock by another process than judged the move.
func Load(ctx context.Context, repo *gitrepo.Repo, p *Policy, tokens []Token, beside map[Token]gitrepo.ID, now time.Time) ([]*Record, error) {
	var out []*Record
	for _, t := range tokens {
		r, err := load(ctx, repo, t, beside)
		if err != nil {
			return nil, err
		}
		tr, err := loadTrust(ctx, repo, p, reviewNamespace)
		if err != nil {
			return nil, err
		}
		if err := r.authenticate(tr, now); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// LocalPusher is who promotes here: the identity that would sign, if there is a
// key for one; else Git's author name, not proved.
func LocalPusher(ctx context.Context, repo *gitrepo.Repo, p *Policy) (Pusher, error) {
	unproved := func() (Pusher, error) {
		who, err := repo.Identity(ctx)
		if err != nil {
			return Pusher{Name: "unknown"}, nil //nolint:nilerr // nobody has to be named
		}
		return Pusher{Name: who.Email}, nil
	}
	var key ssh.PublicKey
	var err error
	if p.signingKey != "" {
		if key, err = configuredKey(ctx, repo, p); err != nil {
			return unproved()
		}
	} else {
		own, err := readGenerated(generatedDir(repo))
		if err != nil {
			return unproved()
		}
		key = own.PublicKey()
	}
	t, err := loadTrust(ctx, repo, p, reviewNamespace)
	if err != nil {
		return unproved()
	}
	principals, _ := t.signers.find(key, time.Now())
	if len(principals) == 0 {
		return unproved()
	}
	return Pusher{Name: principals[0], Key: string(ssh.MarshalAuthorizedKey(key)), Authenticated: true}, nil
}
