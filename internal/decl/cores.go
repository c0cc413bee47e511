package decl

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// findCores lists the directories of cores, sorted: the root and top-level
// directories that have agent.yaml or agent/mcp/, and what the host's patterns
// name.
func (l *loader) findCores(ctx context.Context, opt Options) ([]string, error) {
	root, err := l.dirs.list(ctx, "")
	if err != nil || root == nil {
		return nil, err
	}
	candidates := []string{""}
	for _, e := range root.entries {
		if e.Mode == ModeTree {
			candidates = append(candidates, e.Name)
		}
	}
	var cores []string
	for _, dir := range candidates {
		is, err := l.isCore(ctx, dir)
		if err != nil {
			return nil, err
		}
		if is {
			cores = append(cores, dir)
		}
	}
	for _, pattern := range opt.CorePatterns {
		more, err := l.expand(ctx, pattern)
		if err != nil {
			return nil, err
		}
		cores = append(cores, more...)
	}
	slices.Sort(cores)
	cores = slices.Compact(cores)
	l.strangeCores(cores)
	return cores, nil
}

// isCore reports whether a directory has agent.yaml or agent/mcp, or something
// that some system takes for one of them: a name that folds is reported by the
// core it would be part of.
func (l *loader) isCore(ctx context.Context, dir string) (bool, error) {
	here, err := l.dirs.list(ctx, dir)
	if err != nil || here == nil {
		return false, err
	}
	for _, e := range here.entries {
		switch {
		case e.Name == "agent.yaml", fold(e.Name) == "agent.yml", foldsTo(e.Name, "agent.yaml"):
			return true, nil
		case strings.Contains(e.Name, `\`) && strings.HasPrefix(fold(e.Name), `agent\`):
			return true, nil
		case e.Name == "agent", foldsTo(e.Name, "agent"):
			if e.Mode == ModeSymlink || e.Mode == ModeSubmodule {
				return true, nil
			}
			agent, err := l.dirs.list(ctx, join(dir, e.Name))
			if err != nil {
				return false, err
			}
			if agent != nil && slices.ContainsFunc(agent.entries, func(e Entry) bool { return fold(e.Name) == "mcp" }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// strangeCores reports top-level names that some system takes for a core's.
func (l *loader) strangeCores(cores []string) {
	root := l.dirs.seen[""]
	for _, core := range cores {
		if core == "" {
			continue
		}
		first, _, _ := strings.Cut(core, "/")
		l.strangeNames(root, first)
	}
}

// maxExpanded bounds the directories that one host pattern is tried on.
const maxExpanded = 10_000

// expand lists the directories that a pattern of evolve.core names: segments
// separated by slashes, in which * stands for any characters.
func (l *loader) expand(ctx context.Context, pattern string) ([]string, error) {
	at := []string{""}
	for _, segment := range strings.Split(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range at {
			here, err := l.dirs.list(ctx, dir)
			if err != nil {
				return nil, err
			}
			if here == nil {
				continue
			}
			for _, e := range here.entries {
				if e.Mode == ModeTree && matchSegment(segment, e.Name) {
					next = append(next, join(dir, e.Name))
				}
			}
		}
		if len(next) > maxExpanded {
			return nil, fault.New(fault.ConfigInvalid, "evolve.core %q names more than %d directories",
				safetext.Terminal(pattern), maxExpanded).WithHint("write a narrower pattern")
		}
		at = next
	}
	return at, nil
}

// matchSegment matches * only; every other character stands for itself.
func matchSegment(pattern, name string) bool {
	ok, err := path.Match(escapeClasses.Replace(pattern), name)
	return err == nil && ok
}

var escapeClasses = strings.NewReplacer(`\`, `\\`, "?", `\?`, "[", `\[`)

// UnknownCore is a path that looks like an agent's and belongs to no core.
type UnknownCore struct {
	Path redact.Shown // escaped
	Mend string       // the command that makes its directory a core
}

// UnknownCores lists files that differ between two trees, exist in the second,
// look like an agent's (agent.yaml, or agent/mcp/*.yaml), and belong to no core
// of the second: they would move without a review. before may be nil.
func UnknownCores(ctx context.Context, before, after Tree, opt Options) ([]UnknownCore, error) {
	l := &loader{dirs: directories{tree: after, seen: map[string]*directory{}}, s: Empty()}
	cores, err := l.findCores(ctx, opt)
	if err != nil {
		return nil, err
	}
	w := &unknownWalk{after: l.dirs, cores: map[string]bool{}}
	for _, c := range cores {
		w.cores[c] = true
	}
	if before != nil {
		w.before = &directories{tree: before, seen: map[string]*directory{}}
	}
	return w.found, w.walk(ctx, "", before != nil)
}

// maxUnknown is how many such paths are looked for: one is enough to refuse.
const maxUnknown = 20

type unknownWalk struct {
	before *directories
	after  directories
	cores  map[string]bool
	found  []UnknownCore
}

func (w *unknownWalk) walk(ctx context.Context, dir string, inBefore bool) error {
	here, err := w.after.list(ctx, dir)
	if err != nil || here == nil {
		return err
	}
	var old *directory
	if inBefore {
		if old, err = w.before.list(ctx, dir); err != nil {
			return err
		}
	}
	for _, e := range here.entries {
		was, had := old.entry(e.Name)
		if had && was.Mode == e.Mode && was.ID != "" && was.ID == e.ID || len(w.found) >= maxUnknown {
			continue
		}
		at := join(dir, e.Name)
		if core, looks := coreOf(at); looks && e.Mode != ModeTree && !w.cores[core] {
			w.found = append(w.found, UnknownCore{
				Path: shownPath(at),
				Mend: "if it is an agent's: git config --add evolve.core '" + string(shownPath(core)) + "'",
			})
		}
		if e.Mode == ModeTree {
			if err := w.walk(ctx, at, had && was.Mode == ModeTree); err != nil {
				return err
			}
			// Listings are needed once: do not hold a whole history of trees.
			delete(w.after.seen, at)
		}
	}
	return nil
}

// coreOf returns the core that a path would belong to if it is an agent's.
func coreOf(p string) (core string, looks bool) {
	name := p[strings.LastIndexByte(p, '/')+1:]
	dir := baseOf(p)
	if folded := fold(name); folded == "agent.yaml" || folded == "agent.yml" || foldsTo(name, "agent.yaml") {
		return dir, true
	}
	if yes, _ := looksLikeDeclaration(name); !yes {
		return "", false
	}
	parts := strings.Split(dir, "/")
	n := len(parts)
	if n < 2 || fold(parts[n-1]) != "mcp" || fold(parts[n-2]) != "agent" {
		return "", false
	}
	return strings.Join(parts[:n-2], "/"), true
}
