package review

import (
	"context"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// maxSkew is how far a reviewer's clock may be ahead of the host's.
const maxSkew = 5 * time.Minute

// maxTokens bounds the tokens of one move.
const maxTokens = 64

// Move is what tokens are held against: one ref, from one commit to another, and
// the items that differ between them.
type Move struct {
	Ref      string     // full name
	Old, New gitrepo.ID // Old "" if the ref does not exist
	Deltas   []decl.Delta
}

// Options are what Verify needs beside the move.
type Options struct {
	Now    time.Time
	Pusher Pusher
	// Surface reads the surface of a commit; "" is the empty one. Required.
	Surface func(ctx context.Context, commit gitrepo.ID) (*decl.Surface, error)
	// SpentAbsent reports whether a token already moved this ref, as the host
	// wrote down. It is asked where history cannot say: for a token whose base is
	// absent, and where refs may move other than by fast-forward. Required.
	SpentAbsent func(Token) (bool, error)
	// ExplainUsed says what the host knows of how a token was used, "" for
	// nothing; it may be nil. It decides nothing.
	ExplainUsed func(Token) string
	// Beside are records that come with a push and are no refs yet, as CheckPushed
	// returned them.
	Beside map[Token]*Record
}

// Verify judges whether tokens are valid for a move, and returns their records.
// The rules are checked in a fixed order, token by token and then for all of them
// together; the first that fails is the answer. Codes: every token_*,
// reviews_insufficient, self_review, config_invalid; what reading can fail with.
func Verify(ctx context.Context, repo *gitrepo.Repo, p *Policy, m Move, tokens []Token, o Options) ([]*Record, error) {
	v := &verifier{repo: repo, policy: p, move: m, opt: o}
	if err := v.ready(tokens); err != nil {
		return nil, err
	}
	var out []*Record
	seen := map[Token]bool{}
	for _, t := range tokens {
		if seen[t] {
			continue
		}
		seen[t] = true
		r, err := v.one(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if err := v.reviewers(out); err != nil {
		return nil, err
	}
	return out, nil
}

// CheckUnderLock repeats, under the ref's lock, what can change after the
// judging, read anew: who is trusted, revocation, expiry. Codes: token_untrusted,
// token_revoked, token_not_yet_valid, token_expired, config_invalid.
func CheckUnderLock(ctx context.Context, repo *gitrepo.Repo, p *Policy, records []*Record, now time.Time) error {
	if len(records) == 0 {
		return nil
	}
	trust, err := loadTrust(repo, p)
	if err != nil {
		return err
	}
	for _, r := range records {
		r.revocationRead = false // what was read before the lock counts no more
		if err := r.holds(ctx, repo, p, trust, now); err != nil {
			return err
		}
	}
	return nil
}

// CheckTokensUnderLock is CheckUnderLock in another process than judged the move:
// it reads the records of the tokens itself, so it must run under the lock from
// its start. beside are records that come with a push and are no refs yet; it may
// be nil. Codes: those of CheckUnderLock, token_malformed, token_unknown.
func CheckTokensUnderLock(ctx context.Context, repo *gitrepo.Repo, p *Policy, tokens []Token, beside map[Token]gitrepo.ID, now time.Time) error {
	if len(tokens) == 0 {
		return nil
	}
	trust, err := loadTrust(repo, p)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		r, err := load(ctx, repo, t, beside)
		if err != nil {
			return err
		}
		if err := r.holds(ctx, repo, p, trust, now); err != nil {
			return err
		}
	}
	return nil
}

// holds checks what can change while a record stays the same.
func (r *Record) holds(ctx context.Context, repo *gitrepo.Repo, p *Policy, trust *trust, now time.Time) error {
	if err := r.authenticate(trust, now); err != nil {
		return err
	}
	if err := r.revoked(ctx, repo); err != nil {
		return err
	}
	return r.inTime(p, now)
}

// verifier holds tokens against one move.
type verifier struct {
	repo   *gitrepo.Repo
	policy *Policy
	move   Move
	opt    Options
	trust  *trust
	walk   surfaces
}

// ready checks what Verify was given.
func (v *verifier) ready(tokens []Token) error {
	switch {
	case v.opt.Surface == nil || v.opt.SpentAbsent == nil || v.move.New == "":
		return fault.New(fault.Internal, "a move cannot be judged without its commits, surfaces and audit log")
	case len(tokens) == 0:
		return fault.New(fault.TokenMissing, "moving %s changes what reviews cover, and no token was named", safetext.Terminal(v.move.Ref)).
			WithHint("%s", v.again())
	case len(tokens) > maxTokens:
		return fault.New(fault.TokenMalformed, "%d tokens are named; at most %d are looked at", len(tokens), maxTokens).
			WithHint("name those of this move only: --token TOKEN")
	}
	v.walk.read = v.opt.Surface
	return nil
}

// again is the command that reviews the move anew.
func (v *verifier) again() string {
	return "evolve review " + brief(v.move.New) + " --ref " + ShellWord(v.move.Ref)
}

// one holds one token against every rule that concerns it alone, in their order.
func (v *verifier) one(ctx context.Context, t Token) (*Record, error) {
	r, pushed := v.opt.Beside[t]
	var err error
	if !pushed {
		if r, err = load(ctx, v.repo, t, nil); err != nil {
			return nil, err
		}
	}
	if v.trust == nil {
		if v.trust, err = loadTrust(v.repo, v.policy); err != nil {
			return nil, err
		}
	}
	for _, rule := range []func(context.Context, *Record) error{
		func(context.Context, *Record) error { return r.authenticate(v.trust, v.opt.Now) },
		func(context.Context, *Record) error { return r.sameRules() },
		func(context.Context, *Record) error { return r.sameRepository(v.repo, v.policy) },
		v.sameRef,
		func(ctx context.Context, r *Record) error { return r.revoked(ctx, v.repo) },
		func(context.Context, *Record) error { return r.inTime(v.policy, v.opt.Now) },
		v.base,
		v.unused,
		v.content,
		v.commits,
	} {
		if err := rule(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// sameRules checks that this program makes surfaces as the reviewer's did.
func (r *Record) sameRules() error {
	n := r.Statement.body.Predicate.SurfaceRules
	if n == decl.SurfaceRules {
		return nil
	}
	return fault.New(fault.TokenRulesMismatch, "%s was made under surface rules %d; this program has %d", r.Token.short(), n, decl.SurfaceRules).
		WithHint("review again with this version of evolve: evolve review %s --ref %s", brief(r.Statement.Head()), ShellWord(r.Statement.Ref()))
}

// sameRepository checks that the record was made for this repository.
func (r *Record) sameRepository(repo *gitrepo.Repo, p *Policy) error {
	s := r.Statement.body.Predicate
	if s.Repository == p.Repository && s.ObjectFormat == repo.ObjectFormat() {
		return nil
	}
	return fault.New(fault.TokenWrongRepository, "%s was made for another repository (%s, %s; this one is %s, %s)", r.Token.short(),
		orUnnamed(s.Repository), s.ObjectFormat, orUnnamed(p.Repository), repo.ObjectFormat()).
		WithHint("review the change here, or look at the name: git config --show-origin evolve.repository")
}

func orUnnamed(name string) string {
	if name == "" {
		return "unnamed"
	}
	return safetext.Terminal(name)
}

func (v *verifier) sameRef(_ context.Context, r *Record) error {
	if r.Statement.Ref() == v.move.Ref {
		return nil
	}
	return fault.New(fault.TokenWrongRef, "%s was made for %s, not for %s", r.Token.short(),
		safetext.Terminal(r.Statement.Ref()), safetext.Terminal(v.move.Ref)).WithHint("%s", v.again())
}

// inTime checks the times of a record.
func (r *Record) inTime(p *Policy, now time.Time) error {
	issued, expires := r.Statement.IssuedAt(), r.Statement.ExpiresAt()
	again := "review the change again: evolve review " + brief(r.Statement.Head()) + " --ref " + ShellWord(r.Statement.Ref())
	switch {
	case now.Add(maxSkew).Before(issued):
		return fault.New(fault.TokenNotYetValid, "%s was issued at %s, which is still to come", r.Token.short(), stamp(issued)).
			WithHint("check the clocks of this host and of the reviewer: date -u")
	case !now.Before(expires):
		return fault.New(fault.TokenExpired, "%s expired at %s", r.Token.short(), stamp(expires)).WithHint("%s", again)
	case expires.Sub(issued) > p.MaxExpiry:
		return fault.New(fault.TokenExpired, "%s is good for longer than evolve.maxExpiry allows (%s)", r.Token.short(), inWords(p.MaxExpiry)).
			WithHint("%s --expires %s", again, inWords(p.MaxExpiry))
	}
	return nil
}

// stale is the refusal of a token that is for another change.
func (v *verifier) stale(r *Record, said string) error {
	return fault.New(fault.TokenStale, "%s %s", r.Token.short(), said).WithHint("%s", v.again())
}

// base checks that the change was reviewed from where the ref is, or from an
// ancestor of it.
func (v *verifier) base(ctx context.Context, r *Record) error {
	base, old := r.Statement.Base(), v.move.Old
	switch {
	case base == Absent && old != "":
		return v.stale(r, "was made to create the ref, which exists now")
	case base == Absent, base == string(old):
		return nil
	case old == "":
		return v.stale(r, "was made from a commit of the ref, which does not exist now")
	}
	ancestor, err := v.repo.IsAncestor(ctx, gitrepo.ID(base), old)
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if fault.CodeOf(err) == fault.RepositoryUnreadable {
		return err // the edge of a shallow clone hides the answer
	}
	if err != nil || !ancestor { // Git fails where it does not have the commit
		return v.stale(r, "was made from a commit that is no ancestor of the ref here")
	}
	return nil
}

// content checks that the token names exactly the change, no item more or less.
func (v *verifier) content(_ context.Context, r *Record) error {
	if r.Statement.names(v.move.Deltas) {
		return nil
	}
	return v.stale(r, "names another change than the move would make now")
}

// commits checks, with evolve.bind=commit, the commits too.
func (v *verifier) commits(ctx context.Context, r *Record) error {
	if v.policy.Bind != BindCommit {
		return nil
	}
	if base := r.Statement.Base(); base != string(v.move.Old) && (base != Absent || v.move.Old != "") {
		return v.stale(r, "was made from another commit than the ref is at (evolve.bind=commit)")
	}
	head, err := v.repo.ReadCommit(ctx, v.move.New)
	if err != nil {
		return err
	}
	if string(head.Tree) != r.Statement.body.Predicate.HeadTree {
		return v.stale(r, "was made for other files beside the reviewed ones (evolve.bind=commit)")
	}
	return nil
}
