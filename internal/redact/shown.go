package redact

import (
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// What stands in the place of a text that may not be shown.
const (
	// Withheld stands for a name that failed its grammar or the screen.
	Withheld Shown = "<name withheld>"
	// Redacted stands for a value whose position or name says it is secret.
	Redacted Shown = "<redacted>"
)

// Escape makes text that was judged harmless printable: what is outside
// printable ASCII comes out as \u{hex}. It hides nothing.
func Escape(s string) Shown { return Shown(safetext.Terminal(s)) }

// lengthClasses are the classes of LengthClass by their least length.
var lengthClasses = []struct {
	least int
	name  string
}{{64, "64+"}, {32, "32-63"}, {16, "16-31"}, {8, "8-15"}, {1, "1-7"}}

// LengthClass says about how long a value of n bytes is: 0, 1-7, 8-15, 16-31,
// 32-63 or 64+. An exact length would narrow a guess.
func LengthClass(n int) string {
	for _, c := range lengthClasses {
		if n >= c.least {
			return c.name
		}
	}
	return "0"
}
