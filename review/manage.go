package review

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

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

// List reads every record, oldest first; those that cannot be read come last. A
// ref beside the records that is named by no token is left out.
func List(ctx context.Context, repo *gitrepo.Repo, p *Policy, now time.Time) ([]Entry, error) {
	refs, err := repo.Refs(ctx, RecordRefs)
	if err != nil {
		return nil, err
	}
	look := newLook(repo, p, now)
	var out []Entry
	for _, ref := range refs {
		t, err := ParseToken(Prefix + strings.TrimPrefix(ref.Name, RecordRefs))
		if err != nil {
			continue
		}
		e, err := look.at(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(a.order(), b.order()) })
	return out, nil
}

// order is when a record was issued, in seconds; one that cannot be read comes
// after all others.
func (e Entry) order() int64 {
	if e.Record == nil {
		return 1<<63 - 1
	}
	return e.Record.Statement.IssuedAt().Unix()
}

// Show reads one record. Codes: token_unknown.
func Show(ctx context.Context, repo *gitrepo.Repo, p *Policy, t Token, now time.Time) (Entry, error) {
	e, err := newLook(repo, p, now).at(ctx, t)
	if err == nil && e.Record == nil {
		err = e.Err
	}
	return e, err
}

// look judges records by what does not depend on a move.
type look struct {
	repo  *gitrepo.Repo
	p     *Policy
	now   time.Time
	trust *trust
	err   error // why nobody can be trusted now
}

func newLook(repo *gitrepo.Repo, p *Policy, now time.Time) *look {
	l := &look{repo: repo, p: p, now: now}
	l.trust, l.err = loadTrust(repo, p)
	return l
}

func (l *look) at(ctx context.Context, t Token) (Entry, error) {
	e := Entry{Token: t}
	r, err := load(ctx, l.repo, t, nil)
	if fault.CodeOf(err) == fault.TokenUnknown {
		e.Err = err
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Record = r
	e.Err = l.standing(ctx, r)
	if ctx.Err() != nil {
		return e, interrupted(ctx)
	}
	return e, nil
}

func (l *look) standing(ctx context.Context, r *Record) error {
	if l.err != nil {
		return l.err
	}
	for _, rule := range []func() error{
		func() error { return r.authenticate(l.trust, l.now) },
		r.sameRules,
		func() error { return r.sameRepository(l.repo, l.p) },
		func() error { return r.revoked(ctx, l.repo) },
		func() error { return r.inTime(l.p, l.now) },
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
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
		if e.Record == nil || !now.After(e.Record.Statement.ExpiresAt().Add(p.MaxExpiry)) {
			continue
		}
		if !dryRun {
			if err := remove(ctx, repo, e); err != nil {
				return gone, err
			}
		}
		gone = append(gone, e.Token)
	}
	return gone, nil
}

// remove takes the record away first: a crash before its revocation follows
// leaves a revocation of nothing, never a record that is no longer revoked.
func remove(ctx context.Context, repo *gitrepo.Repo, e Entry) error {
	if err := repo.DeleteRef(ctx, RecordRefs+e.Token.hex, e.Record.Commit); err != nil {
		return err
	}
	revoked, err := repo.ReadRef(ctx, RevocationRefs+e.Token.hex)
	if err != nil || revoked == "" {
		return err
	}
	return repo.DeleteRef(ctx, RevocationRefs+e.Token.hex, revoked)
}
