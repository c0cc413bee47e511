package redact

import "regexp"

var stubName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// Name is what may be shown of a name.
func Name(r Raw) Shown {
	if stubName.MatchString(r.Reveal()) {
		return Shown(r.Reveal())
	}
	return "<name withheld>"
}
