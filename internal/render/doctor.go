package render

import (
	"cmp"
	"fmt"
	"io"
)

var statusStyles = map[CheckStatus]style{
	StatusOK:   good,
	StatusWarn: medium,
	StatusFail: critical,
}

// DoctorText writes the checks, each with what mends it, and then the settings
// with where they come from.
func DoctorText(w io.Writer, d Doctor, o TextOptions) error {
	p := newPage(o)
	checks := make([]row, 0, len(d.Checks))
	for _, c := range d.Checks {
		// Pads to the longest status.
		label := styled(fmt.Sprintf("%-4s", c.Status), statusStyles[c.Status])
		checks = append(checks, row{label, func(room int) []run {
			lines := wrap(room, 0, append(words(c.ID+":", heading), words(c.Message, plain)...)...)
			if c.Mend != "" {
				lines = append(lines, wrap(room, 0, words("to mend: "+c.Mend, plain)...)...)
			}
			return lines
		}})
	}
	p.table(0, checks)
	if len(d.Checks) > 0 && len(d.Settings) > 0 {
		p.blank()
	}
	settings := make([]row, 0, len(d.Settings))
	for _, s := range d.Settings {
		if s.Value == "" && s.Origin == "default" {
			settings = append(settings, plainRow(s.Name, styled("(not set)", plain)))
			continue
		}
		settings = append(settings, plainRow(s.Name, styled(cmp.Or(s.Value, "(empty)"), heading), styled("("+s.Origin+")", plain)))
	}
	p.table(0, settings)
	return emit(w, p.buf.Bytes())
}
