package securitydiff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// fieldList collects what changed, in the order of Summary's fields.
type fieldList struct{ list []Field }

func (l *fieldList) add(f Field) { l.list = append(l.list, f) }

// scalar compares two values that are shown as they are.
func (l *fieldList) scalar(name, before, after redact.Shown) {
	if before != after {
		l.add(Field{Name: name, Change: change(before, after), Before: before, After: after})
	}
}

func change(before, after redact.Shown) FieldChange {
	switch {
	case before == "":
		return FieldAdded
	case after == "":
		return FieldRemoved
	}
	return FieldChanged
}

// fieldsOf compares two views of valid declarations field by field.
func fieldsOf(before, after *view) []Field {
	l := &fieldList{}
	b, a := before.sum, after.sum
	l.scalar("enabled", boolText(b.Enabled), boolText(a.Enabled))
	l.scalar("transport", redact.Shown(b.Transport), redact.Shown(a.Transport))
	l.scalar("risk", redact.Shown(b.Risk), redact.Shown(a.Risk))
	l.scalar("approval_policy", redact.Shown(b.ApprovalPolicy), redact.Shown(a.ApprovalPolicy))
	l.hidden("capability", b.CallCapability, a.CallCapability, before.d.Capability, after.d.Capability)
	l.hidden("command", b.Command, a.Command, before.d.Command, after.d.Command)
	l.args(before.args, after.args)
	l.hidden("cwd", b.Cwd, a.Cwd, before.d.Cwd, after.d.Cwd)
	l.entries("env", before.env, after.env)
	l.url(before, after)
	l.entries("headers", before.headers, after.headers)
	l.filters("tools.include", b.Tools.Include, a.Tools.Include, before.d.Include, after.d.Include)
	l.filters("tools.exclude", b.Tools.Exclude, a.Tools.Exclude, before.d.Exclude, after.d.Exclude)
	l.scalar("connect_timeout_seconds", number(b.ConnectTimeoutSeconds), number(a.ConnectTimeoutSeconds))
	l.scalar("timeout_seconds", number(b.TimeoutSeconds), number(a.TimeoutSeconds))
	l.scalar("supports_parallel_tool_calls", boolText(b.SupportsParallelToolCalls), boolText(a.SupportsParallelToolCalls))
	return l.list
}

func boolText(b bool) redact.Shown { return redact.Shown(strconv.FormatBool(b)) }

func number(f float64) redact.Shown { return redact.Shown(strconv.FormatFloat(f, 'f', -1, 64)) }

// hidden compares values that may be withheld: equal placeholders of different
// values still show as a change.
func (l *fieldList) hidden(name redact.Shown, b, a redact.Shown, rawB, rawA redact.Raw) {
	if rawB.Reveal() == rawA.Reveal() {
		return
	}
	f := Field{Name: name, Change: change(presence(rawB), presence(rawA)), Before: b, After: a}
	if b == a {
		f.Note = "value changed"
	}
	l.add(f)
}

func presence(r redact.Raw) redact.Shown {
	if r.Len() == 0 {
		return ""
	}
	return "set"
}

func (l *fieldList) filters(name redact.Shown, b, a []redact.Shown, rawB, rawA []redact.Raw) {
	if slices.EqualFunc(rawB, rawA, redact.Raw.Equal) {
		return
	}
	f := Field{Name: name, Change: FieldChanged, Before: joinShown(b), After: joinShown(a)}
	if len(b) == 0 {
		f.Before = "(every tool)"
	}
	if len(a) == 0 {
		f.After = "(every tool)"
	}
	if strings.HasSuffix(string(name), "exclude") {
		if len(b) == 0 {
			f.Before = "(none)"
		}
		if len(a) == 0 {
			f.After = "(none)"
		}
	}
	if f.Before == f.After {
		f.Note = "value changed"
	}
	l.add(f)
}

func joinShown(list []redact.Shown) redact.Shown {
	parts := make([]string, 0, len(list))
	for _, s := range list {
		parts = append(parts, string(s))
	}
	return redact.Shown(strings.Join(parts, ", "))
}

