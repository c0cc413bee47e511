package decl

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

// ambiguousWords are plain scalars that YAML 1.1 or a 1.2 core schema reads as
// a boolean or null, and another reader as text. "true" and "false" are not
// among them: every reader agrees on those, and hosts write them back alike.
var ambiguousWords = map[string]bool{
	"": true, "~": true, "null": true,
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
	"=": true, "<<": true,
	".inf": true, "-.inf": true, "+.inf": true, ".nan": true,
}

// maxExactDigits is how many decimal digits a binary64 number always keeps
// (IEEE 754, DBL_DIG); a longer number comes back changed from some readers.
const maxExactDigits = 15

var (
	canonicalInt     = pattern.New(`^(0|-?[1-9][0-9]*)$`)
	canonicalDecimal = pattern.New(`^-?(0|[1-9][0-9]*)\.([0-9]*[1-9])$`)
	// numeric matches what some YAML reader takes for a number: digits with
	// signs, underscores, exponents, radix prefixes, sexagesimal colons.
	numeric = pattern.New(`^[-+]?(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|` +
		`[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|` +
		`([0-9][0-9_]*)?\.?[0-9_]*([eE][-+]?[0-9]+)?)$`)
	// date matches the timestamps of the YAML type repository.
	date = pattern.New(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)
)

// ambiguous reports whether YAML readers disagree on a plain scalar where a
// string is wanted.
func ambiguous(plain string) bool {
	lower := strings.ToLower(plain)
	switch {
	case plain == "true", plain == "false":
		return false
	case lower == "true", lower == "false", ambiguousWords[lower]:
		return true
	case strings.IndexByte("-+._eE0123456789", plain[0]) < 0: // as every form below begins
		return false
	case date.MatchString(plain):
		return true
	case !strings.ContainsAny(plain, "0123456789"):
		return false
	case canonicalInt.MatchString(plain), canonicalDecimal.MatchString(plain):
		return len(strings.TrimLeft(strings.Map(digitsOnly, plain), "0")) > maxExactDigits
	}
	return numeric.MatchString(plain)
}

func digitsOnly(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

// plainNumber is the form in which numbers are accepted: decimal, no sign, no
// exponent.
var plainNumber = pattern.New(`^[0-9]{1,7}(\.[0-9]{1,6})?$`)
