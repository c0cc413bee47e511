package redact

import (
	"fmt"
	"strings"
	"testing"
)

func TestNeedlesAreFoundWhereverTheyStand(t *testing.T) {
	t.Parallel()
	var n Needles
	if n.In("anything at all") {
		t.Error("the zero value found something")
	}
	long := strings.Repeat("x", maxNeedle) + "tail"
	for _, s := range []string{"short", "12345678", "12345678-longer", long} {
		n.Add(s)
	}
	for text, want := range map[string]bool{
		"": false, "short": false, "1234567": false, "12345678": true, "a12345678b": true,
		"12345678-long": true, long: true, long[:maxNeedle]: true, long[:maxNeedle-1]: false,
	} {
		if got := n.In(text); got != want {
			t.Errorf("In(%q) = %v", text, got)
		}
	}
}

// TestAlikeValuesAreFound: values that begin alike, of every length, are told
// apart; a search does not look at each of them.
func TestAlikeValuesAreFound(t *testing.T) {
	t.Parallel()
	g := &Guard{}
	for i := range 50_000 {
		g.Withhold(NewRaw(fmt.Sprintf("AAAAAAAA%d_", i)))
	}
	for i := range 50_000 {
		if !g.Finds(fmt.Sprintf("x AAAAAAAA%d_ y", i)) {
			t.Fatalf("value %d is not found", i)
		}
	}
	if g.Finds("AAAAAAAA50000_" + strings.Repeat("A", 100_000)) {
		t.Error("a value was found that nobody withheld")
	}
}
