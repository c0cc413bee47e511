package securitydiff

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// seal is the first stage of the last guard: a name that repeats a withheld value
// is withheld itself, with a finding. Names are the only texts of the repository
// that may equal a withheld value; anything else that does is left to Check.
func (r *Report) seal(names *atoms) {
	for _, w := range ownWords {
		r.guard.Own(w)
	}
	s := sealer{guard: r.guard, names: names}
	for _, n := range names.list {
		if r.guard.Repeats(n) {
			s.tainted.Add(string(redact.Escape(n)))
		}
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		if s.seal(c) {
			v := &verdicts{list: c.Findings}
			v.add("secret-repeated", Medium, "")
			c.Findings = v.sorted()
		}
	}
	s.seal(&r.Problems)
}

// sealer withholds the texts that hold a tainted name.
type sealer struct {
	guard   *redact.Guard
	tainted redact.Needles // none is shorter than a withheld value
	names   *atoms
	blank   *strings.Replacer
}

// seal reports whether it withheld anything.
func (s *sealer) seal(part any) bool {
	repeated := false
	eachShown(reflect.ValueOf(part), func(shown *redact.Shown) {
		if s.repeats(string(*shown)) {
			*shown, repeated = redact.Withheld, true
		}
	})
	return repeated
}

func (s *sealer) repeats(text string) bool {
	if s.tainted.In(text) {
		return true
	}
	// A value can also lie across names and words of ours, as "--mode=" does in
	// what is shown of an option. Without the names it is not there.
	return s.guard.Finds(text) && !s.guard.Finds(s.without(text))
}

// longestName is the most bytes of a name that is shown: of a path.
const longestName = 1024

// without blanks the names and our words in a text, in one pass that finds the
// longest of them at each place.
func (s *sealer) without(text string) string {
	if s.blank == nil {
		var sorted []string
		for _, n := range slices.Concat(s.names.list, ownWords) {
			if len(n) > 1 && len(n) <= longestName {
				sorted = append(sorted, string(redact.Escape(n)))
			}
		}
		slices.SortFunc(sorted, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
		pairs := make([]string, 0, 2*len(sorted))
		for _, n := range sorted {
			pairs = append(pairs, n, "\x00")
		}
		s.blank = strings.NewReplacer(pairs...)
	}
	return s.blank.Replace(text)
}

// Check is the second stage: every text of the finished report that came from the
// repository is searched for every withheld value and its common encodings. A
// hit is a bug of ours; the error names the place and nothing else.
// Codes: internal.
func (r *Report) Check() error {
	if r.guard == nil {
		return nil
	}
	var found *redact.Shown
	eachShown(reflect.ValueOf(r), func(s *redact.Shown) {
		if found == nil && r.guard.Finds(string(*s)) {
			found = s
		}
	})
	if found == nil {
		return nil
	}
	at := placeOf(reflect.ValueOf(r), "", found)
	return fault.New(fault.Internal, "the report would have shown a withheld value at %s; nothing was printed", at).
		WithHint("this is a bug in evolve: please report the place named here, without the file")
}

// Digest is the SHA-256 of the report as JSON, in hex.
func (r *Report) Digest() string {
	data, err := json.Marshal(r)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

var shownType = reflect.TypeFor[redact.Shown]()

// eachShown visits every Shown that v points to. It goes by type, so that a
// field that is added later cannot be forgotten.
func eachShown(v reflect.Value, visit func(s *redact.Shown)) {
	if v.Kind() == reflect.String {
		if s, ok := v.Addr().Interface().(*redact.Shown); ok {
			visit(s)
		}
		return
	}
	children(v, func(_ string, child reflect.Value) { eachShown(child, visit) })
}

// placeOf is the place of a Shown in the JSON form, such as changes[0].path.
func placeOf(v reflect.Value, at string, want *redact.Shown) string {
	if v.Kind() == reflect.String && v.Addr().Interface() == any(want) {
		return strings.TrimPrefix(at, ".")
	}
	found := ""
	children(v, func(name string, child reflect.Value) {
		if found == "" {
			if _, err := strconv.Atoi(name); err == nil {
				name = "[" + name + "]"
			} else if name != "" {
				name = "." + name
			}
			found = placeOf(child, at+name, want)
		}
	})
	return found
}

// children visits what a pointer, structure or list holds, by the JSON name of a
// field or the index in a list. Texts of ours are left out.
func children(v reflect.Value, visit func(name string, child reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit("", v.Elem())
		}
	case reflect.Struct:
		t := v.Type()
		for i := range v.NumField() {
			field := t.Field(i)
			if field.IsExported() && (field.Type.Kind() != reflect.String || field.Type == shownType) {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				visit(name, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(strconv.Itoa(i), v.Index(i))
		}
	}
}
