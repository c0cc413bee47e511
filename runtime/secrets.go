package runtime

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// leastValue is from what length on, in bytes, every value of env and headers
// counts as a secret. A shorter one counts if its name says so: a level or a
// port would turn up everywhere.
const leastValue = 8

// secretsOf lists what must not come back from a server: the resolved env and
// headers, what stands behind an authentication scheme, credentials in the URL
// and in arguments.
func secretsOf(d *decl.Declaration, values []resolved) []redact.Raw {
	var out []redact.Raw
	add := func(s string) { out = append(out, redact.NewRaw(s)) }
	for _, v := range values {
		if len(v.value) < leastValue && !redact.SecretName(v.name) {
			continue
		}
		add(v.value)
		if _, credential, ok := strings.Cut(v.value, " "); ok && len(credential) >= leastValue {
			add(credential)
		}
	}
	if u, err := url.Parse(d.URL.Reveal()); err == nil {
		if password, ok := u.User.Password(); ok {
			add(password)
		}
		for name, list := range u.Query() {
			for _, v := range list {
				if len(v) >= leastValue || redact.SecretName(name) {
					add(v)
				}
			}
		}
		for part := range strings.SplitSeq(u.Path, "/") {
			if redact.LooksLikeCredential(part) {
				add(part)
			}
		}
	}
	return append(out, secretArguments(d.Args)...)
}

// secretArguments lists arguments with a credential's shape, and values of
// options whose name says that they are secret.
func secretArguments(args []redact.Raw) []redact.Raw {
	var out []redact.Raw
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg.Reveal(), "=")
		isOption := strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/")
		switch {
		case redact.LooksLikeCredential(arg.Reveal()):
			out = append(out, arg)
			if hasValue {
				out = append(out, redact.NewRaw(value))
			}
		case isOption && hasValue && redact.SecretName(name):
			out = append(out, redact.NewRaw(value))
		case isOption && !hasValue && redact.SecretName(name) && i+1 < len(args):
			out = append(out, args[i+1])
		}
	}
	return out
}

// Limits of what is looked for of a call's arguments.
const (
	maxArgumentSecrets = 256
	leastArgument      = 8    // bytes
	maxArgument        = 4096 // bytes: what is longer is looked for by its beginning
)

// argumentTexts lists the texts of a call's arguments. secret are those that
// nobody may see again, private the rest: the model wrote it, and the views for
// others leave it out.
func argumentTexts(args json.RawMessage) (secret, private []redact.Raw) {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return nil, nil
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		if len(secret)+len(private) >= maxArgumentSecrets {
			return
		}
		switch v := v.(type) {
		case string:
			v = v[:min(len(v), maxArgument)]
			switch {
			case redact.SecretName(name) || redact.LooksLikeCredential(v):
				secret = append(secret, redact.NewRaw(v))
			case len(v) >= leastArgument:
				private = append(private, redact.NewRaw(v))
			}
		case []any:
			for _, inner := range v {
				walk(name, inner)
			}
		case map[string]any:
			for inner, value := range v {
				walk(inner, value)
			}
		}
	}
	walk("", v)
	return secret, private
}
