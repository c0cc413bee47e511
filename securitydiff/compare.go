package securitydiff

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/internal/workers"
)

// Options say how a report is made.
type Options struct {
	// BaseName and HeadName are commit ids, "absent", or "worktree".
	BaseName, HeadName string
	// Fingerprinter stands for withheld values.
	Fingerprinter redact.Fingerprinter
	// KnownValues are texts that the host allows to be shown as they are
	// (evolve.knownValue).
	KnownValues []string
}

// Compare makes the report on what changes from one surface to another.
// Errors are those of reading content that ids did not prove equal.
func Compare(ctx context.Context, before, after *decl.Surface, o Options) (*Report, error) {
	deltas, err := decl.Compare(ctx, before, after)
	if err != nil {
		return nil, err
	}
	c := newComparison(ctx, before, after, o)
	r := &Report{
		Schema: Schema, Base: o.BaseName, Head: o.HeadName, RequiresReview: len(deltas) > 0,
		Readable: after.Readable(), Changes: []Change{}, Problems: problemsOf(after), guard: c.guard,
	}
	if err := c.changes(deltas); err != nil {
		return nil, err
	}
	r.Changes = append(r.Changes, c.out...)
	c.names.problems(after.AllProblems())
	r.seal(&c.names)
	slices.SortStableFunc(r.Changes, compareChanges) // after seal, which can add a finding
	return r, nil
}

// comparison builds the changes of a report.
type comparison struct {
	ctx           context.Context //nolint:containedctx // lives for one call of Compare
	before, after *decl.Surface
	old, new      side
	guard         *redact.Guard
	// files are the declarations of both sides by core and path.
	oldFiles, newFiles map[[2]string]*decl.File
	out                []Change
	names              atoms
}

func newComparison(ctx context.Context, before, after *decl.Surface, o Options) *comparison {
	c := &comparison{ctx: ctx, before: before, after: after, guard: &redact.Guard{}}
	known := setOf(o.KnownValues)
	c.old = side{surface: before, fingerprint: o.Fingerprinter, known: known}
	c.new = side{surface: after, fingerprint: o.Fingerprinter, known: known}
	c.oldFiles, c.newFiles = filesOf(before), filesOf(after)
	return c
}

func filesOf(s *decl.Surface) map[[2]string]*decl.File {
	out := map[[2]string]*decl.File{}
	for i := range s.Cores {
		core := &s.Cores[i]
		for j := range core.Files {
			out[[2]string{core.Dir, core.Files[j].Path}] = &core.Files[j]
		}
	}
	return out
}