// entries compares env or headers by name.
func (l *fieldList) entries(field string, before, after []entryView) {
	for _, p := range pairEntries(before, after) {
		shown := p.shown()
		f := Field{Name: redact.Shown(field) + "." + shown}
		switch {
		case p.before == nil:
			f.Change, f.After = FieldAdded, p.after.said()
		case p.after == nil:
			f.Change, f.Before = FieldRemoved, p.before.said()
		case p.before.value == p.after.value:
			continue
		default:
			f.Change, f.Before, f.After = FieldChanged, p.before.said(), p.after.said()
			if f.Before == f.After {
				f.Note = "value changed"
			}
		}
		l.add(f)
	}
}

// entryPair is one name on both sides.
type entryPair struct{ before, after *entryView }

func (p entryPair) shown() redact.Shown {
	if p.after != nil {
		return p.after.shown
	}
	return p.before.shown
}

func (p entryPair) changed() bool {
	return p.before == nil || p.after == nil || p.before.value != p.after.value
}

func pairEntries(before, after []entryView) []entryPair {
	var out []entryPair
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case j == len(after) || i < len(before) && before[i].name < after[j].name:
			out = append(out, entryPair{before: &before[i]})
			i++
		case i == len(before) || after[j].name < before[i].name:
			out = append(out, entryPair{after: &after[j]})
			j++
		default:
			out = append(out, entryPair{&before[i], &after[j]})
			i++
			j++
		}
	}
	return out
}

// url compares URLs part by part.
func (l *fieldList) url(before, after *view) {
	b, a := before.d.URL, after.d.URL
	if b.Reveal() == a.Reveal() {
		return
	}
	if b.Len() == 0 || a.Len() == 0 || before.url.odd || after.url.odd {
		l.hidden("url", before.sum.URL, after.sum.URL, b, a)
		return
	}
	n := len(l.list)
	x, y := before.url, after.url
	l.scalar("url.scheme", redact.Shown(x.scheme), redact.Shown(y.scheme))
	l.part("url.host", x.shownHost, y.shownHost, x.host, y.host)
	l.part("url.port", redact.Shown(x.port), redact.Shown(y.port), x.port, y.port)
	l.part("url.userinfo", withheldIf(x.userinfo), withheldIf(y.userinfo), x.userinfo, y.userinfo)
	l.segments(x.segments, y.segments)
	l.query(x.query, y.query)
	l.part("url.fragment", withheldIf(x.fragment), withheldIf(y.fragment), x.fragment, y.fragment)
	if len(l.list) == n { // a difference that no part shows: letter case, a slash
		l.add(Field{Name: "url", Change: FieldChanged, Note: "spelling changed"})
	}
}

func withheldIf(s string) redact.Shown {
	if s == "" {
		return ""
	}
	return redact.Redacted
}

func (l *fieldList) part(name, b, a redact.Shown, rawB, rawA string) {
	if rawB == rawA {
		return
	}
	f := Field{Name: name, Change: change(b, a), Before: b, After: a}
	if b == a {
		f.Note = "value changed"
	}
	l.add(f)
}

func (l *fieldList) segments(b, a []string) {
	if slices.Equal(b, a) {
		return
	}
	f := Field{
		Name: "url.path", Change: FieldChanged,
		Before: redact.Shown(segmentCount(len(b))), After: redact.Shown(segmentCount(len(a))),
	}
	var which []string
	for i := range max(len(b), len(a)) {
		if i >= len(b) || i >= len(a) || b[i] != a[i] {
			which = append(which, strconv.Itoa(i+1))
		}
	}
	const most = 8
	if len(which) > most {
		which = append(which[:most], "...")
	}
	f.Note = "segment " + strings.Join(which, ", ") + " changed"
	l.add(f)
}

func (l *fieldList) query(b, a []queryPart) {
	for _, q := range b {
		if !slices.ContainsFunc(a, func(o queryPart) bool { return o.name == q.name && o.bare == q.bare }) {
			l.add(Field{Name: queryField(q), Change: FieldRemoved, Before: redact.Redacted})
		}
	}
	for _, q := range a {
		i := slices.IndexFunc(b, func(o queryPart) bool { return o.name == q.name && o.bare == q.bare })
		switch {
		case i < 0:
			l.add(Field{Name: queryField(q), Change: FieldAdded, After: redact.Redacted})
		case b[i].value != q.value:
			l.add(Field{Name: queryField(q), Change: FieldChanged, Before: redact.Redacted, After: redact.Redacted, Note: "value changed"})
		}
	}
}

