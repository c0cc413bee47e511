package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// Text writes a report for a person who has to decide: a headline, then the
// changes, worst first, each with its findings before its fields, and last the
// problems that are in the way of a promotion.
func Text(w io.Writer, r *securitydiff.Report, o TextOptions) error {
	if err := guard(r); err != nil {
		return err
	}
	p := newPage(o)
	p.headline(r)
	if o.Verbose {
		p.table(0, []row{plainRow("base", styled(r.Base, plain)), plainRow("head", styled(r.Head, plain))})
	}
	for _, c := range r.Changes {
		p.blank()
		p.change(c, o.Verbose)
	}
	if len(r.Problems) > 0 {
		p.blank()
		p.prose(0, 2, words("These must be mended before this can be promoted:", heading)...)
		p.problems(r.Problems)
	}
	return emit(w, p.buf.Bytes())
}

func (p *page) headline(r *securitydiff.Report) {
	list := []run{styled(short(r.Base)+".."+short(r.Head)+":", heading)}
	if len(r.Changes) == 0 {
		list = append(list, words("no changes,", heading)...)
	} else {
		list = append(list, words(count(len(r.Changes), "change")+",", heading)...)
		list = append(list, verdict(worstOf(r.Changes))...)
	}
	if n := len(r.Problems); n > 0 {
		list = append(list, words(count(n, "problem")+",", critical)...)
	}
	switch {
	case !r.Readable:
		list = append(list, words("cannot be promoted", critical)...)
	case r.RequiresReview:
		list = append(list, words("review required", heading)...)
	default:
		list = append(list, words("no review required", heading)...)
	}
	p.prose(0, 2, list...)
}

// verdict names the worst severity in a headline.
func verdict(worst securitydiff.Severity) []run {
	if worst == "" {
		return words("no findings,", heading)
	}
	return append(words("worst severity", heading),
		join(styled(string(worst), severityStyles[worst]), styled(",", heading)))
}