// changes turns the items that differ into changes, in their order.
func (c *comparison) changes(deltas []decl.Delta) error {
	pairs := c.pairs(deltas)
	c.look(pairs)
	for _, d := range deltas {
		switch d.Key.Kind {
		case decl.KindDeclaration:
			if p := pairs[d.Key]; p != nil {
				c.declaration(p)
			}
		case decl.KindAgent:
			c.agent(d)
		default:
			if err := c.bound(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// pair is one declaration before and after; one of them may be nil.
type pair struct {
	core          string
	before, after *decl.File
	b, a          *view
	change        Change
}

// pairs are the declarations that differ, by the item that a change is told of: a
// renamed one by its new name.
func (c *comparison) pairs(deltas []decl.Delta) map[decl.ItemKey]*pair {
	renamed := c.renames(deltas)
	away := map[[2]string]bool{}
	for _, from := range renamed {
		away[from] = true
	}
	out := map[decl.ItemKey]*pair{}
	for _, d := range deltas {
		key := [2]string{d.Key.Core, d.Key.Path}
		if d.Key.Kind != decl.KindDeclaration || away[key] {
			continue
		}
		before := key
		if from, ok := renamed[key]; ok {
			before = from
		}
		out[d.Key] = &pair{core: d.Key.Core, before: c.oldFiles[before], after: c.newFiles[key]}
	}
	return out
}

// look judges the pairs, beside each other: none depends on another.
func (c *comparison) look(pairs map[decl.ItemKey]*pair) {
	work := make(chan *pair, len(pairs))
	for _, p := range pairs {
		work <- p
	}
	close(work)
	var judges workers.Group
	for range min(runtime.GOMAXPROCS(0), len(pairs)) {
		judges.Go(func() {
			for p := range work {
				p.b, p.a = c.old.of(p.before), c.new.of(p.after)
				p.change = p.judge(c.ctx)
			}
		})
	}
	judges.Wait()
}

// renames pairs a removed declaration with an added one of equal bytes.
func (c *comparison) renames(deltas []decl.Delta) map[[2]string][2]string {
	gone := map[[32]byte][][2]string{}
	var zero decl.Digest
	for _, d := range deltas {
		key := [2]string{d.Key.Core, d.Key.Path}
		if f := c.oldFiles[key]; d.Key.Kind == decl.KindDeclaration && d.After == zero && f != nil && f.Mode.IsRegular() {
			gone[f.SHA256] = append(gone[f.SHA256], key)
		}
	}
	out := map[[2]string][2]string{}
	for _, d := range deltas {
		key := [2]string{d.Key.Core, d.Key.Path}
		f := c.newFiles[key]
		if d.Key.Kind != decl.KindDeclaration || d.Before != zero || f == nil || !f.Mode.IsRegular() {
			continue
		}
		if from := gone[f.SHA256]; len(from) > 0 && c.oldFiles[from[0]].Mode == f.Mode {
			out[key] = from[0]
			gone[f.SHA256] = from[1:]
		}
	}
	return out
}

// declaration adds the change of one declaration.
func (c *comparison) declaration(p *pair) {
	c.names.add(p.core)
	for _, v := range []*view{p.b, p.a} {
		if v != nil {
			c.guard.Withhold(v.withheld...)
			c.names.view(v)
		}
	}
	c.out = append(c.out, p.change)
}

// judge is the change of one declaration: what it is, its fields and findings.
func (p *pair) judge(ctx context.Context) Change {
	ch := Change{Core: showCore(p.core), Subject: SubjectDeclaration, Fields: []Field{}, Findings: []Finding{}}
	b, a := p.b, p.a
	if b != nil {
		ch.Before, ch.BeforeState = b.sum, string(p.before.State)
		ch.ServerID, ch.Path = b.sum.ServerID, b.sum.Path
	}
	if a != nil {
		ch.After, ch.AfterState = a.sum, string(p.after.State)
		ch.ServerID, ch.Path = a.sum.ServerID, a.sum.Path
	}
	switch {
	case b == nil:
		ch.Change = Added
	case a == nil:
		ch.Change = Removed
	case p.before.Path != p.after.Path:
		ch.Change, ch.OldPath = Renamed, b.sum.Path
	default:
		ch.Change = Modified
	}
	if b != nil && a != nil && b.d != nil && a.d != nil {
		ch.Fields = append(ch.Fields, fieldsOf(b, a)...)
		if ch.Change == Modified && len(ch.Fields) == 0 {
			ch.Change = Formatting
			if p.before.Mode != p.after.Mode {
				ch.Change = Modified
				ch.Fields = append(ch.Fields, Field{Name: "mode", Change: FieldChanged, Before: modeText(p.before.Mode), After: modeText(p.after.Mode)})
			}
		}
	} else if a != nil || b != nil {
		ch.Fields = append(ch.Fields, outlineFields(b, a)...)
	}
	ch.Findings = judge(ctx, ch.Change, b, a)
	return ch
}

func modeText(m decl.Mode) redact.Shown {
	if m == decl.ModeExecutable {
		return "executable"
	}
	return "regular"
}

// outlineFields compares names where a side could not be read.
func outlineFields(b, a *view) []Field {
	l := &fieldList{}
	if b == nil || a == nil {
		return nil
	}
	for _, part := range []struct {
		name string
		b, a []entryView
	}{{"env", b.env, a.env}, {"headers", b.headers, a.headers}} {
		for _, e := range part.b {
			if !slices.ContainsFunc(part.a, func(o entryView) bool { return o.name == e.name }) {
				l.add(Field{Name: redact.Shown(part.name) + "." + e.shown, Change: FieldRemoved})
			}
		}
		for _, e := range part.a {
			if !slices.ContainsFunc(part.b, func(o entryView) bool { return o.name == e.name }) {
				l.add(Field{Name: redact.Shown(part.name) + "." + e.shown, Change: FieldAdded})
			} else {
				l.add(Field{Name: redact.Shown(part.name) + "." + e.shown, Change: FieldChanged, Note: "cannot be compared"})
			}
		}
	}
	return l.list
}

// judge runs every family of rules on one declaration's change.
func judge(ctx context.Context, kind ChangeKind, b, a *view) []Finding {
	v := &verdicts{}
	judgeLifecycle(v, kind, b, a)
	if a != nil && a.d == nil {
		judgeProblems(v, a.file)
	}
	if a == nil || a.d == nil || kind == Formatting {
		return v.sorted()
	}
	if b != nil && b.d != nil {
		judgePolicy(v, b.d, a.d)
	}
	if kind == Renamed {
		return v.sorted()
	}
	judgeAfter(ctx, v, b, a)
	return v.sorted()
}

// judgeAfter runs the rules that need a valid after side only. They meet a before
// side that has a declaration, or none.
func judgeAfter(ctx context.Context, v *verdicts, b, a *view) {
	if b != nil && b.d == nil {
		b = nil // what could not be read is nothing to compare with
	}
	var old []arg
	if b != nil {
		old = b.args
	}
	args := pairArgs(old, a.args)
	judgeText(v, b, a)
	judgeNames(v, a)
	judgeCommand(v, b, a, args)
	judgePackages(v, b, a)
	judgeContainer(v, b, a)
	judgeEnv(v, b, a, args)
	judgeNetwork(ctx, v, b, a, args)
	judgeSecrets(v, b, a, args)
	v.dropVague()
}

func showCore(dir string) redact.Shown {
	if dir == "" {
		return "."
	}
	return showPath(dir)
}

// problemsOf lists a surface's broken rules, ready to print.
func problemsOf(s *decl.Surface) []Problem {
	out := []Problem{}
	for _, p := range s.AllProblems() {
		path := redact.Shown("")
		if p.Path != "" {
			path = showPath(p.Path)
		}
		out = append(out, Problem{Path: path, Line: p.Line, Field: p.Field, Code: string(p.Code), Message: p.Message})
	}
	return out
}

// compareChanges orders changes: worst finding first, then by path.
func compareChanges(a, b Change) int {
	return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.Core, b.Core), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Subject, b.Subject))
}

func (c *Change) weight() int {
	const none = 9
	if len(c.Findings) == 0 {
		return none
	}
	return rank[c.Findings[0].Severity]
}
