package securitydiff

import (
	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// secretLiteral reports whether an env or header value is a secret written out.
func secretLiteral(e entryView) bool {
	if e.kind == valueReference || e.kind == valueEmpty {
		return false
	}
	rest := reference.ReplaceAllString(e.value, "")
	if redact.LooksLikeCredential(rest) {
		return true
	}
	return redact.SecretName(e.name) && (e.kind == valueLiteral)
}

// argSecretLiteral reports whether an argument holds a secret written out.
func argSecretLiteral(a arg) bool {
	if a.value == "" || isReference(a.value) {
		return false
	}
	switch a.kind {
	case argSecret:
		return true
	case argEnvPair, argHeader:
		return redact.SecretName(a.name) || redact.LooksLikeCredential(a.value)
	case argOption:
		if redact.SecretName(a.option) || a.option == "-p" && !plainWord(a.value) && !digitsOnly.MatchString(a.value) && a.raw != a.option {
			return true
		}
		return redact.LooksLikeCredential(a.value) || credentialURL(a.value)
	}
	return redact.LooksLikeCredential(a.value) || credentialURL(a.value) || assignsSecret(a.value)
}

// assigned finds name=value and "name": "value" within a script or inline JSON.
var assigned = pattern.New(`"?([A-Za-z_][A-Za-z0-9_.-]{1,63})"?\s*[=:]\s*"?([^\s"'\x60,;&|=:/${}()%<>]{2,256})`)

// maxAssigned bounds the work on one value.
const maxAssigned = 64

// assignsSecret reports whether a value holds another that is named as a secret.
func assignsSecret(value string) bool {
	for _, m := range assigned.FindAllStringSubmatch(value, maxAssigned) {
		if redact.SecretName(m[1]) && !plainWord(m[2]) && !digitsOnly.MatchString(m[2]) {
			return true
		}
	}
	return false
}

// secretPart is the part of a value that may be the secret: all of it, but for a
// URL its credentials, query and fragment.
func secretPart(value string) string {
	m := urlForm.FindStringSubmatch(value)
	if m == nil {
		return value
	}
	return m[2] + "\x00" + m[6] + "\x00" + m[7]
}

// credentialURL: userinfo with a password, or a query parameter that is named as
// a secret.
func credentialURL(s string) bool {
	m := urlForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	v := &viewer{}
	u := v.readURL(s)
	return u.userinfo != "" || u.hasSecret()
}

// judgeSecrets: secrets written out, rotated, moved to or from the host's
// environment.
func judgeSecrets(v *verdicts, before, after *view, args []argPair) {
	judgeEntrySecrets(v, "env", entriesOf(before, false), after.env)
	judgeEntrySecrets(v, "headers", entriesOf(before, true), after.headers)
	judgeArgSecrets(v, args)
	for _, a := range after.commandLine {
		if argSecretLiteral(a) {
			v.add("secret-in-command", High, "command")
		}
	}
	if len(after.commandLine) == 0 && after.d.Command.Len() > 0 && after.command == redact.Withheld && redact.LooksLikeCredential(after.d.Command.Reveal()) {
		v.add("secret-in-command", High, "command")
	}
	judgeURLSecrets(v, before, after)
}

func entriesOf(w *view, headers bool) []entryView {
	switch {
	case w == nil:
		return nil
	case headers:
		return w.headers
	}
	return w.env
}

func judgeEntrySecrets(v *verdicts, field string, before, after []entryView) {
	for _, p := range pairEntries(before, after) {
		name := redact.Shown(field) + "." + p.shown()
		switch {
		case p.after == nil:
			if secretLiteral(*p.before) {
				v.add("secret-removed-from-file", Info, name)
			}
			continue
		case p.after.kind == valueOdd && p.changed():
			v.add("unresolvable-reference", Medium, name)
		}
		if secretLiteral(*p.after) {
			v.add("secret-literal-in-file", High, name)
		} else if p.before != nil && p.before.kind == valueReference && p.after.kind == valueLiteral {
			v.add("secret-literal-in-file", High, name)
		}
		if p.before == nil || !p.changed() {
			continue
		}
		switch {
		case p.before.kind == valueReference && p.after.kind == valueReference:
			if p.before.shownRefs() != p.after.shownRefs() {
				v.add("secret-source-changed", High, name)
			}
		case secretLiteral(*p.before) && p.after.kind == valueReference:
			v.add("secret-removed-from-file", Info, name)
		case secretLiteral(*p.before) && secretLiteral(*p.after):
			v.add("secret-rotated", Low, name)
		}
	}
}

func judgeArgSecrets(v *verdicts, args []argPair) {
	for _, p := range args {
		switch {
		case p.after == nil:
			if argSecretLiteral(*p.before) {
				v.add("secret-removed-from-file", Info, argField(p.i, p.before))
			}
		case argSecretLiteral(*p.after):
			field := argField(p.j, p.after)
			v.add("secret-in-args", High, field)
			if p.before != nil && argSecretLiteral(*p.before) && secretPart(p.before.value) != secretPart(p.after.value) {
				v.add("secret-rotated", Low, field)
			}
		case p.before != nil && argSecretLiteral(*p.before):
			v.add("secret-removed-from-file", Info, argField(p.j, p.after))
		}
	}
}

func judgeURLSecrets(v *verdicts, before, after *view) {
	if after.d.URL.Len() == 0 {
		return
	}
	if after.url.hasSecret() {
		v.add("secret-in-url", High, "url")
	}
	if before == nil || before.d.URL.Len() == 0 || !before.url.hasSecret() {
		return
	}
	if !after.url.hasSecret() {
		v.add("secret-removed-from-file", Info, "url")
	}
	for _, q := range after.url.query {
		for _, o := range before.url.query {
			if o.name == q.name && o.value != q.value && redact.SecretName(q.name) {
				v.add("secret-rotated", Low, queryField(q))
			}
		}
	}
}
