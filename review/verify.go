package review

import (
	"context"
	"time"

	"golang.org/x/crypto/ssh"

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
	Ref      string
	Old, New gitrepo.ID // Old "" if the ref does not exist
	Deltas   []decl.Delta
}

// Pusher is who asks for a move.
type Pusher struct {
	// Name is a principal or account name; free text unless Authenticated.
	Name string
	// Key is the key that proved it, in authorized_keys form; may be empty.
	Key string
	// Authenticated says that Name was proved: by a signature, or by a server
	// variable that the host has mapped.
	Authenticated bool
}

// Options are what Verify needs beside the move.
type Options struct {
	Now    time.Time
	Pusher Pusher
	// Surface reads the surface of a commit; "" is the empty one.
	Surface func(ctx context.Context, commit gitrepo.ID) (*decl.Surface, error)
	// SpentAbsent reports whether a token whose base is "absent" already created
	// the ref once: then no history is left that could say so.
	SpentAbsent func(Token) (bool, error)
	// Beside are records that come with a push and are no refs yet.
	Beside map[Token]gitrepo.ID
}

// Verify judges whether tokens are valid for a move, and returns their records.
// The rules are checked in a fixed order; the first that fails is the answer.
// Codes: every token_*, reviews_insufficient, self_review.
func Verify(ctx context.Context, repo *gitrepo.Repo, p *Policy, m Move, tokens []Token, o Options) ([]*Record, error) {
	if len(tokens) == 0 {
		return nil, fault.New(fault.TokenMissing, "moving %s changes what was reviewed, and no token says that the change was reviewed",
			safetext.Terminal(m.Ref)).WithHint("evolve review %s --ref %s", brief(m.New), safetext.Terminal(m.Ref))
	}
	if len(tokens) > maxTokens {
		return nil, fault.New(fault.TokenMalformed, "%d tokens are named; at most %d are looked at", len(tokens), maxTokens)
	}
	v := &verifier{repo: repo, policy: p, move: m, opt: o}
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
	return out, v.together(out)
}

// CheckUnderLock repeats, under the ref's lock, what can change after the
// judging: expiry and revocation, read anew. Codes: token_expired, token_revoked.
func CheckUnderLock(ctx context.Context, repo *gitrepo.Repo, p *Policy, records []*Record, now time.Time) error {
	for _, r := range records {
		if err := r.inTime(p, now); err != nil {
			return err
		}
		if err := r.revoked(ctx, repo); err != nil {
			return err
		}
	}
	return nil
}

type verifier struct {
	repo   *gitrepo.Repo
	policy *Policy
	move   Move
	opt    Options
	trust  *trust
}

