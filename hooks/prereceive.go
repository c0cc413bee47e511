package hooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

// PreReceive judges a push before any ref moves. Its error refuses the whole
// push. Every guarded move that may happen gets a claim, and every refused one a
// line of the audit log.
func PreReceive(ctx context.Context, in Input) error {
	updates, err := readUpdates(in.Stdin)
	if err != nil {
		return err
	}
	return inRepo(ctx, in, true, askedFirst(in, updates), func(h *hook) error {
		p := &push{
			hook: h, beside: map[review.Token]*review.Record{}, revoking: map[review.Token]bool{},
			namespace: getenv(in.Env, "GIT_NAMESPACE"),
		}
		p.pusher = h.pusher(ctx, updates)
		return p.judge(ctx, updates)
	})
}

// askedFirst are the refs that judging a push looks up before all else: those
// that it names, and the records of its tokens.
func askedFirst(in Input, updates []update) []string {
	var refs []string
	for _, u := range updates {
		refs = append(refs, inNamespace(getenv(in.Env, "GIT_NAMESPACE"), u.ref))
		if hex, ok := strings.CutPrefix(u.ref, review.RecordRefs); ok {
			refs = append(refs, review.RecordRefs+hex, review.RevocationRefs+hex)
		}
	}
	for _, t := range optionTokens(in.Env) {
		refs = append(refs, review.RecordRefs+t.Hex(), review.RevocationRefs+t.Hex())
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// push is one push being judged.
type push struct {
	*hook
	namespace string
	pusher    review.Pusher
	// beside are the records pushed with the branch, not yet refs; revoking are
	// the tokens that the push takes back.
	beside   map[review.Token]*review.Record
	revoking map[review.Token]bool
	claims   []promote.Claim
}

func (p *push) judge(ctx context.Context, updates []update) error {
	states, err := p.states(ctx, updates)
	if err != nil {
		return err
	}
	p.reportSeen(ctx, states)
	var moves []update
	for _, u := range recordsFirst(updates) {
		guarded, err := p.sort(ctx, u, states[u.full])
		if err != nil {
			return err
		}
		if guarded {
			moves = append(moves, u)
		}
	}
	if len(moves) > maxGuarded {
		return fault.New(fault.Unsupported, "more than %d guarded refs would move in one push", maxGuarded).WithHint("push them one by one")
	}
	targets := map[string]bool{}
	for _, u := range moves {
		state := states[u.full]
		if targets[state.Target] {
			return fault.New(fault.RefProtected, "%s is named twice in one push, perhaps through a symbolic ref", shown(bareName(state.Target))).
				WithHint("push it once, by its own name")
		}
		targets[state.Target] = true
		if err := p.move(ctx, u, state); err != nil {
			return err
		}
	}
	return p.leaveClaims(ctx)
}

// recordsFirst puts records in front: a revocation may come with its record.
func recordsFirst(updates []update) []update {
	records, rest := []update{}, []update{}
	for _, u := range updates {
		if strings.HasPrefix(bareName(u.full), review.RecordRefs) {
			records = append(records, u)
		} else {
			rest = append(rest, u)
		}
	}
	return append(records, rest...)
}

// leaveClaims settles what earlier pushes left, and then writes the claims, only
// now that the whole push was allowed.
func (p *push) leaveClaims(ctx context.Context) error {
	if len(p.claims) == 0 {
		return nil
	}
	refs := make([]string, 0, len(p.claims))
	for _, c := range p.claims {
		refs = append(refs, c.Ref)
	}
	if err := p.gate.Reconcile(ctx, refs...); err != nil {
		return err
	}
	for _, c := range p.claims {
		if err := p.gate.LeaveClaim(c); err != nil {
			return err
		}
	}
	return nil
}

// states looks up what the push's names, and the guarded ones, stand for here.
func (p *push) states(ctx context.Context, updates []update) (map[string]gitrepo.RefState, error) {
	names := make([]string, 0, len(updates))
	for i := range updates {
		u := &updates[i]
		if !strings.HasPrefix(u.ref, "refs/") {
			return nil, fault.New(fault.RefProtected, "%s is no ref that can be pushed to", shown(u.ref)).
				WithHint("push to a branch by its full name: git push REMOTE HEAD:refs/heads/NAME")
		}
		u.full = inNamespace(p.namespace, u.ref)
		names = append(names, u.full)
	}
	return p.repo.RefStates(ctx, append(names, p.guards()...))
}

// guards are the full names of the guarded refs in the push's namespace.
func (p *push) guards() []string {
	names := make([]string, 0, len(p.policy.Guard))
	for _, g := range p.policy.Guard {
		names = append(names, inNamespace(p.namespace, g))
	}
	return names
}

// sort looks at one line: records are checked, names of evolve's and Git's own
// refused. guarded says that the ref must be judged.
func (p *push) sort(ctx context.Context, u update, state gitrepo.RefState) (guarded bool, err error) {
	for _, name := range []string{bareName(u.full), bareName(state.Target)} {
		switch {
		case strings.HasPrefix(name, review.RecordRefs) && state.Target == u.full:
			return false, p.record(ctx, u, strings.TrimPrefix(name, review.RecordRefs))
		case strings.HasPrefix(name, review.RevocationRefs) && state.Target == u.full:
			return false, p.revocation(ctx, u, strings.TrimPrefix(name, review.RevocationRefs))
		case hasPrefix(name, evolvePrefix), hasPrefix(name, replacePrefix):
			return false, fault.New(fault.RefProtected, "%s cannot be pushed: it belongs to Git or evolve", shown(name)).
				WithHint("leave it out of the push; records go with evolve reviews push REMOTE")
		}
	}
	if p.guarded(u.full) && state.Target != u.full {
		return false, fault.New(fault.RefProtected, "%s is guarded and became a symbolic ref, which no push did", shown(bareName(u.full))).
			WithHint("the host looks at it: git symbolic-ref %s, and evolve doctor", review.ShellWord(u.full))
	}
	return p.guarded(state.Target), nil
}

// move judges one guarded ref.
func (p *push) move(ctx context.Context, u update, state gitrepo.RefState) error {
	proposal := promote.Proposal{
		Ref: bareName(state.Target), Old: u.old, New: u.new, Tokens: p.named(), Pusher: p.pusher, Beside: p.beside, Revoking: p.revoking,
	}
	err := p.decide(ctx, proposal, u, state)
	if err != nil {
		p.gate.AuditRefusal(proposal, promote.ByPreReceive, err)
		return forPusher(err, proposal)
	}
	return nil
}

func (p *push) decide(ctx context.Context, proposal promote.Proposal, u update, state gitrepo.RefState) (err error) {
	if state.Value != u.old {
		return fault.New(fault.RefMoved, "%s is not where the push says it is", shown(proposal.Ref)).
			WithHint("git fetch, then review and push again")
	}
	if proposal.New, err = p.peel(ctx, u.new); err != nil {
		return err
	}
	if proposal.Old, err = p.peel(ctx, u.old); err != nil {
		return err
	}
	j, err := p.gate.JudgePush(ctx, proposal)
	if err != nil {
		return err
	}
	p.claims = append(p.claims, p.gate.NewClaim(j, promote.ByPreReceive, state.Target, u.old, u.new))
	return nil
}

// peel follows annotated tags, which a guarded ref outside refs/heads/ may hold.
func (p *push) peel(ctx context.Context, id gitrepo.ID) (gitrepo.ID, error) {
	if id == "" {
		return "", nil
	}
	if _, err := p.repo.ReadCommit(ctx, id); err == nil {
		return id, nil // as nearly always
	}
	return p.repo.PeelCommit(ctx, id)
}

// named are the tokens of the push: those whose records come beside the branch,
// and those of push options. Tokens that the push itself revokes are none.
func (p *push) named() []review.Token {
	beside := slices.SortedFunc(maps.Keys(p.beside), func(a, b review.Token) int { return strings.Compare(a.Hex(), b.Hex()) })
	return slices.DeleteFunc(append(beside, optionTokens(p.in.Env)...), func(t review.Token) bool { return p.revoking[t] })
}

// reportSeen tells of guarded refs that something moved past every hook. It is
// told, not refused: the audit log keeps it, and every further move is judged
// from where the ref is.
func (p *push) reportSeen(ctx context.Context, states map[string]gitrepo.RefState) {
	present := map[string]gitrepo.ID{}
	for _, name := range p.guards() {
		present[name] = states[name].Value
		if states[name].Target != name {
			_, _ = fmt.Fprintf(p.in.Stderr, "evolve: warning: %s is guarded and became a symbolic ref; the host's evolve doctor says more\n", shown(name))
		}
	}
	seen, err := p.gate.SeeMoves(ctx, present)
	if err != nil {
		return
	}
	for _, s := range seen {
		_, _ = fmt.Fprintf(p.in.Stderr, "evolve: warning: ref_moved: something moved %s past the gate; the host's evolve doctor says more\n", shown(s.Ref))
	}
}
