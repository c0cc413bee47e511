package runtime

import (
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strconv"

	"crypto/sha256"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// digest is HMAC-SHA256 over framed parts under a key of the host, since some
// of what goes in can be guessed. Each part is framed, so that no two lists of
// parts are one.
type digest struct{ h hash.Hash }

func newDigest(key []byte, use string) *digest {
	d := &digest{hmac.New(sha256.New, key)}
	d.add(use)
	return d
}

func (d *digest) add(parts ...string) {
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		d.h.Write(n[:])
		d.h.Write([]byte(p))
	}
}

func (d *digest) addRules(rules map[string]Approval) {
	d.add(strconv.Itoa(len(rules)))
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		d.add(name, string(rules[name]))
	}
}

func (d *digest) addRaw(list []redact.Raw) {
	d.add(strconv.Itoa(len(list)))
	for _, r := range list {
		d.add(r.Reveal())
	}
}

func (d *digest) addPairs(list []decl.Pair) {
	d.add(strconv.Itoa(len(list)))
	for _, p := range list {
		d.add(p.Name.Reveal(), p.Value.Reveal())
	}
}

func (d *digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

// fingerprint identifies everything that a declaration means, references
// unresolved.
func fingerprint(key []byte, d *decl.Declaration) string {
	h := newDigest(key, "declaration")
	h.add(d.ServerID, d.Path, string(d.Transport), d.Command.Reveal(), d.Cwd.Reveal(), d.URL.Reveal(),
		string(d.Risk), string(d.ApprovalPolicy), d.Capability.Reveal(),
		strconv.FormatFloat(d.ConnectTimeout, 'g', -1, 64), strconv.FormatFloat(d.Timeout, 'g', -1, 64),
		strconv.FormatBool(d.Parallel), strconv.FormatBool(d.Enabled))
	h.addRaw(d.Args)
	h.addRaw(d.Include)
	h.addRaw(d.Exclude)
	h.addPairs(d.Env)
	h.addPairs(d.Headers)
	return h.sum()
}