func queryField(q queryPart) redact.Shown {
	if q.bare {
		return "url.query"
	}
	return "url.query." + nameAt(redact.QueryName, q.name)
}

// argPair is one argument on both sides, nil where it is not.
type argPair struct {
	before, after *arg
	i, j          int // indexes
}

// pairArgs aligns two argument lists: equal arguments by their longest common
// subsequence, the rest between them in order.
func pairArgs(before, after []arg) []argPair {
	var out []argPair
	i, j := 0, 0
	flush := func(toI, toJ int) {
		for i < toI || j < toJ {
			p := argPair{i: i, j: j}
			if i < toI {
				p.before = &before[i]
				i++
			}
			if j < toJ && (p.before == nil || sameSlot(p.before, &after[j])) {
				p.after = &after[j]
				j++
			}
			out = append(out, p)
		}
	}
	for _, m := range common(before, after) {
		flush(m[0], m[1])
		out = append(out, argPair{&before[i], &after[j], i, j})
		i++
		j++
	}
	flush(len(before), len(after))
	return out
}

// sameSlot reports whether an argument may be told as the changed form of
// another: both are options of one name, or none is an option.
func sameSlot(b, a *arg) bool {
	if b.kind == argOption || a.kind == argOption {
		return b.kind == a.kind && b.option == a.option
	}
	return true
}

// maxAligned bounds the table of common: longer lists are compared by position.
const maxAligned = 1000

func common(before, after []arg) [][2]int {
	n, m := len(before), len(after)
	if n > maxAligned || m > maxAligned {
		var out [][2]int
		for i := range min(n, m) {
			if before[i].raw == after[i].raw {
				out = append(out, [2]int{i, i})
			}
		}
		return out
	}
	table := make([][]int, n+1)
	for i := range table {
		table[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if before[i].raw == after[j].raw {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case before[i].raw == after[j].raw:
			out = append(out, [2]int{i, j})
			i++
			j++
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

func (l *fieldList) args(before, after []arg) {
	for _, p := range pairArgs(before, after) {
		switch {
		case p.before != nil && p.after != nil && p.before.raw == p.after.raw:
			continue
		case p.before == nil:
			l.add(Field{Name: argField(p.j, p.after), Change: FieldAdded, After: p.after.shown})
		case p.after == nil:
			l.add(Field{Name: argField(p.i, p.before), Change: FieldRemoved, Before: p.before.shown})
		default:
			f := Field{Name: argField(p.j, p.after), Change: FieldChanged, Before: p.before.shown, After: p.after.shown}
			if f.Before == f.After {
				f.Note = "value changed"
			}
			if note := connectionNote(p.before.value, p.after.value); note != "" {
				f.Note = note
			}
			l.add(f)
		}
	}
}

// argField names an argument by its index, and by the option it belongs to.
func argField(i int, a *arg) redact.Shown {
	name := redact.Shown("args[" + strconv.Itoa(i) + "]")
	if a.option == "" {
		return name
	}
	option, ok := show(redact.OptionName, a.option)
	if !ok {
		return name
	}
	return name + " " + option
}

// connectionNote says which part of a URL or connection string changed, by name
// only.
func connectionNote(before, after string) string {
	b, a := urlForm.FindStringSubmatch(before), urlForm.FindStringSubmatch(after)
	if b == nil || a == nil {
		return ""
	}
	var which []string
	for _, part := range []struct {
		name string
		at   int
	}{{"scheme", 1}, {"credentials", 2}, {"host", 3}, {"port", 4}, {"path", 5}, {"query", 6}, {"fragment", 7}} {
		if b[part.at] != a[part.at] {
			which = append(which, part.name)
		}
	}
	if len(which) == 0 {
		return ""
	}
	return strings.Join(which, ", ") + " changed"
}
