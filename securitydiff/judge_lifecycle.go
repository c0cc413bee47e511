package securitydiff

import (
	"github.com/evolve-mcp/evolve/internal/decl"
)

// judgeLifecycle: servers that come, go, change their id, or are switched on.
func judgeLifecycle(v *verdicts, kind ChangeKind, before, after *view) {
	switch kind {
	case Added:
		v.add("server-added", High, "")
	case Removed:
		v.add("server-removed", Info, "")
		if holdsSecret(before) {
			v.add("secret-still-in-history", Medium, "")
		}
	case Renamed:
		v.add("server-id-changed", Medium, "server_id")
	case Modified, Formatting:
	}
	if before == nil || after == nil || before.d == nil || after.d == nil || before.d.Enabled == after.d.Enabled {
		return
	}
	if after.d.Enabled {
		v.add("server-enabled", High, "enabled")
	} else {
		v.add("server-disabled", Info, "enabled")
	}
}

// holdsSecret reports whether a side has a secret written out anywhere.
func holdsSecret(w *view) bool {
	if w == nil || w.d == nil {
		return w != nil && w.file != nil && len(w.env)+len(w.headers) > 0
	}
	for _, e := range append(append([]entryView{}, w.env...), w.headers...) {
		if secretLiteral(e) {
			return true
		}
	}
	for _, a := range append(append([]arg{}, w.args...), w.commandLine...) {
		if argSecretLiteral(a) {
			return true
		}
	}
	return w.url.hasSecret()
}

// judgePolicy: what decides whether a person is asked.
func judgePolicy(v *verdicts, b, a *decl.Declaration) {
	if a.ApprovalPolicy.Strictness() < b.ApprovalPolicy.Strictness() {
		severity := High
		if a.ApprovalPolicy == decl.ApprovalAuto {
			severity = Critical
		}
		v.add("approval-relaxed", severity, "approval_policy")
	}
	if a.Risk.Level() < b.Risk.Level() {
		v.add("risk-downgraded", High, "risk")
	}
	if b.Capability.Reveal() != a.Capability.Reveal() && b.ServerID == a.ServerID {
		v.add("capability-changed", High, "capability")
	}
	if a.Parallel && !b.Parallel {
		v.add("parallel-enabled", Medium, "supports_parallel_tool_calls")
	}
	if a.Timeout > b.Timeout {
		v.add("timeout-raised", Medium, "timeout_seconds")
	}
	if a.ConnectTimeout > b.ConnectTimeout {
		v.add("timeout-raised", Medium, "connect_timeout_seconds")
	}
	judgeFilters(v, b, a)
}

// judgeFilters: an empty include list is every tool, so it is the widest.
func judgeFilters(v *verdicts, b, a *decl.Declaration) {
	before, after := setOf(reveal(b.Include)), setOf(reveal(a.Include))
	widened := len(before) > 0 && len(after) == 0
	if len(before) > 0 {
		for f := range after {
			widened = widened || !before[f]
		}
	}
	if widened {
		v.add("filter-widened", High, "tools.include")
	}
	after = setOf(reveal(a.Exclude))
	for _, f := range reveal(b.Exclude) {
		if !after[f] {
			v.add("filter-widened", High, "tools.exclude")
		}
	}
}

func setOf(list []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range list {
		out[s] = true
	}
	return out
}
