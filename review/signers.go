package review

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// The namespaces of signatures (PROTOCOL.sshsig): a signature made for one is
// good for nothing else.
const (
	reviewNamespace = "mcp-review@evolve"
	revokeNamespace = "mcp-revoke@evolve"
)

// signersForm is the line that lets somebody review.
const signersForm = `PRINCIPAL namespaces="` + reviewNamespace + "," + revokeNamespace + `" KEYTYPE KEY`

// signerLine is one line of the signers file that counts: it names the namespace.
type signerLine struct {
	principals []string
	key        ssh.PublicKey
	after      time.Time // zero if not given; inclusive, in whole seconds
	before     time.Time // zero if not given; inclusive, in whole seconds
	line       int       // 1-based
}

// signers are the keys that may review.
type signers []signerLine

// parseSigners reads an allowed-signers file (ssh-keygen(1), ALLOWED SIGNERS)
// for reviews, more strictly than OpenSSH does. A line counts only if it
// names the namespace in full; on one that counts, wildcards, certificate
// authorities and keys that are not accepted are refused. On every line, options
// that are unknown or cannot be read are. local is the zone of times without one. Codes:
// config_invalid, with the number of the line and nothing of its text.
func parseSigners(data []byte, local *time.Location) (signers, error) {
	return parseSignersFor(data, reviewNamespace, local)
}

// parseSignersFor is parseSigners for another namespace: who may sign a push.
func parseSignersFor(data []byte, namespace string, local *time.Location) (signers, error) {
	var out signers
	for i, raw := range bytes.Split(data, []byte("\n")) {
		text := strings.Trim(string(raw), " \t\r")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		line, counts, problem := parseSigner(text, namespace, local)
		if problem != "" {
			return nil, fault.New(fault.ConfigInvalid, "line %d of the signers file: %s", i+1, problem).
				WithHint("write it as: %s", signersForm)
		}
		if counts {
			line.line = i + 1
			out = append(out, line)
		}
	}
	return out, nil
}

// parseSigner reads "principal[,principal...] [option[,option...]] key [comment]".
func parseSigner(text, namespace string, local *time.Location) (line signerLine, counts bool, problem string) {
	if strings.ContainsRune(text, 0) {
		return line, false, "a NUL byte"
	}
	principals, rest := cutField(text)
	if rest == "" {
		return line, false, "a principal alone, without a key"
	}
	if strings.Contains(principals, `"`) {
		return line, false, "a principal in quotes is not read"
	}
	options, keyText, problem := splitOptions(rest)
	if problem != "" {
		return line, false, problem
	}
	o, problem := readOptions(options, local)
	if problem != "" {
		return line, false, problem
	}
	if counts, problem = o.names(namespace); !counts || problem != "" {
		return line, false, problem
	}
	line = signerLine{principals: strings.Split(principals, ","), after: o.after, before: o.before}
	for _, p := range line.principals {
		if problem := principalProblem(p); problem != "" {
			return line, false, problem
		}
	}
	if o.authority {
		return line, false, "a certificate authority is not accepted; name each key"
	}
	line.key, problem = readKey(keyText)
	return line, problem == "", problem
}

// cutField cuts the first word off, and the spaces and tabs behind it.
func cutField(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// isPrincipal reports whether s may name a reviewer.
func isPrincipal(s string) bool { return principalProblem(s) == "" }

// principalProblem says why a principal is not accepted, "" if it is: the signers
// file must read it as one literal name, and a person must be able to tell it
// from others.
func principalProblem(s string) string {
	switch {
	case s == "":
		return "an empty principal"
	case strings.ContainsAny(s, "*?!"):
		return "a principal with a wildcard is not accepted; name each reviewer"
	case len(s) > maxPrincipal:
		return "a principal of more than 255 bytes"
	case strings.HasPrefix(s, "#"), strings.ContainsAny(s, `",`), !utf8.ValidString(s),
		strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }):
		return "a principal with characters that are not accepted"
	}
	return ""
}

// acceptedKeyType reports whether keys of a type are accepted: those that OpenSSH signs with,
// without DSA and certificates.
func acceptedKeyType(name string) bool {
	return slices.Contains([]string{
		ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
		ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
	}, name)
}

// readKey reads "type base64 [comment]".
func readKey(text string) (ssh.PublicKey, string) {
	name, _ := cutField(text)
	if !acceptedKeyType(name) {
		return nil, "the key is of a type that is not accepted"
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(options) > 0 || len(rest) > 0 || key.Type() != name {
		return nil, "the key cannot be read"
	}
	return key, ""
}

// at lists the principals that a key may sign as at a time. known says that some
// line has the key, at whatever time.
func (s signers) at(key ssh.PublicKey, now time.Time) (principals []string, known bool) {
	now = now.Truncate(time.Second) // as ssh-keygen, which knows whole seconds
	for _, line := range s {
		if !sameKey(line.key, key) {
			continue
		}
		known = true
		if !line.after.IsZero() && now.Before(line.after) || !line.before.IsZero() && now.After(line.before) {
			continue
		}
		principals = append(principals, line.principals...)
	}
	return principals, known
}

// ever lists the principals of a key at any time.
func (s signers) ever(key ssh.PublicKey) (principals []string) {
	for _, line := range s {
		if sameKey(line.key, key) {
			principals = append(principals, line.principals...)
		}
	}
	return principals
}

func sameKey(a, b ssh.PublicKey) bool {
	return a != nil && b != nil && bytes.Equal(a.Marshal(), b.Marshal())
}

// krlMagic begins a binary revocation list (PROTOCOL.krl).
const krlMagic = "SSHKRL\n\x00"

// parseRevoked reads gpg.ssh.revocationFile in its text form: one public key on a
// line. The binary form (KRL) is refused, so that it is never ignored. Codes:
// config_invalid.
func parseRevoked(data []byte) ([]ssh.PublicKey, error) {
	if bytes.HasPrefix(data, []byte(krlMagic)) {
		return nil, fault.New(fault.ConfigInvalid, "gpg.ssh.revocationFile is a binary revocation list (KRL), which evolve does not read").
			WithHint("write the revoked public keys into a text file, one on each line, and name that")
	}
	var out []ssh.PublicKey
	for i, raw := range bytes.Split(data, []byte("\n")) {
		text := strings.Trim(string(raw), " \t\r")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, problem := readKey(text)
		if problem != "" {
			return nil, fault.New(fault.ConfigInvalid, "line %d of gpg.ssh.revocationFile: %s", i+1, problem).
				WithHint("write public keys only, one on each line: KEYTYPE KEY")
		}
		out = append(out, key)
	}
	return out, nil
}
