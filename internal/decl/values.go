package decl

import (
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// entry is one key of a mapping with its value.
type entry struct {
	key   *yaml.Node
	value *yaml.Node
	field redact.Shown
}

// entries lists the usable keys of a mapping in file order: scalars that are
// no merge key. Of a key given twice the first counts; structure reported it.
// A node that is no mapping is reported.
func (r *reader) entries(n *yaml.Node, field redact.Shown) []entry {
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, field, "a map of names to values")
		return nil
	}
	var out []entry
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
			continue
		}
		seen[key.Value] = true
		out = append(out, entry{key, n.Content[i+1], child(field, key)})
	}
	return out
}

// wrongType reports a node of the wrong kind. An alias was reported already.
func (r *reader) wrongType(n *yaml.Node, field redact.Shown, want string) {
	if n.Kind != yaml.AliasNode {
		r.problem(n.Line, field, WrongType, "this must be "+want)
	}
}

// str reads a string. A plain scalar that readers disagree on is reported.
func (r *reader) str(n *yaml.Node, field redact.Shown) (redact.Raw, bool) {
	if n.Kind != yaml.ScalarNode {
		r.wrongType(n, field, "a string")
		return redact.Raw{}, false
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 && ambiguous(n.Value) {
		r.problem(n.Line, field, AmbiguousScalar, "YAML readers disagree on this plain value; put it in quotes")
		return redact.Raw{}, false
	}
	return redact.NewRaw(n.Value), true
}

// strs reads a list of strings.
func (r *reader) strs(n *yaml.Node, field redact.Shown) []redact.Raw {
	if n.Kind != yaml.SequenceNode {
		r.wrongType(n, field, "a list of strings")
		return nil
	}
	out := make([]redact.Raw, 0, len(n.Content))
	for i, item := range n.Content {
		if v, ok := r.str(item, at(field, i)); ok {
			out = append(out, v)
		}
	}
	return out
}

// pairs reads a map of strings, sorted by name.
func (r *reader) pairs(n *yaml.Node, field redact.Shown) []Pair {
	var out []Pair
	for _, e := range r.entries(n, field) {
		if v, ok := r.str(e.value, e.field); ok {
			out = append(out, Pair{redact.NewRaw(e.key.Value), v})
		}
	}
	slices.SortFunc(out, func(a, b Pair) int { return a.Name.Compare(b.Name) })
	return out
}

// boolean reads true or false.
func (r *reader) boolean(n *yaml.Node, field redact.Shown, into *bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.Value != "true" && n.Value != "false" {
		r.wrongType(n, field, "true or false, without quotes")
		return
	}
	*into = n.Value == "true"
}

// seconds reads a number of seconds above 0 and at most MaxTimeout.
func (r *reader) seconds(n *yaml.Node, field redact.Shown, into *float64) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || !plainNumber.MatchString(n.Value) {
		r.wrongType(n, field, "a number of seconds in decimal, such as 30 or 0.5")
		return
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || v <= 0 || v > MaxTimeout {
		r.problem(n.Line, field, ValueInvalid, "a timeout must be more than 0 and at most 86400 seconds")
		return
	}
	*into = v
}

// enum reads one of a few words.
func enum[T ~string](r *reader, n *yaml.Node, field redact.Shown, into *T, words ...T) {
	v, ok := r.str(n, field)
	if !ok {
		return
	}
	if !slices.Contains(words, T(v.Reveal())) {
		list := ""
		for i, w := range words {
			if i > 0 {
				list += ", "
			}
			list += string(w)
		}
		r.problem(n.Line, field, ValueInvalid, "this must be one of: "+list)
		return
	}
	*into = T(v.Reveal())
}

func (r *reader) text(n *yaml.Node, field redact.Shown, into *redact.Raw) {
	if v, ok := r.str(n, field); ok {
		*into = v
	}
}
