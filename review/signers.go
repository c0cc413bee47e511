package review

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// The namespaces of signatures (PROTOCOL.sshsig): a signature made for one is
// good for nothing else.
const (
	reviewNamespace = "mcp-review@evolve"
	revokeNamespace = "mcp-revoke@evolve"
)

// maxSigners bounds the signers file in bytes.
const maxSigners = 1 << 20

// signer is one line of the signers file that counts: it names the namespace.
type signerLine struct {
	principals []string
	key        ssh.PublicKey
	after      time.Time // zero if not given; inclusive
	before     time.Time // zero if not given; inclusive
	line       int
}

// signers are the keys that may review.
type signers []signerLine

// parseSigners reads an allowed-signers file (ssh-keygen(1), ALLOWED SIGNERS)
// for one namespace. A line that does not name the namespace does not count. On
// a line that does, wildcard principals and certificate authorities are refused;
// so is, anywhere, what cannot be read. Codes: config_invalid, with the line.
func parseSigners(data []byte, namespace string, local *time.Location) (signers, error) {
	if len(data) > maxSigners {
		return nil, fault.New(fault.ConfigInvalid, "the signers file has more than %d bytes", maxSigners)
	}
	var out signers
	for i, raw := range bytes.Split(data, []byte("\n")) {
		text := strings.TrimSpace(strings.TrimSuffix(string(raw), "\r"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		line, counts, problem := parseSigner(text, namespace, local)
		if problem != "" {
			return nil, fault.New(fault.ConfigInvalid, "line %d of the signers file: %s", i+1, problem).
				WithHint("write it as: PRINCIPAL namespaces=\"%s,%s\" KEYTYPE KEY", reviewNamespace, revokeNamespace)
		}
		if counts {
			line.line = i + 1
			out = append(out, line)
		}
	}
	return out, nil
}

func parseSigner(text, namespace string, local *time.Location) (line signerLine, counts bool, problem string) {
	principals, rest, ok := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	if !ok {
		return line, false, "a principal alone, without a key"
	}
	if strings.Contains(principals, `"`) {
		return line, false, "a principal in quotes is not read"
	}
	options, keyText, problem := splitOptions(strings.TrimLeft(rest, " "))
	if problem != "" {
		return line, false, problem
	}
	o, problem := readOptions(options, local)
	if problem != "" {
		return line, false, problem
	}
	key, problem := readKey(keyText)
	if problem != "" {
		return line, false, problem
	}
	if !slices.Contains(o.namespaces, namespace) || slices.Contains(o.namespaces, "!"+namespace) {
		return line, false, ""
	}
	line = signerLine{principals: strings.Split(principals, ","), key: key, after: o.after, before: o.before}
	switch {
	case o.authority:
		return line, false, "a certificate authority is not accepted; name each key"
	case strings.ContainsAny(principals, "*?!"):
		return line, false, "a principal with a wildcard is not accepted; name each reviewer"
	case slices.Contains(line.principals, ""):
		return line, false, "an empty principal"
	}
	return line, true, ""
}

// splitOptions separates options, if there are any, from the key: a key begins
// with the name of its type.
func splitOptions(rest string) (options, key, problem string) {
	if keyTypes[firstWord(rest)] {
		return "", rest, ""
	}
	quoted := false
	for i := range len(rest) {
		switch {
		case rest[i] == '\\' && quoted && i+1 < len(rest) && rest[i+1] == '"':
			return "", "", "an escaped quote in an option is not read"
		case rest[i] == '"':
			quoted = !quoted
		case rest[i] == ' ' && !quoted:
			return rest[:i], strings.TrimLeft(rest[i:], " "), ""
		}
	}
	return "", "", "there is no key, or a quote is not closed"
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// keyTypes are the key types that OpenSSH signs with. DSA is not among them.
var keyTypes = map[string]bool{
	"ssh-ed25519": true, "ssh-rsa": true, "ecdsa-sha2-nistp256": true, "ecdsa-sha2-nistp384": true, "ecdsa-sha2-nistp521": true,
	"sk-ssh-ed25519@openssh.com": true, "sk-ecdsa-sha2-nistp256@openssh.com": true,
}

type signerOptions struct {
	namespaces    []string
	after, before time.Time
	authority     bool
}

func readOptions(text string, local *time.Location) (o signerOptions, problem string) {
	seen := map[string]bool{}
	for _, option := range splitQuoted(text) {
		name, value, hasValue := strings.Cut(option, "=")
		name = strings.ToLower(name)
		if seen[name] {
			return o, "the option " + known(name) + " is given twice"
		}
		seen[name] = true
		inner, quoted := unquote(value)
		switch {
		case name == "cert-authority" && !hasValue:
			o.authority = true
		case !hasValue || !quoted:
			return o, "the option " + known(name) + " is unknown, or its value is not in quotes"
		case name == "namespaces":
			o.namespaces = strings.Split(inner, ",")
		case name == "valid-after":
			o.after, problem = readTime(inner, local)
		case name == "valid-before":
			o.before, problem = readTime(inner, local)
		default:
			return o, "the option " + known(name) + " is unknown"
		}
		if problem != "" {
			return o, problem
		}
	}
	if !o.after.IsZero() && !o.before.IsZero() && !o.before.After(o.after) {
		return o, "valid-before is not after valid-after"
	}
	return o, ""
}

// known repeats an option's name only if it is one of OpenSSH's.
func known(name string) string {
	switch name {
	case "cert-authority", "namespaces", "valid-after", "valid-before", "verify-required", "no-touch-required":
		return name
	}
	return "(some other word)"
}

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

// timeForms are the forms of OpenSSH's parse_absolute_time, by length.
var timeForms = map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}

// readTime reads YYYYMMDD[HHMM[SS]], in local time unless Z or UTC follows.
func readTime(s string, local *time.Location) (time.Time, string) {
	zone, digits := local, s
	for _, suffix := range []string{"UTC", "Z"} {
		if n := len(s) - len(suffix); n > 0 && strings.EqualFold(s[n:], suffix) {
			zone, digits = time.UTC, s[:n]
			break
		}
	}
	form, ok := timeForms[len(digits)]
	if !ok {
		return time.Time{}, "a time is written YYYYMMDD[HHMM[SS]][Z]"
	}
	t, err := time.ParseInLocation(form, digits, zone)
	if err != nil {
		return time.Time{}, "a time is written YYYYMMDD[HHMM[SS]][Z]"
	}
	return t, ""
}

func readKey(text string) (ssh.PublicKey, string) {
	if !keyTypes[firstWord(text)] {
		return nil, "the key is of a type that is not accepted"
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(options) > 0 || len(rest) > 0 || key.Type() != firstWord(text) {
		return nil, "the key cannot be read"
	}
	return key, ""
}

// find returns the principals that a key may sign as, at a time.
func (s signers) find(key ssh.PublicKey, now time.Time) (principals []string, everKnown bool) {
	for _, line := range s {
		if !sameKey(line.key, key) {
			continue
		}
		everKnown = true
		if !line.after.IsZero() && now.Before(line.after) || !line.before.IsZero() && now.After(line.before) {
			continue
		}
		principals = append(principals, line.principals...)
	}
	return principals, everKnown
}

func sameKey(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }

// parseRevoked reads gpg.ssh.revocationFile in its text form: one public key a
// line. The binary form (KRL) is refused, so that it is never ignored.
func parseRevoked(data []byte) ([]ssh.PublicKey, error) {
	if bytes.HasPrefix(data, []byte("SSHKRL\n\x00")) {
		return nil, fault.New(fault.ConfigInvalid, "gpg.ssh.revocationFile is a binary revocation list, which evolve does not read").
			WithHint("write the revoked public keys into a text file, one on each line")
	}
	var out []ssh.PublicKey
	for i, raw := range bytes.Split(data, []byte("\n")) {
		text := strings.TrimSpace(string(raw))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
		if err != nil {
			return nil, fault.New(fault.ConfigInvalid, "line %d of gpg.ssh.revocationFile is no public key", i+1)
		}
		out = append(out, key)
	}
	return out, nil
}
