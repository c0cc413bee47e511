package render

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Widths of a line, in columns.
const (
	standardWidth = 80
	leastWidth    = 40
)

// TextOptions say how text is laid out.
type TextOptions struct {
	// Width is the number of columns that no line exceeds: 80 if 0, else at
	// least 40.
	Width int
	// Color adds SGR codes. The caller decides; nothing here looks at a terminal.
	Color bool
	// Verbose adds whole ids and the effective values of both sides.
	Verbose bool
	// ASCII writes -> for the arrow, for terminals that do not read UTF-8.
	ASCII bool
}

// page is text that is being laid out.
type page struct {
	buf   bytes.Buffer
	width int
	color bool
	arrow run
}

func newPage(o TextOptions) *page {
	p := &page{width: o.Width, color: o.Color, arrow: run{{"\u2192", plain}}}
	if o.ASCII {
		p.arrow = run{{"->", plain}}
	}
	if p.width == 0 {
		p.width = standardWidth
	}
	p.width = max(p.width, leastWidth)
	return p
}

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

// run is spans side by side: a word that is kept together, or a line.
type run []span

// styled is the one way for text from outside into a page. It escapes, so that
// nothing that reaches the layout can be other than printable ASCII.
func styled(text string, s style) run { return run{{safetext.Terminal(text), s}} }

// width is in columns. The arrow is the one character that is not ASCII, and
// takes one column too.
func (r run) width() int {
	n := 0
	for _, s := range r {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// words makes a run of each word of a sentence.
func words(sentence string, s style) []run {
	fields := strings.Fields(sentence)
	runs := make([]run, len(fields))
	for i, f := range fields {
		runs[i] = styled(f, s)
	}
	return runs
}

// wrap lays words out with single spaces between them, in lines of at most room
// columns. The first line has -used columns more: used is never positive. A
// word that is wider than a line is broken.
func wrap(room, used int, list ...run) []run {
	var lines []run
	var line run
	col := used
	for _, word := range list {
		for _, piece := range chop(word, room) {
			n := piece.width()
			switch {
			case len(line) == 0 && col+n <= room:
			case len(line) > 0 && col+1+n <= room:
				line, col = append(line, span{" ", plain}), col+1
			default:
				lines, line, col = append(lines, line), nil, 0
			}
			line, col = append(line, piece...), col+n
		}
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}

// chop breaks a run into pieces of room columns. All but our arrow, which is
// never part of a wide run, is ASCII.
func chop(r run, room int) []run {
	if r.width() <= room {
		return []run{r}
	}
	var pieces []run
	var piece run
	left := room
	for _, s := range r {
		for s.text != "" {
			n := min(left, len(s.text))
			piece = append(piece, span{s.text[:n], s.style})
			s.text, left = s.text[n:], left-n
			if left == 0 {
				pieces, piece, left = append(pieces, piece), nil, room
			}
		}
	}
	if len(piece) > 0 {
		pieces = append(pieces, piece)
	}
	return pieces
}

// blank ends a block.
func (p *page) blank() { p.buf.WriteByte('\n') }

// line writes one line that starts at column indent.
func (p *page) line(indent int, r run) {
	if r.width() > 0 {
		p.buf.WriteString(strings.Repeat(" ", indent))
	}
	for _, s := range r {
		p.style(s)
	}
	p.buf.WriteByte('\n')
}

// prose writes words that start at column first and go on at column hang.
func (p *page) prose(first, hang int, list ...run) {
	for i, r := range wrap(p.width-hang, first-hang, list...) {
		if i == 0 {
			p.line(first, r)
		} else {
			p.line(hang, r)
		}
	}
}

// row is one row of a two-column table. The value is laid out when it is known
// how much room it has.
type row struct {
	label run
	value func(room int) []run
}

// plainRow is a row whose value is words.
func plainRow(label string, list ...run) row {
	return row{styled(label, plain), func(room int) []run { return wrap(room, 0, list...) }}
}

// table writes rows with their values in one column, which is as far right as
// the widest label asks for, but not beyond two fifths of the page. A wider
// label has its value below it.
func (p *page) table(indent int, rows []row) {
	const gap = 2
	widest, most := 0, p.width*2/5
	for _, r := range rows {
		if n := r.label.width(); n <= most {
			widest = max(widest, n)
		}
	}
	column := indent + widest + gap
	for _, r := range rows {
		lines := r.value(p.width - column)
		if n := r.label.width(); n <= widest && len(lines) > 0 {
			pad := span{strings.Repeat(" ", widest-n+gap), plain}
			p.line(indent, append(append(append(run{}, r.label...), pad), lines[0]...))
			lines = lines[1:]
		} else {
			p.prose(indent, indent, r.label)
		}
		for _, l := range lines {
			p.line(column, l)
		}
	}
}
