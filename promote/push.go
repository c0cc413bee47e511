package promote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// By names in claims and audit lines the hook that acted.
const (
	ByPreReceive  = "pre-receive"
	ByTransaction = "reference-transaction"
)

// JudgePush is Judge for a push, which may bring records and name tokens for
// several refs at once, in options that are not tied to one: of p.Tokens and the
// trailers' tokens those count that are good for this move. When none is, the
// refusal of the first that was made for this ref is the answer, else that of
// the first.
func (g *Gate) JudgePush(ctx context.Context, p Proposal) (*Judgement, error) {
	j, err := g.Examine(ctx, p)
	if err != nil || len(j.Deltas) == 0 {
		return j, err
	}
	named, err := g.namedInTrailers(ctx, j)
	if err != nil {
		return j, err
	}
	named = append(append([]review.Token{}, p.Tokens...), named...)
	named = slices.DeleteFunc(named, func(t review.Token) bool { return p.Revoking[t] })
	good, err := g.goodForRef(ctx, j, named)
	if err != nil {
		return j, err
	}
	j.Records, err = g.verify(ctx, j, good)
	return j, err
}

// goodForRef is goodAlone, with a better choice of the one whose refusal is told.
func (g *Gate) goodForRef(ctx context.Context, j *Judgement, named []review.Token) ([]review.Token, error) {
	good, err := g.goodAlone(ctx, j, named)
	if err != nil || len(good) != 1 || len(named) < 2 {
		return good, err
	}
	for _, t := range named {
		_, err := g.verify(ctx, j, []review.Token{t})
		switch fault.CodeOf(err) {
		case fault.TokenWrongRef:
			continue
		case fault.Interrupted:
			return nil, err
		}
		return []review.Token{t}, nil
	}
	return good, nil
}

// NewClaim is the claim of a judged move. ref, old and next are as the ref itself
// will have them: a namespaced name, and the ids of tags where it holds tags.
func (g *Gate) NewClaim(j *Judgement, by, ref string, old, next gitrepo.ID) Claim {
	now := g.Now().UTC()
	return Claim{
		Ref: ref, Old: old, New: next, Tokens: j.TokenStrings(), Records: recordIDs(j.Records),
		Who: j.Pusher.Name, Verdict: verdictAllowed, By: by, At: now, Expires: now.Add(claimLife),
	}
}

// LeaveClaim writes a claim for the hook that runs under the ref's lock.
func (g *Gate) LeaveClaim(c Claim) error { return g.claims().write(c) }

// CheckClaim is what the hook asks under a ref's lock: was this move judged and
// allowed, recently, and do its records still hold? present is the ref's value,
// read by the caller just now. It returns ref_protected where there is no claim
// that fits, and the code of what changed since.
func (g *Gate) CheckClaim(ctx context.Context, ref string, present, next gitrepo.ID) error {
	none := fault.New(fault.RefProtected, "%s is guarded, and no judged move of it from %s to %s is on its way",
		safetext.Terminal(ref), short(gitrepo.ID(name(present))), short(gitrepo.ID(name(next)))).
		WithHint("evolve promote %s --ref %s", short(next), safetext.Terminal(ref))
	c, err := g.claims().read(ref, present, next)
	if errors.Is(err, fs.ErrNotExist) {
		return none
	}
	if err != nil {
		return none.WithCause(err)
	}
	now := g.Now()
	if c.Ref != ref || c.Old != present || c.New != next || c.Verdict != verdictAllowed ||
		!now.Before(c.Expires) || now.Add(claimLife).Before(c.At) || len(c.Records) != len(c.Tokens) {
		return none
	}
	tokens := make([]review.Token, 0, len(c.Tokens))
	beside := map[review.Token]gitrepo.ID{}
	for i, s := range c.Tokens {
		t, err := review.ParseToken(s)
		if err != nil {
			return none.WithCause(err)
		}
		tokens = append(tokens, t)
		beside[t] = gitrepo.ID(c.Records[i])
	}
	return review.CheckTokensUnderLock(ctx, g.Repo, g.Policy, tokens, beside, now)
}

