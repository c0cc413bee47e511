package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// oversized is from how many bytes a value is too long to review.
const oversized = 4096

// judgeText: characters that deceive an eye or a terminal, in every text of the
// after side that differs from the before side.
func judgeText(v *verdicts, before, after *view) {
	old := map[string]bool{}
	if before != nil {
		for _, t := range texts(before) {
			old[t.text] = true
		}
	}
	for _, t := range texts(after) {
		if old[t.text] {
			continue
		}
		looks := redact.Look(t.text)
		if looks.Control && !t.multiline {
			v.add("control-characters", Critical, t.field)
		}
		if looks.Bidi || looks.Invisible {
			v.add("bidi-control", Critical, t.field)
		}
		if looks.LookAlike && t.isName {
			severity := High
			if t.isHost {
				severity = Critical
			}
			v.add("homoglyph", severity, t.field)
		}
		if len(t.text) > oversized {
			v.add("oversized-value", Medium, t.field)
		}
	}
}

// textAt is one text of a declaration with its field.
type textAt struct {
	field          redact.Shown
	text           string
	isName, isHost bool
	multiline      bool
}

func texts(w *view) []textAt {
	d := w.d
	out := []textAt{
		{field: "command", text: d.Command.Reveal(), isName: true},
		{field: "cwd", text: d.Cwd.Reveal(), isName: true},
		{field: "capability", text: d.Capability.Reveal(), isName: true},
	}
	if d.URL.Len() > 0 {
		out = append(out, textAt{field: "url", text: d.URL.Reveal()})
		out = append(out, textAt{field: "url.host", text: w.url.host, isName: true, isHost: true})
	}
	for i, a := range w.args {
		out = append(out, textAt{field: argField(i, &w.args[i]), text: a.raw, isName: true})
	}
	for _, list := range []struct {
		name    string
		entries []entryView
	}{{"env", w.env}, {"headers", w.headers}} {
		for _, e := range list.entries {
			field := redact.Shown(list.name) + "." + e.shown
			out = append(out, textAt{field: field, text: e.name, isName: true}, textAt{field: field, text: e.value, multiline: true})
		}
	}
	for _, f := range append(reveal(d.Include), reveal(d.Exclude)...) {
		out = append(out, textAt{field: "tools", text: f, isName: true})
	}
	for i := range out {
		// A foreign letter within a secret value is nobody's business.
		if strings.HasPrefix(string(out[i].field), "args") && strings.Contains(out[i].text, " ") {
			out[i].isName = false
		}
	}
	return out
}

// judgeNames: names that are not shown.
func judgeNames(v *verdicts, w *view) {
	check := func(field redact.Shown, shown redact.Shown) {
		if shown == redact.Withheld {
			v.add("withheld-name", Medium, field)
		}
	}
	check("command", w.command)
	check("cwd", w.sum.Cwd)
	check("capability", w.sum.CallCapability)
	if w.d.URL.Len() > 0 {
		check("url.host", w.url.shownHost)
	}
	for _, e := range w.env {
		check("env", e.shown)
	}
	for _, e := range w.headers {
		check("headers", e.shown)
	}
}
