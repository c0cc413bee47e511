package validation

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// findCore returns the core of that name or, for "", the only one that has
// enabled servers: where there are several, none is passed over unseen.
func findCore(s *decl.Surface, name string) (*decl.Core, error) {
	if problems := s.AllProblems(); len(problems) > 0 {
		return nil, fault.New(fault.DeclarationInvalid, "%s (%d in all)", problems[0], len(problems)).
			WithHint("evolve lint lists every problem; nothing was started")
	}
	var running []*decl.Core
	for i := range s.Cores {
		c := &s.Cores[i]
		if name == coreName(c.Dir) {
			return c, nil
		}
		if enabled(c) {
			running = append(running, c)
		}
	}
	switch {
	case name != "":
		return nil, fault.New(fault.Usage, "there is no core %s; there are: %s", safetext.Terminal(name), coreNames(pointers(s.Cores))).
			WithHint(`name one of them: --core DIR ("." is the repository's root)`)
	case len(running) == 1:
		return running[0], nil
	case len(running) > 1:
		return nil, fault.New(fault.Usage, "%d cores have servers: %s", len(running), coreNames(running)).
			WithHint("name the one to run: --core DIR")
	case len(s.Cores) > 0:
		return &s.Cores[0], nil
	}
	return &decl.Core{}, nil
}

func enabled(c *decl.Core) bool {
	for _, f := range c.Files {
		if f.Decl != nil && f.Decl.Enabled {
			return true
		}
	}
	return false
}

func pointers(list []decl.Core) []*decl.Core {
	out := make([]*decl.Core, 0, len(list))
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// coreNames lists cores for a sentence.
func coreNames(list []*decl.Core) string {
	const most = 10
	var names []string
	for i, c := range list {
		if i == most {
			names = append(names, "...")
			break
		}
		names = append(names, safetext.Terminal(coreName(c.Dir)))
	}
	return strings.Join(names, ", ")
}
