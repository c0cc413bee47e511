package decl

import "slices"

// Paths lists every file that a core's review covers and that exists: its
// agent.yaml, its declarations, what they launch, what runners read, and
// attributes; sorted, from the repository's root. Only regular files are
// listed.
func (s *Surface) Paths(core string) []string {
	set := map[string]bool{}
	for _, c := range s.Cores {
		if c.Dir != core {
			continue
		}
		if c.Agent.Present {
			set[c.Agent.Path] = true
		}
		for _, f := range c.Files {
			if f.Mode.IsRegular() {
				set[f.Path] = true
			}
		}
	}
	for key, it := range s.items {
		if key.Core != core {
			continue
		}
		for _, f := range it.files {
			if f.entry.Mode.IsRegular() {
				set[f.Path] = true
			}
		}
	}
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