// SettlePushed writes the audit line of a pushed move that was made, from its
// claim, and removes the claim. A move without a claim of a push, or whose claim
// another process is settling, is none of this hook's. old "" stands for "not
// known" too, as Git gives it under the lock: then any claim that ends at next is
// meant.
func (g *Gate) SettlePushed(ref string, old, next gitrepo.ID) error {
	list, err := g.claims().list()
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.By != ByPreReceive || c.Ref != ref || c.New != next || old != "" && c.Old != old {
			continue
		}
		if err := g.settlePushed(c); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) settlePushed(c Claim) error {
	path := g.claims().path(c.Ref, c.Old, c.New)
	h, err := g.claims().tryHold(path)
	if h == nil || err != nil {
		return err
	}
	defer h.release()
	present, err := readClaim(path)
	if err != nil || present.ID() != c.ID() {
		return nil //nolint:nilerr // settled meanwhile
	}
	known := false
	err = g.audit().recent(func(e Entry) { known = known || e.Claim == c.ID() })
	if err != nil {
		return err
	}
	if known {
		return g.claims().remove(c.Ref, c.Old, c.New)
	}
	return g.settle(c, false)
}

// AuditRefusal writes the line of a move that a hook refused. That it cannot be
// written must not hide the refusal.
func (g *Gate) AuditRefusal(p Proposal, by string, cause error) {
	_ = g.audit().append(Entry{
		At: g.Now().UTC(), Who: p.Pusher.Name, By: by, Ref: p.Ref, Old: p.Old, New: p.New,
		Tokens: tokenStrings(p.Tokens), Verdict: VerdictRefused, Code: string(fault.CodeOf(cause)),
	})
}

// recentAudit is how much of the log's end a hook looks at, in bytes: some
// hundred lines, so that a push costs the same however long the log is.
const recentAudit = 256 << 10

// recent visits the newest lines, oldest first.
func (a auditLog) recent(visit func(Entry)) error {
	f, err := os.Open(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return auditFault(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return auditFault(err)
	}
	from := max(0, info.Size()-recentAudit)
	data, err := io.ReadAll(io.NewSectionReader(f, from, recentAudit))
	if err != nil {
		return auditFault(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, recentAudit)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Ref != "" {
			visit(e)
		}
	}
	return nil
}

// SeenMove is a guarded ref that does not stand where the last audited move left
// it: something moved it past every hook.
type SeenMove struct {
	Ref           string
	Last, Present gitrepo.ID
}

// SeeMoves compares guarded refs with the newest audited moves and writes down,
// once, each that differs. present has the refs' values, read before. A ref with
// a claim is on its way and is left alone; one without a recent audit line is not
// known.
//
// The order of reading matters: a move beside this one has its claim until its
// line is written, so whoever sees the new value and then no claim finds the line.
func (g *Gate) SeeMoves(ctx context.Context, present map[string]gitrepo.ID) ([]SeenMove, error) {
	under := map[string]bool{}
	if list, err := g.claims().list(); err == nil {
		for _, c := range list {
			under[c.Ref] = true
		}
	}
	last, seen := map[string]Entry{}, map[string]gitrepo.ID{}
	err := g.audit().recent(func(e Entry) {
		switch {
		case e.Verdict == VerdictSeen:
			seen[e.Ref] = e.New
		case e.Verdict == VerdictMoved && !comesBefore(e, last[e.Ref]):
			last[e.Ref] = e
		}
	})
	if err != nil {
		return nil, err
	}
	var out []SeenMove
	for _, ref := range slices.Sorted(maps.Keys(present)) {
		e, known := last[ref]
		if !known || e.New == present[ref] || under[ref] {
			continue
		}
		if value, err := g.Repo.ReadRef(ctx, ref); err != nil || value != present[ref] {
			continue // it is moving now
		}
		out = append(out, SeenMove{Ref: ref, Last: e.New, Present: present[ref]})
		if at, told := seen[ref]; !told || at != present[ref] {
			_ = g.audit().append(Entry{
				At: g.Now().UTC(), Who: "unknown", By: ByPreReceive, Ref: ref, Old: e.New, New: present[ref],
				Tokens: []string{}, Verdict: VerdictSeen, Code: string(fault.RefMoved),
			})
		}
	}
	return out, nil
}