// short abbreviates a commit id and leaves a word such as worktree alone.
func short(revision string) string {
	const digits, least = 12, 40
	if len(revision) >= least {
		return revision[:digits]
	}
	return revision
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// rank is 0 for the worst severity; what we do not know comes last.
func rank(s securitydiff.Severity) int {
	if i := slices.Index(severities, s); i >= 0 {
		return i
	}
	return len(severities)
}

// worst is the worst severity among findings, "" if there are none.
func worst(list []securitydiff.Finding) securitydiff.Severity {
	var w securitydiff.Severity
	for _, f := range list {
		if w == "" || rank(f.Severity) < rank(w) {
			w = f.Severity
		}
	}
	return w
}

func worstOf(changes []securitydiff.Change) securitydiff.Severity {
	var all []securitydiff.Finding
	for _, c := range changes {
		all = append(all, c.Findings...)
	}
	return worst(all)
}

// subjects say what a changed file is, where it is no declaration.
var subjects = map[securitydiff.Subject]string{
	securitydiff.SubjectAgent:      "settings of the agent",
	securitydiff.SubjectLaunched:   "launched by a server",
	securitydiff.SubjectRunner:     "read by a package runner",
	securitydiff.SubjectAttributes: "attributes of reviewed files",
}

var changeStyles = map[securitydiff.ChangeKind]style{
	securitydiff.Added:   added,
	securitydiff.Removed: removed,
}

func (p *page) change(c securitydiff.Change, verbose bool) {
	var title []run
	if c.OldPath != "" {
		title = append(title, styled(string(c.OldPath), heading), p.arrow)
	}
	kind := styled(string(c.Change), cmp.Or(changeStyles[c.Change], heading))
	title = append(title, p.entitled(styled(string(c.Path), heading), kind)...)
	if s := subjects[c.Subject]; s != "" {
		title = append(title, words("("+s+")", plain)...)
	}
	p.prose(0, 2, title...)
	p.findings(c.Findings)
	whole := c.Change == securitydiff.Added || c.Change == securitydiff.Removed
	p.table(2, slices.Concat(p.states(c), p.now(c, whole), p.fields(c.Fields, whole)))
	p.sides(c, whole, verbose)
}

// entitled sets a word off from a path by two spaces, where both fit on a line.
func (p *page) entitled(path, word run) []run {
	if r := join(path, run{{"  ", plain}}, word); r.width() <= p.width-2 {
		return []run{r}
	}
	return []run{path, word}
}

// findings are listed in one column for the whole report, so that the eye finds
// the severities.
func (p *page) findings(list []securitydiff.Finding) {
	rows := make([]row, 0, len(list))
	for _, f := range list {
		id := f.ID + ":"
		if f.Field != "" {
			id = f.ID + " (" + string(f.Field) + "):"
		}
		text := append(words(id, heading), words(f.Message, plain)...)
		// Pads to the longest severity.
		label := fmt.Sprintf("%-8s", f.Severity)
		rows = append(rows, row{
			styled(label, severityStyles[f.Severity]),
			func(room int) []run { return wrap(room, 0, text...) },
		})
	}
	p.table(2, rows)
}

// now is what a changed server runs or where it is after the change, so that a
// changed argument is read among the others.
func (p *page) now(c securitydiff.Change, whole bool) []row {
	s := c.After
	switch {
	case whole || s == nil || c.Change == securitydiff.Formatting:
		return nil
	case s.URL != "":
		return []row{plainRow("reaches", styled(string(s.URL), plain))}
	case s.Command == "":
		return nil
	}
	line := []run{styled(string(s.Command), plain)}
	for _, a := range s.Args {
		line = append(line, styled(string(a), plain))
	}
	return []row{{styled("runs", plain), func(room int) []run { return wrap(room, 2, line...) }}}
}

// states tells of sides that could not be read.
func (p *page) states(c securitydiff.Change) []row {
	const valid = "valid"
	before, after := cmp.Or(c.BeforeState, valid), cmp.Or(c.AfterState, valid)
	switch {
	case before == valid && after == valid:
		return nil
	case c.BeforeState == "" || c.AfterState == "" || before == after:
		return []row{plainRow("state", styled(c.BeforeState+c.AfterState, critical))}
	}
	return []row{{styled("state", plain), func(room int) []run {
		return p.pair(redact.Shown(before), redact.Shown(after), room)
	}}}
}

// fields are the changed fields. Of a server that is new or gone, those that
// its summary shows anyway are left out.
func (p *page) fields(list []securitydiff.Field, whole bool) []row {
	var rows []row
	for _, f := range list {
		if whole && f.Note == "" && summarised(string(f.Name)) {
			continue
		}
		rows = append(rows, row{styled(string(f.Name), plain), func(room int) []run { return p.field(f, room) }})
	}
	return rows
}

func (p *page) field(f securitydiff.Field, room int) []run {
	note := words(f.Note, plain)
	if f.Note != "" {
		note = words("("+f.Note+")", plain)
	}
	kind, value, st := "added", f.After, added
	switch {
	case f.Change == securitydiff.FieldRemoved:
		kind, value, st = "removed", f.Before, removed
	case f.Change == securitydiff.FieldAdded:
	case f.Before != f.After:
		return append(p.pair(orHidden(f.Before), orHidden(f.After), room), wrap(room, 0, note...)...)
	case f.Before != "":
		return wrap(room, 0, append([]run{styled(string(f.Before), plain)}, changedNote(note)...)...)
	case f.Note != "":
		return wrap(room, 0, words(f.Note, plain)...)
	default:
		return wrap(room, 0, words("value changed", plain)...)
	}
	list := words(kind, plain)
	if value != "" {
		list = append(list, styled(string(value), st))
	}
	return wrap(room, 0, append(list, note...)...)
}

// orHidden stands for a side of which nothing may be shown.
func orHidden(s redact.Shown) redact.Shown { return cmp.Or(s, "(not shown)") }

// changedNote says that a value changed although it is shown alike.
func changedNote(note []run) []run {
	if len(note) > 0 {
		return note
	}
	return words("(value changed)", plain)
}

// problems are "path:line: field: code: message", as compilers write them.
func (p *page) problems(list []securitydiff.Problem) {
	for _, b := range list {
		place := cmp.Or(string(b.Path), ".") + ":" // "" is the whole surface
		if b.Line > 0 {
			place += strconv.Itoa(b.Line) + ":"
		}
		text := []run{styled(place, plain)}
		if b.Field != "" {
			text = append(text, styled(string(b.Field)+":", plain))
		}
		text = append(text, styled(b.Code+":", critical))
		p.prose(0, 2, append(text, words(b.Message, plain)...)...)
	}
}
