package securitydiff

import (
	"cmp"
	"context"
	"slices"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// Lint says what one surface holds: each server, what is broken, and what a
// reviewer should weigh although nothing changed. Lifecycle findings, which are
// about a change, are not among them.
func Lint(ctx context.Context, surface *decl.Surface, o Options) (*LintReport, error) {
	guard := &redact.Guard{}
	s := side{surface: surface, fingerprint: o.Fingerprinter, known: setOf(o.KnownValues)}
	changes := []Change{}
	names := &atoms{}
	for i := range surface.Cores {
		core := &surface.Cores[i]
		guard.Withhold(core.Agent.Outline.Values...)
		names.add(core.Dir)
		names.agent(&core.Agent)
		for j := range core.Files {
			f := &core.Files[j]
			w := s.of(f)
			guard.Withhold(w.withheld...)
			names.view(w)
			found := &verdicts{}
			if w.d == nil {
				judgeProblems(found, f)
			} else {
				judgeAfter(ctx, found, nil, w)
			}
			changes = append(changes, Change{
				Core: showCore(core.Dir), Path: w.sum.Path, AfterState: string(f.State), After: w.sum, Findings: found.sorted(),
			})
		}
	}
	for _, p := range surface.LFS {
		names.add(p)
		found := &verdicts{}
		found.add("lfs-pointer", Info, "")
		changes = append(changes, Change{Path: showPath(p), Findings: found.sorted()})
	}
	// The same guard, and the same two stages, as a comparison has.
	r := &Report{Changes: changes, Problems: problemsOf(surface), guard: guard}
	names.problems(surface.AllProblems())
	r.seal(names)
	if err := r.Check(); err != nil {
		return nil, err
	}
	out := &LintReport{
		Schema: LintSchema, Revision: o.HeadName, Valid: surface.Readable(),
		Servers: []LintServer{}, Problems: r.Problems, Findings: []LintFinding{},
	}
	for _, c := range r.Changes {
		if c.After != nil {
			out.Servers = append(out.Servers, LintServer{Core: c.Core, Path: c.Path, State: c.AfterState, Summary: c.After})
		}
		for _, f := range c.Findings {
			out.Findings = append(out.Findings, LintFinding{Path: c.Path, Finding: f})
		}
	}
	slices.SortStableFunc(out.Findings, func(a, b LintFinding) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Field, b.Field))
	})
	return out, nil
}
