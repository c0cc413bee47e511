package review

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evolve-mcp/evolve/internal/decl"
)

const (
	id1 = "1111111111111111111111111111111111111111"
	id2 = "2222222222222222222222222222222222222222"
)

// sample is a whole statement of two items.
func sample() statementBody {
	salt := strings.Repeat("5a", saltBytes)
	return statementBody{
		Type: statementType, PredicateType: reviewType,
		Subject: []subject{{Name: ref, Digest: map[string]string{"gitCommit": id2}}},
		Predicate: predicate{
			Version: predicateVersion, Repository: "example.org/agent", Ref: ref, ObjectFormat: "sha1", Base: id1, Head: id2, HeadTree: id1,
			SurfaceRules: decl.SurfaceRules, Salt: salt,
			Change: itemLines(salt, []decl.Delta{
				{Key: decl.ItemKey{Kind: decl.KindDeclaration, Path: "agent/mcp/search.yaml"}, After: decl.Digest{2}},
				{Key: decl.ItemKey{Kind: decl.KindDeclaration, Path: "agent/mcp/docs.yaml"}, Before: decl.Digest{1}, After: decl.Digest{2}},
			}),
			Reviewer: "ada@example.com", IssuedAt: stamp(noon), ExpiresAt: stamp(noon.Add(time.Hour)), Reason: "fine <&>",
			PolicyDigest: digits,
		},
	}
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	data, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestStatementReadsBack(t *testing.T) {
	want := sample()
	got, err := decodeStatement(encoded(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got.body); d != "" {
		t.Error(d)
	}
	if got.Ref() != ref || got.Base() != id1 || got.Head() != id2 || got.Reviewer() != "ada@example.com" || got.Reason() != "fine <&>" ||
		!got.IssuedAt().Equal(noon) || !got.ExpiresAt().Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v", got)
	}
	keys := got.Keys()
	if len(keys) != 2 || keys[0].Path != "agent/mcp/docs.yaml" || keys[1].Path != "agent/mcp/search.yaml" {
		t.Errorf("keys: %v", keys)
	}
}

// TestStatementHasOneForm: whatever else spells the same is refused.
func TestStatementHasOneForm(t *testing.T) {
	good := string(encoded(t, sample()))
	edit := func(old, replacement string) string {
		t.Helper()
		out := strings.Replace(good, old, replacement, 1)
		if out == good {
			t.Fatalf("%q is not there", old)
		}
		return out
	}
	for name, text := range map[string]string{
		"a doubled key":             edit(`"ref": "refs/heads/live",`, `"ref": "refs/heads/main", "ref": "refs/heads/live",`),
		"a doubled key, adjacent":   edit(`    "ref": "refs/heads/live",`+"\n", strings.Repeat(`    "ref": "refs/heads/live",`+"\n", 2)),
		"a key in capitals":         edit(`"ref":`, `"REF":`),
		"the type's key in capital": edit(`"_type":`, `"_Type":`),
		"an unknown key":            edit(`"ref":`, `"more": 1, "ref":`),
		"a missing key":             edit(`    "reason": "fine <&>",`+"\n", ""),
		"another order":             edit(`"version": 1,`, `"head": "`+id2+`", "version": 1,`),
		"other spaces":              edit(`  "_type"`, ` "_type"`),
		"no spaces":                 strings.ReplaceAll(strings.ReplaceAll(good, "\n", ""), "  ", ""),
		"CRLF":                      strings.ReplaceAll(good, "\n", "\r\n"),
		"no line break at the end":  strings.TrimSuffix(good, "\n"),
		"something behind the end":  good + "{}\n",
		"a byte order mark":         "\ufeff" + good,
		"an escaped letter":         edit(`"refs/heads/live"`, `"refs/heads/liv\u0065"`),
		"escaped HTML":              edit(`<&>`, `\u003c&>`),
		"an escaped slash":          edit(`refs/heads/live`, `refs\/heads/live`),
		"no UTF-8":                  edit(`fine`, "fin\xff"),
		"another number":            edit(`"version": 1,`, `"version": 1.0,`),
		"an exponent":               edit(`"version": 1,`, `"version": 1e0,`),
		"a string for a number":     edit(`"version": 1,`, `"version": "1",`),
		"null":                      edit(`"reason": "fine <&>"`, `"reason": null`),
		"nothing":                   "",
		"no object":                 "null\n",
		"half of it":                good[:len(good)/2],
	} {
		if _, err := decodeStatement([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := decodeStatement(bytes.Repeat([]byte(" "), maxStatement+1)); err == nil {
		t.Error("one that is too long is accepted")
	}
}

// TestStatementIsWhole: what is in the one form must make sense too.
func TestStatementIsWhole(t *testing.T) {
	for name, change := range map[string]func(*statementBody){
		"another type":                 func(b *statementBody) { b.Type += "x" },
		"another predicate":            func(b *statementBody) { b.PredicateType = revocationType },
		"another version":              func(b *statementBody) { b.Predicate.Version = 2 },
		"no subject":                   func(b *statementBody) { b.Subject = nil },
		"two subjects":                 func(b *statementBody) { b.Subject = append(b.Subject, b.Subject[0]) },
		"another subject":              func(b *statementBody) { b.Subject[0].Digest["gitCommit"] = id1 },
		"another digest of it":         func(b *statementBody) { b.Subject[0].Digest["sha1"] = id1 },
		"another name of it":           func(b *statementBody) { b.Subject[0].Name = "refs/heads/main" },
		"a repository of two lines":    func(b *statementBody) { b.Predicate.Repository = "a\nb" },
		"no full ref":                  func(b *statementBody) { b.Subject[0].Name, b.Predicate.Ref = "live", "live" },
		"an option for a base":         func(b *statementBody) { b.Predicate.Base = "--all" },
		"an abbreviated base":          func(b *statementBody) { b.Predicate.Base = id1[:12] },
		"a base of zeros":              func(b *statementBody) { b.Predicate.Base = strings.Repeat("0", 40) },
		"an empty base":                func(b *statementBody) { b.Predicate.Base = "" },
		"an id of another format":      func(b *statementBody) { b.Predicate.ObjectFormat = "sha256" },
		"an unknown format":            func(b *statementBody) { b.Predicate.ObjectFormat = "md5" },
		"a tree that is no id":         func(b *statementBody) { b.Predicate.HeadTree = "tree" },
		"rules of none":                func(b *statementBody) { b.Predicate.SurfaceRules = 0 },
		"a short salt":                 func(b *statementBody) { b.Predicate.Salt = b.Predicate.Salt[2:] },
		"a salt in capitals":           func(b *statementBody) { b.Predicate.Salt = strings.ToUpper(b.Predicate.Salt) },
		"no items":                     func(b *statementBody) { b.Predicate.Change = []itemLine{} },
		"an item twice":                func(b *statementBody) { b.Predicate.Change = append(b.Predicate.Change, b.Predicate.Change[1]) },
		"items in another order":       func(b *statementBody) { c := b.Predicate.Change; c[0], c[1] = c[1], c[0] },
		"an item without a kind":       func(b *statementBody) { b.Predicate.Change[0].Kind = "" },
		"an item without a difference": func(b *statementBody) { b.Predicate.Change[0].After = b.Predicate.Change[0].Before },
		"a digest that is none":        func(b *statementBody) { b.Predicate.Change[0].After = "x" },
		"a needlessly encoded path":    func(b *statementBody) { b.Predicate.Change[0].Path = "hex:61" },
		"a path of broken digits":      func(b *statementBody) { b.Predicate.Change[0].Path = "hex:6g" },
		"a wildcard for a reviewer":    func(b *statementBody) { b.Predicate.Reviewer = "*" },
		"no reviewer":                  func(b *statementBody) { b.Predicate.Reviewer = "" },
		"a local time":                 func(b *statementBody) { b.Predicate.IssuedAt = "2026-06-15T14:00:00+02:00" },
		"parts of a second":            func(b *statementBody) { b.Predicate.IssuedAt = "2026-06-15T12:00:00.5Z" },
		"no time":                      func(b *statementBody) { b.Predicate.ExpiresAt = "tomorrow" },
		"an end before the start":      func(b *statementBody) { b.Predicate.ExpiresAt = b.Predicate.IssuedAt },
		"a reason of two lines":        func(b *statementBody) { b.Predicate.Reason = "a\nb" },
		"a long reason":                func(b *statementBody) { b.Predicate.Reason = strings.Repeat("a", maxReason+1) },
		"no digest of the policy":      func(b *statementBody) { b.Predicate.PolicyDigest = "" },
	} {
		b := sample()
		change(&b)
		if _, err := decodeStatement(encoded(t, b)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestChangeIsNamedExactly(t *testing.T) {
	key := func(path string) decl.ItemKey { return decl.ItemKey{Kind: decl.KindDeclaration, Path: path} }
	deltas := []decl.Delta{
		{Key: key("a"), Before: decl.Digest{1}, After: decl.Digest{2}},
		{Key: key("b"), After: decl.Digest{3}},
	}
	salt := strings.Repeat("5a", saltBytes)
	s := &Statement{body: statementBody{Predicate: predicate{Salt: salt, Change: itemLines(salt, deltas)}}}
	with := func(change func([]decl.Delta) []decl.Delta) []decl.Delta {
		return change(append([]decl.Delta(nil), deltas...))
	}
	if !s.names(deltas) || !s.names(with(func(d []decl.Delta) []decl.Delta { d[0], d[1] = d[1], d[0]; return d })) {
		t.Error("the change itself is not named")
	}
	for name, other := range map[string][]decl.Delta{
		"none":           nil,
		"one less":       deltas[:1],
		"one more":       with(func(d []decl.Delta) []decl.Delta { return append(d, decl.Delta{Key: key("c"), After: decl.Digest{1}}) }),
		"another before": with(func(d []decl.Delta) []decl.Delta { d[0].Before[0] = 9; return d }),
		"another after":  with(func(d []decl.Delta) []decl.Delta { d[0].After[0] = 9; return d }),
		"turned round":   with(func(d []decl.Delta) []decl.Delta { d[0].Before, d[0].After = d[0].After, d[0].Before; return d }),
		"another path":   with(func(d []decl.Delta) []decl.Delta { d[1].Key.Path = "c"; return d }),
		"another kind":   with(func(d []decl.Delta) []decl.Delta { d[1].Key.Kind = decl.KindRunner; return d }),
		"another core":   with(func(d []decl.Delta) []decl.Delta { d[1].Key.Core = "x"; return d }),
		"removed":        with(func(d []decl.Delta) []decl.Delta { d[0].After = decl.Digest{}; return d }),
	} {
		if s.names(other) {
			t.Errorf("%s passes for it", name)
		}
	}
	lines := itemLines(salt, []decl.Delta{
		{Key: key("a"), Before: decl.Digest{7}, After: decl.Digest{8}}, {Key: key("b"), Before: decl.Digest{7}, After: decl.Digest{8}},
	})
	seen := map[string]bool{}
	for _, l := range append(lines, itemLines(strings.Repeat("5b", saltBytes), deltas)...) {
		for _, d := range []string{l.Before, l.After} {
			if d != Absent && seen[d] {
				t.Errorf("two salted digests are equal: %s", d)
			}
			seen[d] = true
		}
	}
}

func TestPathsOnTheWire(t *testing.T) {
	seen := map[string]string{}
	for _, p := range []string{"", "a/b", "grün", "\xff", "\ufffd", "a\xff", "hex:", "hex:ff", "hex:61", "a\nb", "\x00"} {
		w := wire(p)
		if unwire(w) != p || !wireIsPlain(w) {
			t.Errorf("%q -> %q -> %q", p, w, unwire(w))
		}
		if other, taken := seen[w]; taken {
			t.Errorf("%q and %q are both written %q", other, p, w)
		}
		seen[w] = p
	}
}

// FuzzStatement: what is read is in the one form, makes sense, and encodes to the
// bytes that its token is the digest of.
func FuzzStatement(f *testing.F) {
	good := encoded(f, sample())
	f.Add(good)
	f.Add(bytes.Replace(good, []byte(`"ref"`), []byte(`"Ref"`), 1))
	f.Add(bytes.Replace(good, []byte(`"ref"`), []byte(`"ref": "", "ref"`), 1))
	f.Add(bytes.Replace(good, []byte("fine"), []byte(`\u2028`), 1))
	f.Add(bytes.ReplaceAll(good, []byte("agent/mcp/docs.yaml"), []byte("hex:ff")))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeStatement(data)
		if err != nil {
			return
		}
		again, err := encode(s.body)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%v: %q is read as %q", err, data, again)
		}
		twin, err := decodeStatement(again)
		if err != nil || !reflect.DeepEqual(s, twin) {
			t.Fatalf("it does not read back: %v", err)
		}
		if keys := s.Keys(); len(keys) == 0 || !s.expires.After(s.issued) || !isPrincipal(s.Reviewer()) {
			t.Fatal(fmt.Sprint("it makes no sense: ", keys))
		}
	})
}

// FuzzSigners: a line that counts names its reviewer and the namespace, in a form
// that is read the same alone.
func FuzzSigners(f *testing.F) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGn5XjbCAH6mVSqLxqlkK+HVdeyDR+ugZbvK4SLbRnH0"
	for _, line := range []string{
		"ada " + `namespaces="mcp-review@evolve" ` + key,
		"ada,bob " + `valid-after="20260101Z",namespaces="mcp-review@evolve,git",valid-before="20270101" ` + key + " comment",
		"# comment\n\nada " + `cert-authority,namespaces="mcp-review@evolve" ` + key,
		"*@example.com " + `namespaces="mcp-*" ` + key,
		`ada namespaces="mcp-review@evolve,!mcp-*" ` + key,
		"ada " + key,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseSigners(data, time.UTC)
		if err != nil {
			return
		}
		lines := strings.Split(string(data), "\n")
		for _, s := range got {
			text := lines[s.line-1]
			if !strings.Contains(text, reviewNamespace) || s.key == nil || len(s.principals) == 0 {
				t.Fatalf("%q counts", text)
			}
			alone, err := parseSigners([]byte(text), time.UTC)
			if err != nil || len(alone) != 1 || !sameKey(alone[0].key, s.key) {
				t.Fatalf("%q is read otherwise alone: %v", text, err)
			}
			for _, p := range s.principals {
				if !isPrincipal(p) || !strings.Contains(text, p) {
					t.Fatalf("%q has the principal %q", text, p)
				}
			}
		}
	})
}
