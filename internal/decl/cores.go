package decl

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
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
