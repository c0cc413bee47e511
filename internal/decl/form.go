package decl

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"gopkg.in/yaml.v3"
)

// form is the canonical form of the nodes of agent.yaml that are bound, one
// digest each. Comments, order of keys and layout do not change it; a value, its
// type, and whether it is quoted do.
type form map[string]Digest

// formNodes are the bound nodes: a path of one or two keys.
var formNodes = [][]string{{"runtime"}, {"slots", "mcp"}, {"capabilities"}, {"approval"}, {"tools", "metadata"}}

func formOf(root *yaml.Node) form {
	out := form{}
	for _, path := range formNodes {
		n, name := root, ""
		for _, key := range path {
			if n = lookup(n, key); n == nil {
				break
			}
			name = join(name, key)
		}
		if n == nil {
			continue
		}
		h := sha256.New()
		writeNode(h, n, 0)
		out[name] = Digest(h.Sum(nil))
	}
	return out
}

// writeNode frames a node. Too deep and aliased nodes, which are errors anyway,
// are written as a mark.
func writeNode(h hash.Hash, n *yaml.Node, depth int) {
	if depth > MaxDepth || n.Kind == yaml.AliasNode {
		frame(h, "cut")
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		digests := map[string]Digest{}
		keys := []string{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, seen := digests[key]; !seen {
				keys = append(keys, key)
			}
			sub := sha256.New()
			before := digests[key]
			sub.Write(before[:])
			writeNode(sub, n.Content[i+1], depth+1)
			digests[key] = Digest(sub.Sum(nil))
		}
		frame(h, "map")
		writeSorted(h, keys, digests)
	case yaml.SequenceNode:
		frame(h, "list")
		writeCount(h, len(n.Content))
		for _, item := range n.Content {
			writeNode(h, item, depth+1)
		}
	default:
		frame(h, "scalar", n.Tag, n.Value)
	}
}

// frame writes strings so that no two lists of strings give the same bytes.
func frame(h hash.Hash, parts ...string) {
	for _, p := range parts {
		writeCount(h, len(p))
		_, _ = h.Write([]byte(p))
	}
}

func writeCount(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n)) //nolint:gosec // a length is never negative
	_, _ = h.Write(b[:])
}
