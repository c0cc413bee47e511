package decl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

// TestALongWayToAFileIsFollowed: a path is as good as its shortest spelling,
// however long it is written.
func TestALongWayToAFileIsFollowed(t *testing.T) {
	for _, way := range []string{"./", ".//", "x/../", "server/../", "server/./../", "/", `.\\`} {
		launched := func(code string) *decl.Surface {
			path := strings.Repeat(way, 400) + "server/main.js"
			return load(t, decltest.Files(map[string]string{
				"agent/mcp/a.yaml": `{command: node, args: ["` + path + `"]}`, "server/main.js": code,
			}))
		}
		deltas, err := decl.Compare(t.Context(), launched("1"), launched("2"))
		if err != nil || len(deltas) == 0 {
			t.Errorf("%q: %v %v", way, deltas, err)
		}
	}
}

// TestManyNamesThatFoldAlike: a crowd of names that some file system takes for
// the launched one does not push the launched one out of the review.
func TestManyNamesThatFoldAlike(t *testing.T) {
	const least, most = 50, 127
	for _, n := range []int{least, most} {
		tree := map[string]string{"agent/mcp/a.yaml": "command: node\nargs: [services/main.js]\n", "services/main.js": "1"}
		for i := 1; i <= n; i++ {
			name := []byte("services")
			for bit := range name {
				if i>>bit&1 == 1 {
					name[bit] -= 'a' - 'A'
				}
			}
			tree[string(name)+"/main.js"] = "1"
		}
		before := load(t, decltest.Files(tree))
		if full := slices.Equal(codes(before), []string{" surface_too_large"}); full != (n == most) {
			t.Errorf("%d names: %q", n, codes(before))
		}
		tree["services/main.js"] = "2"
		deltas, err := decl.Compare(t.Context(), before, load(t, decltest.Files(tree)))
		if n == least && (err != nil || len(deltas) == 0) {
			t.Errorf("%d names: %v %v", n, deltas, err)
		}
	}
}
