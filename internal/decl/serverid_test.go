package decl_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// TestServerIDsAreOfOneForm holds the reader against the form in the documentation.
func TestServerIDsAreOfOneForm(t *testing.T) {
	form := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	random := rand.New(rand.NewPCG(5, 6))
	letters := []string{"a", "Z", "0", "9", ".", "-", "_", "__", " ", "/", "é", "\n", "\x00", "@", "[", "`", "{", strings.Repeat("x", 62), ""}
	good := 0
	for range 20_000 {
		id := ""
		for range random.IntN(5) {
			id += letters[random.IntN(len(letters))]
		}
		want := form.MatchString(id) && !strings.Contains(id, "__")
		if got := decl.ValidServerID(id); got != want {
			t.Fatalf("%q is an id: %v, want %v", id, got, want)
		}
		if want {
			good++
		}
	}
	if good < 1000 {
		t.Errorf("only %d ids were good", good)
	}
}
