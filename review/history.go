package review

import (
	"context"
	"maps"
	"slices"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// maxSteps bounds how many changes between a token's base and its ref are looked
// at, each by reading two surfaces.
const maxSteps = 2000

// unused checks that the token's change was not made before. History says so: a
// commit between the token's base and the ref that changed an item the token
// names made that change, or another that the reviewer did not see. Where history
// cannot say, what the host wrote down is asked.
func (v *verifier) unused(ctx context.Context, r *Record) error {
	if r.Statement.Base() == Absent || v.policy.AllowNonFastForward {
		spent, err := v.opt.SpentAbsent(r.Token)
		if err != nil {
			return err
		}
		if spent {
			return v.used(r, "it moved the ref before")
		}
	}
	if r.Statement.Base() == Absent {
		return nil
	}
	base := gitrepo.ID(r.Statement.Base())
	if base == v.move.Old {
		return nil
	}
	steps, err := v.steps(ctx, r, base)
	if err != nil {
		return err
	}
	if len(steps) > maxSteps {
		return v.stale(r, "is from so long ago that history cannot be searched for its change")
	}
	named := map[decl.ItemKey]bool{}
	for _, key := range r.Statement.Keys() {
		named[key] = true
	}
	for _, step := range steps {
		changed, err := v.changes(ctx, step, named)
		if err != nil {
			return err
		}
		if changed {
			return v.used(r, "an item that it names was changed since its base, in "+brief(step.Commit))
		}
	}
	return nil
}

func (v *verifier) used(r *Record, said string) error {
	if v.opt.ExplainUsed != nil {
		if known := v.opt.ExplainUsed(r.Token); known != "" {
			said = known
		}
	}
	return fault.New(fault.TokenUsed, "%s is used up on %s: %s", r.Token.short(), safetext.Terminal(v.move.Ref), said).
		WithHint("%s", v.again())
}

// steps lists the steps between base and the ref that can have changed a named
// item.
func (v *verifier) steps(ctx context.Context, r *Record, base gitrepo.ID) ([]gitrepo.Step, error) {
	paths := map[string]bool{}
	for _, line := range r.Statement.body.Predicate.Change {
		key := line.key()
		paths[key.Path] = true
		// What makes the core a core, and decides where its declarations are.
		paths[below(key.Core, "agent.yaml")] = true
		paths[below(key.Core, "agent")] = true
		if key.Kind == decl.KindAgent && (line.Before == Absent || line.After == Absent) {
			paths[key.Core] = true // a directory that a host pattern makes a core
		}
	}
	for _, commit := range []gitrepo.ID{base, v.move.Old} {
		s, err := v.walk.at(ctx, commit)
		if err != nil {
			return nil, err
		}
		for _, c := range s.Cores {
			paths[c.Agent.Path] = true
			if c.Agent.MCPRoot != "" {
				paths[c.Agent.MCPRoot] = true
			}
		}
	}
	return v.repo.ChangingSteps(ctx, base, v.move.Old, slices.Sorted(maps.Keys(paths)))
}

func below(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// changes reports whether a step changed a named item.
func (v *verifier) changes(ctx context.Context, step gitrepo.Step, named map[decl.ItemKey]bool) (bool, error) {
	before, err := v.walk.at(ctx, step.Parent)
	if err != nil {
		return false, err
	}
	after, err := v.walk.at(ctx, step.Commit)
	if err != nil {
		return false, err
	}
	deltas, err := decl.Compare(ctx, before, after)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(deltas, func(d decl.Delta) bool { return named[d.Key] }), nil
}

// surfaces reads surfaces and remembers the last few: a step often begins where
// the one before it ended.
type surfaces struct {
	read func(context.Context, gitrepo.ID) (*decl.Surface, error)
	last []knownSurface // newest last
}

type knownSurface struct {
	commit  gitrepo.ID
	surface *decl.Surface
}

func (s *surfaces) at(ctx context.Context, commit gitrepo.ID) (*decl.Surface, error) {
	for _, k := range s.last {
		if k.commit == commit {
			return k.surface, nil
		}
	}
	surface, err := s.read(ctx, commit)
	if err != nil {
		return nil, err
	}
	const most = 4
	if len(s.last) >= most {
		s.last = s.last[1:]
	}
	s.last = append(s.last, knownSurface{commit, surface})
	return surface, nil
}
