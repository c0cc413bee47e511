package hooks

import "context"

// PostReceive writes the audit lines of the moves that a push made, where no
// reference-transaction hook did. Nothing can be refused any more: an error is
// for the host's eyes, and the next push or doctor settles what is left.
func PostReceive(ctx context.Context, in Input) error {
	updates, err := readUpdates(in.Stdin)
	if err != nil {
		return err
	}
	return inRepo(ctx, in, func(h *hook) error {
		names := make([]string, 0, len(updates))
		for i := range updates {
			updates[i].full = inNamespace(getenv(in.Env, "GIT_NAMESPACE"), updates[i].ref)
			names = append(names, updates[i].full)
		}
		states, err := h.repo.RefStates(ctx, names)
		if err != nil {
			return err
		}
		for _, u := range updates {
			target := states[u.full].Target
			if !h.guarded(target) || u.new == "" {
				continue
			}
			if err := h.gate.SettlePushed(target, u.old, u.new); err != nil {
				return err
			}
		}
		return nil
	})
}
