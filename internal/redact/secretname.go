package redact

import (
	"strings"
	"unicode"
)

// secretWords make a name secret-bearing wherever they stand. Sources: the
// environment names that public server catalogues mark as secret, and the
// option names of published servers.
var secretWords = set(`token secret password passwd passphrase passcode passkey pwd apikey authtoken
	accesstoken refreshtoken bearertoken idtoken secretkey accesskey privatekey authkey apitoken apisecret
	clientsecret credential credentials creds authorization bearer jwt cookie cookies otp totp
	mnemonic dsn auth webhook sas signature`)

// lastSecretWords make a name secret-bearing at its end.
var lastSecretWords = set(`key keys pat pass pin pw tokens secrets passwords connectionstring connstr`)

// secretEndings make a word without separators secret-bearing: searchapikey.
var secretEndings = []string{"apikey", "token", "password", "passwd", "secret", "secretkey", "accesskey", "privatekey"}

// plainEndings, as the last word, say that a name with a secret word is about
// the secret and does not hold it: TOKEN_URL, key-file, auth-type.
var plainEndings = set(`url uri endpoint host path file files dir directory name names id ids type types mode method
	scheme limit limits count ttl expiry expires timeout length size budget window usage prefix header provider
	server algorithm alg format field column refresh required enabled disabled domain audience issuer scope scopes
	env version region service store manager helper`)

// plainStarts, as the first word, say the same: max-tokens, public-key.
var plainStarts = set(`max min num total no public input output prompt completion context
	disable enable skip require requires show hide allow without`)

// SecretName reports whether a name (an option, an environment variable, a
// header, a query parameter, a key of inline JSON) says that its value is a
// secret. It is a hint for findings and for what is marked as redacted; values
// are withheld by their position, whatever this says.
func SecretName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	first, last := words[0], words[len(words)-1]
	if plainEndings[last] || len(words) > 1 && plainStarts[first] {
		return false
	}
	if lastSecretWords[last] || len(words) > 1 && lastSecretWords[words[len(words)-2]+last] {
		return true
	}
	for _, w := range words {
		if secretWords[w] {
			return true
		}
		for _, end := range secretEndings {
			if strings.HasSuffix(w, end) {
				return true
			}
		}
	}
	return false
}

// nameWords splits a name at what is no letter and at camel humps, in lower
// case.
func nameWords(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, c := range runes {
		if !unicode.IsLetter(c) {
			flush()
			continue
		}
		if unicode.IsUpper(c) && i > 0 {
			afterLower := unicode.IsLower(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || unicode.IsUpper(runes[i-1]) && beforeLower {
				flush()
			}
		}
		word = append(word, unicode.ToLower(c))
	}
	flush()
	return words
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}
