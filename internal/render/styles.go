package render

import "github.com/evolve-mcp/evolve/securitydiff"

// style is how a piece of text stands out. Colour never carries a meaning of its
// own: the words beside it, or the marks below it, say the same.
type style int

const (
	plain style = iota
	heading
	critical
	high
	medium
	low
	good
	added
	removed
	addedPart   // what differs inside an added text
	removedPart // what differs inside a removed text
)

// sgr are the parameters of Select Graphic Rendition (ECMA-48, 8.3.117), from
// the eight colours that every theme redefines to be readable. "" is none.
var sgr = [...]string{
	plain:       "",
	heading:     "1",
	critical:    "1;31",
	high:        "31",
	medium:      "33",
	low:         "36",
	good:        "32",
	added:       "32",
	removed:     "31",
	addedPart:   "1;4;32",
	removedPart: "1;4;31",
}

// severities are ours, worst first; their order is their rank.
var severities = []securitydiff.Severity{
	securitydiff.Critical, securitydiff.High, securitydiff.Medium, securitydiff.Low, securitydiff.Info,
}

// severityStyles has no entry for Info, which is plain.
var severityStyles = map[securitydiff.Severity]style{
	securitydiff.Critical: critical,
	securitydiff.High:     high,
	securitydiff.Medium:   medium,
	securitydiff.Low:      low,
}

func (s style) part() bool { return s == addedPart || s == removedPart }

func (p *page) style(s span) {
	code := sgr[s.style]
	if !p.color || code == "" || s.text == "" {
		p.buf.WriteString(s.text)
		return
	}
	p.buf.WriteString("\x1b[" + code + "m" + s.text + "\x1b[0m")
}
