package hooks

import (
	"context"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

// ReferenceTransaction runs under the refs' locks. In the phase "prepared" its
// error vetoes the transaction; in "committed" the moves are written down; other
// phases, also those that a newer Git may bring, are none of its business.
func ReferenceTransaction(ctx context.Context, in Input) error {
	phase := ""
	if len(in.Args) > 0 {
		phase = in.Args[0]
	}
	if phase != "prepared" && phase != "committed" {
		return nil
	}
	updates, err := readUpdates(in.Stdin)
	if err != nil {
		return err
	}
	updates = refsOnly(updates)
	if len(updates) == 0 || phase == "committed" && nothingClaimed(in) {
		return nil
	}
	var ask []string
	if phase == "prepared" {
		ask = askedUnderLock(in, updates)
	}
	return inRepo(ctx, in, len(ask) > 1, ask, func(h *hook) error { // records are objects
		for _, m := range h.guardedTargets(updates) {
			if phase == "committed" {
				err = h.gate.SettlePushed(m.full, m.old, m.new)
			} else {
				err = h.hold(ctx, m)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// askedUnderLock are the refs that the hook looks up before all else: those that
// move under a claim, and the records of the tokens that it names. They are asked
// for in a process of this hook's own, so under the lock too. Whether the claim
// holds is asked later.
func askedUnderLock(in Input, updates []update) []string {
	dir := plainGitDir(in)
	if dir == "" || promote.NothingClaimed(dir) {
		return nil
	}
	var refs []string
	for _, u := range updates {
		tokens, claimed := promote.ClaimedTokens(dir, u.full, u.old, u.new)
		if !claimed {
			continue
		}
		refs = append(refs, u.full)
		for _, t := range tokens {
			refs = append(refs, review.RecordRefs+t.Hex(), review.RevocationRefs+t.Hex())
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// refsOnly drops HEAD and the like: Git lists them beside the branch that moves.
func refsOnly(updates []update) []update {
	var out []update
	for _, u := range updates {
		if strings.HasPrefix(u.ref, "refs/") {
			u.full = u.ref
			out = append(out, u)
		}
	}
	return out
}

// guardedTargets keeps the guarded refs, each once. Where a symbolic ref moves
// another, Git lists the other too, so that only guarded names have to be looked
// at: one that symbolic-ref made symbolic is judged by its own name.
func (h *hook) guardedTargets(updates []update) []update {
	var out []update
	seen := map[string]bool{}
	for _, u := range updates {
		if h.guarded(u.full) && !seen[u.full] {
			seen[u.full] = true
			out = append(out, u)
		}
	}
	return out
}

// hold vetoes a move that nobody judged, and writes the veto down.
func (h *hook) hold(ctx context.Context, m update) error {
	present, err := h.repo.ReadRef(ctx, m.full) // in a fresh process, under the lock
	if err != nil {
		return err
	}
	if err = h.fits(ctx, m, present); err != nil {
		h.gate.AuditRefusal(promote.Proposal{
			Ref: m.full, Old: present, New: m.new, Pusher: h.pusher(ctx, nil),
		}, promote.ByTransaction, err)
	}
	return err
}

func (h *hook) fits(ctx context.Context, m update, present gitrepo.ID) error {
	ref := shown(m.full)
	switch {
	case m.symbolic:
		return fault.New(fault.RefProtected, "%s is guarded: it cannot become or stop being a symbolic ref", ref).
			WithHint("to move it: evolve promote REV --ref %s", review.ShellWord(bareName(m.full)))
	case m.new == "":
		return h.fitsDelete(m, present)
	case m.new == present:
		return nil // nothing moves; so pack-refs writes what it packs
	case m.old != "" && m.old != present:
		// Git compared the old value before, and can be wrong about it while
		// packed-refs is being rewritten.
		return fault.New(fault.RefMoved, "%s moved meanwhile", ref).WithHint("git fetch, then review and push again")
	}
	return h.gate.CheckClaim(ctx, m.full, present, m.new)
}

// fitsDelete vetoes every delete but two: that of a ref by the promotion that made
// it and now undoes itself, and that of a loose ref which pack-refs has just
// packed: then packed-refs holds the value, and is not locked, as it is while a
// ref is really deleted.
func (h *hook) fitsDelete(m update, present gitrepo.ID) error {
	if present == "" || h.gate.ClaimsUndo(m.full, present) {
		return nil
	}
	if m.old == present {
		packed, locked, err := h.repo.PackedValue(m.full)
		if err != nil {
			return err
		}
		if packed == present && !locked {
			return nil
		}
	}
	return fault.New(fault.RefProtected, "%s is guarded: it cannot be deleted", shown(m.full)).
		WithHint("to stop guarding it, the host runs: git config --unset-all evolve.guard '^%s$'", shown(bareName(m.full)))
}
