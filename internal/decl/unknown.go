package decl

import (
	"context"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
)

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
	w := &unknownWalk{after: l.dirs, cores: map[string]bool{}, plain: map[plainPair]bool{}}
	for _, c := range cores {
		w.cores[c] = true
	}
	if before != nil {
		w.before = &directories{tree: before, seen: map[string]*directory{}}
	}
	_, err = w.walk(ctx, "", before != nil)
	return w.found, err
}

// maxUnknown is how many such paths are looked for: one is enough to refuse.
const maxUnknown = 20

type unknownWalk struct {
	before *directories
	after  directories
	cores  map[string]bool
	found  []UnknownCore
	// plain are pairs of directories below which nothing looks like a core's, by
	// their ids and what they are in: a tree that is there many times is walked
	// once.
	plain map[plainPair]bool
}

type plainPair struct{ before, after, in string }

// walk looks below a directory. It reports whether anything there looks like a
// core's, also if it belongs to a known one.
func (w *unknownWalk) walk(ctx context.Context, dir string, inBefore bool) (found bool, err error) {
	if len(dir) > maxPathBytes {
		return true, tooDeep(dir)
	}
	here, err := w.after.list(ctx, dir)
	if err != nil || here == nil {
		return false, err
	}
	var old *directory
	if inBefore {
		if old, err = w.before.list(ctx, dir); err != nil {
			return false, err
		}
	}
	for _, e := range here.entries {
		was, had := old.entry(e.Name)
		if had && was.Mode == e.Mode && was.ID != "" && was.ID == e.ID {
			continue
		}
		looks, err := w.entry(ctx, join(dir, e.Name), e, was)
		if err != nil {
			return found, err
		}
		found = found || looks
	}
	return found, nil
}

// entry looks at one entry that differs; was is what was there before.
func (w *unknownWalk) entry(ctx context.Context, at string, e, was Entry) (bool, error) {
	if e.Mode != ModeTree {
		core, looks := coreOf(at)
		if looks && !w.cores[core] && len(w.found) < maxUnknown {
			w.found = append(w.found, unknownCore(at, core))
		}
		return looks, nil
	}
	pair := plainPair{before: "none", after: e.ID, in: agentSuffix(at)}
	if was.Mode == ModeTree {
		pair.before = was.ID
	}
	if pair.after != "" && w.plain[pair] || len(w.found) >= maxUnknown {
		return false, nil
	}
	looks, err := w.walk(ctx, at, was.Mode == ModeTree)
	if err == nil && !looks {
		w.plain[pair] = true
	}
	// Listings are needed once: do not hold a whole history of trees.
	delete(w.after.seen, at)
	if w.before != nil {
		delete(w.before.seen, at)
	}
	return looks, err
}

func unknownCore(at, core string) UnknownCore {
	quoted := "'" + strings.ReplaceAll(string(shownPath(core)), "'", `'\''`) + "'"
	return UnknownCore{Path: shownPath(at), Mend: "if it is an agent's: git config --add evolve.core " + quoted}
}

// agentSuffix is the part of a path that decides whether files below it look
// like a core's.
func agentSuffix(at string) string {
	parts := strings.Split(at, "/")
	for i := range parts {
		parts[i] = fold(parts[i])
	}
	n := len(parts)
	switch {
	case parts[n-1] == "agent":
		return "agent"
	case n > 1 && parts[n-2] == "agent" && parts[n-1] == "mcp":
		return "agent/mcp"
	}
	return ""
}

// maxPathBytes is the longest path that is walked: Linux opens none longer
// (PATH_MAX).
const maxPathBytes = 4096

func tooDeep(dir string) error {
	first, _, _ := strings.Cut(dir, "/")
	return fault.New(fault.SurfaceUnreadable, "a path in %s has more than %d bytes", shownPath(first), maxPathBytes).
		WithHint("no system can check it out; remove it from the commit")
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
