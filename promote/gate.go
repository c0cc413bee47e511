package promote

import (
	"context"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// maxRange is how many commits of one move are searched for trailers. It is a
// bound on work, not on moves: a longer range must name its tokens itself.
const maxRange = 10_000

// Gate judges moves in one repository. All fields are required.
type Gate struct {
	Repo   *gitrepo.Repo
	Policy *review.Policy
	// Now is the host's clock.
	Now func() time.Time
}

// Proposal is one move of one ref.
type Proposal struct {
	Ref string // full name, symbolic refs resolved
	// Old is the ref's present commit, "" if it does not exist. New is the
	// commit it would have, "" to delete it (always refused).
	Old, New gitrepo.ID
	// Tokens are those named outright. Without any, the trailers of the
	// commits that move are asked.
	Tokens []review.Token
	// Beside are records that come with a push and are no refs yet, as
	// review.CheckPushed returned them.
	Beside map[review.Token]*review.Record
	// Revoking are tokens that a push takes back itself: none of them counts for
	// its moves, wherever it is named.
	Revoking map[review.Token]bool
	Pusher   review.Pusher
}

// Judgement is a move that may happen.
type Judgement struct {
	Proposal
	// Deltas are the surface items that differ; empty means that no token is
	// needed.
	Deltas []decl.Delta
	// Records are the records of the tokens that carry the move.
	Records []*review.Record
	// Validation is the last report of the order's Validator, nil without one.
	Validation any
	// Undone says that the move was made and undone, UndoneBy by which commit: ""
	// if the ref was deleted again.
	Undone   bool
	UndoneBy gitrepo.ID

	// Before and After are the surfaces of Old and New, nil until both were read.
	// A report for a person is made of them; no decision reads one.
	Before, After *decl.Surface
}

// TokenStrings lists the tokens that carry the move.
func (j *Judgement) TokenStrings() []string {
	out := make([]string, 0, len(j.Records))
	for _, r := range j.Records {
		out = append(out, r.Token.String())
	}
	return out
}

// Judge decides whether p may happen now. It writes nothing. On a refusal the
// Judgement holds what is known so far and the error is a *fault.Fault.
func (g *Gate) Judge(ctx context.Context, p Proposal) (*Judgement, error) {
	j, err := g.Examine(ctx, p)
	if err != nil || len(j.Deltas) == 0 {
		return j, err
	}
	tokens, err := g.tokens(ctx, j)
	if err != nil {
		return j, err
	}
	j.Records, err = g.verify(ctx, j, tokens)
	return j, err
}

// Examine is Judge without the tokens: what would change, and that a token could
// allow it at all. A review is made of what it returns, which also beside an error
// holds the surfaces once they were read.
func (g *Gate) Examine(ctx context.Context, p Proposal) (*Judgement, error) {
	j := &Judgement{Proposal: p}
	if err := g.checkShape(ctx, p); err != nil {
		return j, err
	}
	if err := g.compare(ctx, j); err != nil {
		return j, err
	}
	if !j.After.Readable() {
		return j, unreadable(j.After, p.New)
	}
	return j, g.checkCores(ctx, p)
}

// checkShape refuses what no token can allow: deletes, protected namespaces and
// moves that are not fast-forwards.
func (g *Gate) checkShape(ctx context.Context, p Proposal) error {
	ref := safetext.Terminal(p.Ref)
	switch {
	case p.New == "":
		return fault.New(fault.RefProtected, "%s is guarded: it cannot be deleted", ref).
			WithHint("to stop guarding it: git config --unset-all evolve.guard '^%s$'", ref)
	case strings.HasPrefix(p.Ref, "refs/evolve/"), strings.HasPrefix(p.Ref, "refs/replace/"):
		return fault.New(fault.RefProtected, "%s is no ref to promote to: that namespace belongs to Git and evolve", ref).
			WithHint("name a branch, such as --ref main")
	case p.Old == "" || p.Old == p.New:
		return nil
	}
	forward, err := g.Repo.IsAncestor(ctx, p.Old, p.New)
	if err != nil {
		return err
	}
	if !forward && !g.Policy.AllowNonFastForward {
		if err := g.explainBackwards(ctx, p); err != nil {
			return err
		}
		return fault.New(fault.NotFastForward, "%s at %s is not an ancestor of %s", ref, short(p.Old), short(p.New)).
			WithHint("git rebase %s, or git merge %s, then review again", refShort(p.Ref), refShort(p.Ref))
	}
	return nil
}

// compare reads both surfaces and fills in the deltas.
func (g *Gate) compare(ctx context.Context, j *Judgement) error {
	before, err := g.Surface(ctx, j.Old)
	if err != nil {
		return err
	}
	after, err := g.surface(ctx, j.New, before)
	if err != nil {
		return err
	}
	if j.Deltas, err = decl.Compare(ctx, before, after); err != nil {
		return err
	}
	j.Before, j.After = before, after
	return nil
}

// Surface reads the surface of a commit; "" is the empty one.
func (g *Gate) Surface(ctx context.Context, commit gitrepo.ID) (*decl.Surface, error) {
	return g.surface(ctx, commit, nil)
}

func (g *Gate) surface(ctx context.Context, commit gitrepo.ID, beside *decl.Surface) (*decl.Surface, error) {
	if commit == "" {
		return decl.Empty(), nil
	}
	tree, err := g.Repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	return decl.LoadSurface(ctx, tree, decl.Options{CorePatterns: g.Policy.CorePatterns, Beside: beside})
}

func (g *Gate) tokens(ctx context.Context, j *Judgement) ([]review.Token, error) {
	if len(j.Tokens) > 0 {
		return j.Tokens, nil
	}
	return g.trailerTokens(ctx, j)
}

// trailerTokens keeps those tokens of the moving commits' trailers that are
// good for this move. A squashed or amended commit carries old trailers along;
// a token that is not good carries no move, and does not spoil one that is.
// When none is good, the first one's refusal is the answer.
func (g *Gate) trailerTokens(ctx context.Context, j *Judgement) ([]review.Token, error) {
	named, err := g.namedInTrailers(ctx, j)
	if err != nil {
		return nil, err
	}
	return g.goodAlone(ctx, j, named)
}

func (g *Gate) namedInTrailers(ctx context.Context, j *Judgement) ([]review.Token, error) {
	ids, err := g.Repo.Range(ctx, j.Old, j.New, maxRange)
	if err != nil {
		return nil, err
	}
	var messages []string
	for _, id := range ids {
		commit, err := g.Repo.ReadCommit(ctx, id)
		if err != nil {
			return nil, err
		}
		messages = append(messages, commit.Message)
	}
	return review.TrailerTokens(messages), nil
}

// goodAlone keeps those tokens that are good for this move, however many reviews
// it needs; of several that are not, it keeps the first.
func (g *Gate) goodAlone(ctx context.Context, j *Judgement, named []review.Token) ([]review.Token, error) {
	if len(named) < 2 {
		return named, nil
	}
	one := *g.Policy
	one.RequiredReviews = 1
	alone := *g
	alone.Policy = &one
	var good []review.Token
	for _, token := range named {
		if _, err := alone.verify(ctx, j, []review.Token{token}); err == nil {
			good = append(good, token)
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	if len(good) == 0 {
		return named[:1], nil
	}
	return good, nil
}

func (g *Gate) verify(ctx context.Context, j *Judgement, tokens []review.Token) ([]*review.Record, error) {
	move := review.Move{Ref: j.Ref, Old: j.Old, New: j.New, Deltas: j.Deltas}
	return review.Verify(ctx, g.Repo, g.Policy, move, tokens, review.Options{
		Now:         g.Now(),
		Pusher:      j.Pusher,
		Surface:     g.Surface,
		Beside:      j.Beside,
		SpentAbsent: func(t review.Token) (bool, error) { return g.audit().spent(j.Ref, t) },
		ExplainUsed: func(t review.Token) string { return g.explainUsed(j.Ref, t) },
	})
}

// checkCores refuses a change to files that look like an agent's and belong to
// no core: they would move without a review.
func (g *Gate) checkCores(ctx context.Context, p Proposal) error {
	var before decl.Tree
	if p.Old != "" {
		var err error
		if before, err = g.Repo.Tree(ctx, p.Old); err != nil {
			return err
		}
	}
	after, err := g.Repo.Tree(ctx, p.New)
	if err != nil {
		return err
	}
	unknown, err := decl.UnknownCores(ctx, before, after, decl.Options{CorePatterns: g.Policy.CorePatterns})
	if err != nil || len(unknown) == 0 {
		return err
	}
	return fault.New(fault.CoreUnknown, "%s changes and looks like an agent's, but belongs to no core that is reviewed",
		unknown[0].Path).WithHint("%s", unknown[0].Mend)
}

// unreadable is the refusal to move to a surface with broken rules.
func unreadable(s *decl.Surface, commit gitrepo.ID) error {
	problems := s.AllProblems()
	return fault.New(fault.DeclarationInvalid, "%s (%d in all)", problems[0], len(problems)).
		WithHint("evolve lint %s lists every problem", short(commit))
}

func name(id gitrepo.ID) string {
	if id == "" {
		return "absent"
	}
	return string(id)
}

// short abbreviates an id for a sentence; decisions use the whole id.
func short(id gitrepo.ID) string {
	const digits = 12
	if len(id) > digits {
		return string(id[:digits])
	}
	return string(id)
}

func refShort(ref string) string { return safetext.Terminal(strings.TrimPrefix(ref, "refs/heads/")) }
