package review

import (
	"slices"
	"strings"
	"time"
)

// splitOptions separates options, if there are any, from the key, which begins
// with the name of its type.
func splitOptions(rest string) (options, key, problem string) {
	for _, prefix := range []string{"ssh-", "ecdsa-", "sk-"} {
		if strings.HasPrefix(rest, prefix) {
			return "", rest, ""
		}
	}
	quoted := false
	for i := range len(rest) {
		switch {
		case rest[i] == '\\' && quoted:
			return "", "", "an option with a backslash is not read"
		case rest[i] == '"':
			quoted = !quoted
		case (rest[i] == ' ' || rest[i] == '\t') && !quoted:
			return rest[:i], strings.TrimLeft(rest[i:], " \t"), ""
		}
	}
	if quoted {
		return "", "", "a quote is not closed"
	}
	return "", "", "there is no key"
}

// signerOptions are the options of one line.
type signerOptions struct {
	namespaces    []string
	after, before time.Time
	authority     bool
}

// authorityOption is the one option without a value.
const authorityOption = "cert-authority"

// readOptions reads "name="value",name". OpenSSH knows four options and compares
// their names without case (sshsig.c, sshsigopt_parse).
func readOptions(text string, local *time.Location) (o signerOptions, problem string) {
	seen := map[string]bool{}
	for _, option := range splitQuoted(text) {
		name, value, hasValue := strings.Cut(option, "=")
		name = strings.ToLower(name)
		if !slices.Contains([]string{authorityOption, "namespaces", "valid-after", "valid-before"}, name) {
			return o, "an unknown option"
		}
		inner, quoted := unquote(value)
		switch {
		case seen[name]:
			return o, "the option " + name + " is given twice"
		case hasValue == (name == authorityOption), hasValue && !quoted:
			return o, "the option " + name + " is not written as OpenSSH reads it"
		}
		seen[name] = true
		if problem = o.set(name, inner, local); problem != "" {
			return o, problem
		}
	}
	if !o.after.IsZero() && !o.before.IsZero() && !o.before.After(o.after) {
		return o, "valid-before is not after valid-after"
	}
	return o, ""
}

func (o *signerOptions) set(name, value string, local *time.Location) (problem string) {
	switch name {
	case authorityOption:
		o.authority = true
	case "namespaces":
		o.namespaces = strings.Split(value, ",")
	case "valid-after":
		o.after, problem = readTime(value, local)
	case "valid-before":
		o.before, problem = readTime(value, local)
	}
	return problem
}

// names reports whether the options name the namespace in full. OpenSSH reads a
// list of patterns, in which "!" takes back; that is not accepted beside it.
func (o *signerOptions) names(namespace string) (bool, string) {
	if !slices.Contains(o.namespaces, namespace) {
		return false, ""
	}
	if slices.ContainsFunc(o.namespaces, func(n string) bool { return strings.HasPrefix(n, "!") }) {
		return false, "a namespace that is taken back (!) is not accepted"
	}
	return true, ""
}

// splitQuoted splits at commas outside quotes.
func splitQuoted(s string) []string {
	if s == "" {
		return nil
	}
	var out []string
	start, quoted := 0, false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' || strings.Contains(s[1:len(s)-1], `"`) {
		return "", false
	}
	return s[1 : len(s)-1], true
}

const timeProblem = "a time is written YYYYMMDD[HHMM[SS]][Z]"

// readTime reads a time as OpenSSH does (misc.c, parse_absolute_time):
// YYYYMMDD[HHMM[SS]], in local time unless Z or UTC follows. A day or hour that no
// calendar has is refused, where OpenSSH counts on into the next.
func readTime(s string, local *time.Location) (time.Time, string) {
	zone, digits := local, s
	for _, suffix := range []string{"Z", "UTC"} {
		if n := len(s) - len(suffix); n > 0 && strings.EqualFold(s[n:], suffix) {
			zone, digits = time.UTC, s[:n]
			break
		}
	}
	form, ok := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}[len(digits)]
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return time.Time{}, timeProblem
	}
	t, err := time.ParseInLocation(form, digits, zone)
	if err != nil || t.Unix() <= 0 {
		return time.Time{}, timeProblem
	}
	return asStandardTime(t, digits, form), ""
}

// asStandardTime reads a local time that falls into summer as one of standard
// time: OpenSSH gives mktime(3) a time whose tm_isdst is 0.
func asStandardTime(t time.Time, digits, form string) time.Time {
	if !t.IsDST() {
		return t
	}
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return t
	}
	name, offset := start.Add(-time.Second).Zone()
	standard, err := time.ParseInLocation(form, digits, time.FixedZone(name, offset))
	if err != nil {
		return t
	}
	return standard
}
