package runtime

import (
	"regexp"
	"slices"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// reference is the only interpolation there is.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// referring returns the pairs whose references are resolved: env of a child,
// headers of a request.
func referring(d *decl.Declaration) []decl.Pair {
	if d.Transport == decl.StreamableHTTP {
		return d.Headers
	}
	return d.Env
}

// references lists the names that a declaration refers to, as far as they may
// be shown.
func references(d *decl.Declaration) []string {
	var out []string
	for _, pair := range referring(d) {
		for _, m := range reference.FindAllStringSubmatch(pair.Value.Reveal(), -1) {
			shown, _ := redact.Show(redact.EnvName, redact.NewRaw(m[1]))
			out = append(out, string(shown))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resolved is one pair with its references replaced.
type resolved struct{ name, value string }

// resolve replaces the references of a declaration. missing is the name, fit to
// be shown, of the first one that is unset or empty.
func resolve(d *decl.Declaration, lookup func(string) (string, bool)) (out []resolved, missing string) {
	for _, pair := range referring(d) {
		value := reference.ReplaceAllStringFunc(pair.Value.Reveal(), func(ref string) string {
			name := ref[2 : len(ref)-1]
			text, _ := lookup(name)
			if text == "" && missing == "" {
				shown, _ := redact.Show(redact.EnvName, redact.NewRaw(name))
				missing = string(shown)
			}
			return text
		})
		out = append(out, resolved{pair.Name.Reveal(), value})
	}
	if missing != "" {
		return nil, missing
	}
	return out, ""
}