// one holds one token against every rule that concerns it alone.
func (v *verifier) one(ctx context.Context, t Token) (*Record, error) {
	r, err := load(ctx, v.repo, t, v.opt.Beside)
	if err != nil {
		return nil, err
	}
	if v.trust == nil {
		if v.trust, err = loadTrust(ctx, v.repo, v.policy, reviewNamespace); err != nil {
			return nil, err
		}
	}
	for _, rule := range []func(context.Context, *Record) error{
		func(context.Context, *Record) error { return r.authenticate(v.trust, v.opt.Now) },
		v.sameRules, v.samePlace,
		func(ctx context.Context, r *Record) error { return r.revoked(ctx, v.repo) },
		func(context.Context, *Record) error { return r.inTime(v.policy, v.opt.Now) },
		v.base, v.unused, v.content,
	} {
		if err := rule(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (v *verifier) sameRules(_ context.Context, r *Record) error {
	if n := r.Statement.body.Predicate.SurfaceRules; n != decl.SurfaceRules {
		return fault.New(fault.TokenRulesMismatch, "%s was made under surface rules %d; this program has %d", r.Token.short(), n, decl.SurfaceRules).
			WithHint("review again with this version of evolve, here: evolve review %s --ref %s", brief(v.move.New), safetext.Terminal(v.move.Ref))
	}
	return nil
}

func (v *verifier) samePlace(_ context.Context, r *Record) error {
	s := r.Statement.body.Predicate
	if s.Repository != v.policy.Repository || s.ObjectFormat != v.repo.ObjectFormat() {
		return fault.New(fault.TokenWrongRepository, "%s was made for another repository (%s; this one is %s)", r.Token.short(),
			orUnnamed(s.Repository), orUnnamed(v.policy.Repository)).
			WithHint("review the change here, or check evolve.repository: git config --show-origin evolve.repository")
	}
	if s.Ref != v.move.Ref {
		return fault.New(fault.TokenWrongRef, "%s was made for %s, not for %s", r.Token.short(), safetext.Terminal(s.Ref), safetext.Terminal(v.move.Ref)).
			WithHint("evolve review %s --ref %s", brief(v.move.New), safetext.Terminal(v.move.Ref))
	}
	return nil
}

func orUnnamed(name string) string {
	if name == "" {
		return "unnamed"
	}
	return safetext.Terminal(name)
}

// inTime checks the three times of a record.
func (r *Record) inTime(p *Policy, now time.Time) error {
	issued, expires := r.Statement.IssuedAt(), r.Statement.ExpiresAt()
	switch {
	case now.Add(maxSkew).Before(issued):
		return fault.New(fault.TokenNotYetValid, "%s was issued at %s, which is still to come", r.Token.short(), issued.Format(time.RFC3339)).
			WithHint("check the clocks of this host and of the reviewer")
	case !now.Before(expires):
		return fault.New(fault.TokenExpired, "%s expired at %s", r.Token.short(), expires.Format(time.RFC3339)).
			WithHint("review the change again; --expires asks for more time, up to evolve.maxExpiry")
	case expires.Sub(issued) > p.MaxExpiry:
		return fault.New(fault.TokenExpired, "%s is good for longer than evolve.maxExpiry allows (%s)", r.Token.short(), inWords(p.MaxExpiry)).
			WithHint("review the change again with a shorter --expires")
	}
	return nil
}

// base checks that the change was reviewed from where the ref is, or from an
// ancestor of it.
func (v *verifier) base(ctx context.Context, r *Record) error {
	base, old := r.Statement.Base(), v.move.Old
	stale := func(said string) error {
		return fault.New(fault.TokenStale, "%s %s", r.Token.short(), said).
			WithHint("evolve review %s --ref %s", brief(v.move.New), safetext.Terminal(v.move.Ref))
	}
	switch {
	case base == Absent && old != "":
		return stale("was made to create the ref, which exists now")
	case base == Absent:
		return nil
	case old == "":
		return stale("was made from a commit of the ref, which does not exist now")
	case base == string(old):
		return nil
	case v.policy.BindCommit:
		return stale("was made from another commit than the ref is at (evolve.bind=commit)")
	}
	ancestor, err := v.repo.IsAncestor(ctx, gitrepo.ID(base), old)
	if ctx.Err() != nil {
		return fault.New(fault.Interrupted, "interrupted").WithCause(ctx.Err())
	}
	if err != nil || !ancestor {
		return stale("was made from a commit that is no ancestor of the ref")
	}
	return nil
}

// unused looks in history for a commit between the token's base and the ref that
// changed an item the token names: then its change was made, or another was.
func (v *verifier) unused(ctx context.Context, r *Record) error {
	used := fault.New(fault.TokenUsed, "%s is used up: an item that it names was changed on %s since its base",
		r.Token.short(), safetext.Terminal(v.move.Ref)).
		WithHint("evolve review %s --ref %s", brief(v.move.New), safetext.Terminal(v.move.Ref))
	if r.Statement.Base() == Absent {
		spent, err := v.opt.SpentAbsent(r.Token)
		if err != nil {
			return err
		}
		if spent {
			return used
		}
		return nil
	}
	base := gitrepo.ID(r.Statement.Base())
	if base == v.move.Old {
		return nil
	}
	named := map[decl.ItemKey]bool{}
	for _, key := range r.Statement.Keys() {
		named[key] = true
	}
	paths, err := v.candidates(ctx, r, base)
	if err != nil {
		return err
	}
	steps, err := v.repo.ChangingSteps(ctx, base, v.move.Old, paths)
	if err != nil {
		return err
	}
	for _, step := range steps {
		changed, err := v.changes(ctx, step, named)
		if err != nil {
			return err
		}
		if changed {
			return used
		}
	}
	return nil
}

// candidates are the paths at which a commit must have changed something to have
// changed a named item: the items' own paths, and what decides where the items
// are.
func (v *verifier) candidates(ctx context.Context, r *Record, base gitrepo.ID) ([]string, error) {
	set := map[string]bool{}
	for _, key := range r.Statement.Keys() {
		set[key.Path] = true
		set[joinPath(key.Core, "agent.yaml")] = true
	}
	for _, commit := range []gitrepo.ID{base, v.move.Old} {
		s, err := v.opt.Surface(ctx, commit)
		if err != nil {
			return nil, err
		}
		for _, c := range s.Cores {
			set[c.Agent.Path] = true
			if c.Agent.MCPRoot != "" {
				set[c.Agent.MCPRoot] = true
			}
		}
	}
	if set["."] {
		return []string{"."}, nil
	}
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	return out, nil
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (v *verifier) changes(ctx context.Context, step gitrepo.Step, named map[decl.ItemKey]bool) (bool, error) {
	before, err := v.opt.Surface(ctx, step.Parent)
	if err != nil {
		return false, err
	}
	after, err := v.opt.Surface(ctx, step.Commit)
	if err != nil {
		return false, err
	}
	deltas, err := decl.Compare(ctx, before, after)
	if err != nil {
		return false, err
	}
	for _, d := range deltas {
		if named[d.Key] {
			return true, nil
		}
	}
	return false, nil
}

// content checks that the token names exactly the change, no item more or less.
func (v *verifier) content(ctx context.Context, r *Record) error {
	stale := fault.New(fault.TokenStale, "%s names another change than %s would make now", r.Token.short(), safetext.Terminal(v.move.Ref)).
		WithHint("look at it: evolve diff %s %s; then evolve review %s --ref %s", briefOld(v.move.Old), brief(v.move.New),
			brief(v.move.New), safetext.Terminal(v.move.Ref))
	if !r.Statement.names(v.move.Deltas) {
		return stale
	}
	if !v.policy.BindCommit {
		return nil
	}
	head, err := v.repo.ReadCommit(ctx, v.move.New)
	if err != nil {
		return err
	}
	if string(head.Tree) != r.Statement.body.Predicate.HeadTree {
		return stale
	}
	return nil
}

// together checks what concerns all tokens: how many reviewers, and who pushes.
func (v *verifier) together(records []*Record) error {
	if n := distinct(records); n < v.policy.RequiredReviews {
		return fault.New(fault.ReviewsInsufficient, "%d distinct reviewer(s) accepted the change; %d are needed (evolve.requiredReviews)",
			n, v.policy.RequiredReviews).WithHint("ask another reviewer, with another key: evolve review %s --ref %s", brief(v.move.New), safetext.Terminal(v.move.Ref))
	}
	if !v.policy.ForbidSelfReview {
		return nil
	}
	pusher := v.opt.Pusher
	if !pusher.Authenticated {
		return fault.New(fault.SelfReview, "who moves %s is not proved, and nobody may move what they reviewed (evolve.forbidSelfReview)",
			safetext.Terminal(v.move.Ref)).WithHint("sign the push, or configure a signing key")
	}
	for _, r := range records {
		if r.Statement.Reviewer() == pusher.Name || pusher.Key != "" && pusher.Key == string(ssh.MarshalAuthorizedKey(r.key)) {
			return fault.New(fault.SelfReview, "%s was reviewed by the one who moves %s (evolve.forbidSelfReview)", r.Token.short(),
				safetext.Terminal(v.move.Ref)).WithHint("ask somebody else to review, or to promote")
		}
	}
	return nil
}

// distinct counts reviewers that differ in key and in principal: the largest
// number of records of which no two share either.
func distinct(records []*Record) int {
	keysOf := map[string][]string{}
	for _, r := range records {
		who := r.Statement.Reviewer()
		keysOf[who] = append(keysOf[who], string(r.key.Marshal()))
	}
	taken := map[string]string{} // key -> principal
	n := 0
	for who := range keysOf {
		if place(who, keysOf, taken, map[string]bool{}) {
			n++
		}
	}
	return n
}

// place gives a principal a key of its own, moving others aside where they have
// another (Kuhn's algorithm for bipartite matching).
func place(who string, keysOf map[string][]string, taken map[string]string, tried map[string]bool) bool {
	for _, key := range keysOf[who] {
		if tried[key] {
			continue
		}
		tried[key] = true
		holder, held := taken[key]
		if !held || place(holder, keysOf, taken, tried) {
			taken[key] = who
			return true
		}
	}
	return false
}

func brief(id gitrepo.ID) string {
	const digits = 12
	return string(id[:min(digits, len(id))])
}

func briefOld(id gitrepo.ID) string {
	if id == "" {
		return Absent
	}
	return brief(id)
}
