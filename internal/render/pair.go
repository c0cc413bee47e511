package render

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// pair shows a value before and after, with what differs inside it marked: by
// underlining in colour, else by carets on the line below. Carets stand on
// their own line because any mark inside the text could also be the text.
//
//	name  @acme/docs-mcp@1.4.2 -> @acme/docs-mcp@1.5.2
//	                       ^                       ^
//
// If both do not fit on one line, or one of them spells an arrow itself, each
// has its own, or as many as it needs.
func (p *page) pair(before, after redact.Shown, room int) []run {
	b, a := securitydiff.Mark(before, after)
	left, right := marked(b, removed, removedPart), marked(a, added, addedPart)
	if !anyUnchanged(b) && !anyUnchanged(a) {
		// Nothing is marked where everything differs.
		left, right = styled(string(before), removed), styled(string(after), added)
	}
	fits := left.width()+right.width()+p.arrow.width()+2 <= room
	if fits && !p.spellsArrow(before) && !p.spellsArrow(after) {
		return p.underlined(join(left, run{{" ", plain}}, p.arrow, run{{" ", plain}}, right))
	}
	const sign = 2
	var lines []run
	for _, side := range []struct {
		sign string
		text run
	}{{"- ", left}, {"+ ", right}} {
		for i, piece := range chop(side.text, room-sign) {
			lead := "  "
			if i == 0 {
				lead = side.sign
			}
			lines = append(lines, p.underlined(join(run{{lead, plain}}, piece))...)
		}
	}
	return lines
}

func (p *page) spellsArrow(s redact.Shown) bool {
	return strings.Contains(string(s), p.arrow[0].text)
}

func anyUnchanged(list []securitydiff.Segment) bool {
	for _, s := range list {
		if !s.Changed {
			return true
		}
	}
	return false
}

func marked(list []securitydiff.Segment, same, changed style) run {
	var r run
	for _, s := range list {
		st := same
		if s.Changed {
			st = changed
		}
		r = append(r, styled(string(s.Text), st)...)
	}
	return r
}

func join(runs ...run) run {
	var all run
	for _, r := range runs {
		all = append(all, r...)
	}
	return all
}

// underlined is a line and, where there is no colour to mark its changed parts,
// a line of carets.
func (p *page) underlined(line run) []run {
	if p.color {
		return []run{line}
	}
	var b strings.Builder
	for _, s := range line {
		mark := " "
		if s.style.part() {
			mark = "^"
		}
		b.WriteString(strings.Repeat(mark, run{s}.width()))
	}
	marks := strings.TrimRight(b.String(), " ")
	if marks == "" {
		return []run{line}
	}
	return []run{line, {{marks, plain}}}
}
