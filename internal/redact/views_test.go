package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const viewSecret = "s3cr3t/Value+42=="

func TestRedactorFindsSecretsInEveryForm(t *testing.T) {
	r := NewRedactor(NewRaw(viewSecret), NewRaw("pin:4821"), NewRaw("two words of a phrase"))
	b64 := base64.StdEncoding
	for name, text := range map[string]string{
		"plain":             "a " + viewSecret + " b",
		"twice":             viewSecret + viewSecret,
		"base64":            b64.EncodeToString([]byte(viewSecret)),
		"base64 after one":  b64.EncodeToString([]byte("x" + viewSecret + "tail")),
		"base64 after two":  b64.EncodeToString([]byte("xy" + viewSecret)),
		"base64 for URLs":   base64.RawURLEncoding.EncodeToString([]byte("user:" + viewSecret)),
		"hex":               hex.EncodeToString([]byte(viewSecret)),
		"HEX":               strings.ToUpper(hex.EncodeToString([]byte("ab" + viewSecret))),
		"query":             url.QueryEscape(viewSecret),
		"path":              url.PathEscape(viewSecret),
		"small percent":     strings.ToLower(percentAll(viewSecret)),
		"JSON":              `{"a":"s3cr3t\u002fValue+42=="}`,
		"split":             "s3cr\n3t/Val\r\n\t  ue+42\n==",
		"split in colours":  "\x1b[1;31ms3cr3t\x1b[0m/Value+42==",
		"split base64":      b64.EncodeToString([]byte(viewSecret))[:9] + "\n" + b64.EncodeToString([]byte(viewSecret))[9:],
		"phrase over lines": "two words\nof a\nphrase",
		"short, with name":  "it is pin:4821.",
	} {
		out, err := r.Redact(text)
		if name == "JSON" {
			var doc json.RawMessage
			doc, err = r.RedactJSON(json.RawMessage(text))
			out = string(doc)
		}
		if err != nil || !strings.Contains(out, mark) || strings.Contains(out, "Value") || strings.Contains(out, "4821") {
			t.Errorf("%s: %q %v", name, out, err)
		}
	}
}

// Encoders of JSON differ in what they escape, and in the digits' case.
func TestRedactorKnowsTheEscapesOfJSON(t *testing.T) {
	for secret, texts := range map[string][]string{
		"ab+cd/efgh+ij==": {`ab\u002Bcd/efgh\u002Bij==`, `ab\u002bcd/efgh\u002bij==`, `ab+cd\/efgh+ij==`},
		"p<ss&word'1":     {`p\u003css\u0026word'1`, `p\u003Css\u0026word\u00271`, `p\\u003Css\\u0026word\\u00271`},
		"say \"q\" twice": {`say \"q\" twice`, `say \u0022q\u0022 twice`},
		"pässwörd-größe":  {`p\u00e4ssw\u00f6rd-gr\u00f6\u00dfe`, `p\u00E4ssw\u00F6rd-gr\u00F6\u00DFe`},
		"\U0001f511-secret": {`\ud83d\udd11-secret`, `\uD83D\uDD11-secret`,
			`\ud83d\udd11\u002d\u0073\u0065\u0063\u0072\u0065\u0074`},
	} {
		r := NewRedactor(NewRaw(secret))
		for _, text := range texts {
			if out, err := r.Redact("a " + text + " b"); out != "a "+mark+" b" || err != nil {
				t.Errorf("%s: %q %v", text, out, err)
			}
		}
	}
}

func TestRedactorLeavesOtherTextAlone(t *testing.T) {
	r := NewRedactor(NewRaw(viewSecret), NewRaw("abc"), NewRaw(""))
	for _, text := range []string{"", "abc", "nothing here\n\tat all \x1b[0m", "s3cr3t/Value+42", strings.Repeat("x", 1000)} {
		if out, err := r.Redact(text); out != text || err != nil {
			t.Errorf("%q became %q, %v", text, out, err)
		}
	}
}

// A window that cuts a secret leaves no part of it, at neither end.
func TestRedactorLeavesNoFragmentAtAnEdge(t *testing.T) {
	r := NewRedactor(NewRaw(viewSecret))
	for _, form := range []string{viewSecret, base64.RawStdEncoding.EncodeToString([]byte(viewSecret)), hex.EncodeToString([]byte(viewSecret))} {
		for n := LeastSecret + 1; n < len(form); n++ {
			out, err := r.RedactWindow(form[len(form)-n:]+" end", true, false)
			if err != nil || strings.Contains(out, form[len(form)-n:]) {
				t.Errorf("front: %q %v", out, err)
			}
			out, err = r.RedactWindow("begin "+form[:n], false, true)
			if err != nil || strings.Contains(out, form[:n]) {
				t.Errorf("back: %q %v", out, err)
			}
		}
	}
	if out, _ := r.RedactWindow("== is not cut off", true, true); out != "== is not cut off" {
		t.Errorf("%q", out)
	}
}

// Where the mark itself is a secret, redaction fails rather than to show it.
func TestRedactionThatCannotSucceedFails(t *testing.T) {
	for _, s := range []string{"redacted", "<redacted>", "cted><red"} {
		r := NewRedactor(NewRaw(s), NewRaw(viewSecret))
		out, err := r.Redact(viewSecret + viewSecret)
		if s == "cted><red" && err == nil && out == mark { // two marks became one
			continue
		}
		if !errors.Is(err, ErrRedaction) {
			t.Errorf("%s: %q %v", s, out, err)
		}
	}
}

func TestRedactJSONReachesNamesAndNumbers(t *testing.T) {
	r := NewRedactor(NewRaw("48213377"), NewRaw(viewSecret))
	out, err := r.RedactJSON(json.RawMessage(`{"b":48213377,"a":["x",{"` + viewSecret + `":1}],"a2":12345678901234567890,"a2":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":["x",{"<redacted>":1}],"a2":1,"b":"<redacted>"}`; string(out) != want {
		t.Errorf("%s\nwant %s", out, want)
	}
	for _, broken := range []string{"", "{", "{} {}"} {
		if _, err := r.RedactJSON(json.RawMessage(broken)); !errors.Is(err, ErrRedaction) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

type scrub func(string) (string, error)

func (f scrub) Redact(s string) (string, error) { return f(s) }

func TestViewsAreBoundedAndIndependent(t *testing.T) {
	r := NewRedactor(NewRaw(viewSecret))
	others := r.With(NewRaw("what the model asked"))
	limits := ViewLimits{Model: 100, Operator: 80, Event: 60, Durable: 120, Debug: 90}
	for _, text := range []string{"", "short", strings.Repeat("é\x00\xff\n", 1000), viewSecret + " what the model asked", strings.Repeat(viewSecret, 100)} {
		src := ViewSource{Status: "succeeded", Kinds: "text 1", Detail: "server docs", Text: text}
		v := BuildViews(src, r, others, limits)
		for name, got := range map[string]struct {
			text  string
			limit int
		}{"model": {v.Model, 100}, "operator": {v.Operator, 80}, "event": {v.Event, 60}, "durable": {v.Durable, 120}, "debug": {v.Debug, 90}} {
			if len(got.text) > got.limit || !utf8.ValidString(got.text) || strings.Contains(got.text, "Value") {
				t.Errorf("%s of %.20q: %q", name, text, got.text)
			}
			if name != "model" && strings.Contains(got.text, "the model asked") {
				t.Errorf("%s repeats the arguments: %q", name, got.text)
			}
		}
		var doc struct{ Status, Contents, Text string }
		if err := json.Unmarshal([]byte(v.Durable), &doc); err != nil || doc.Status != "succeeded" {
			t.Errorf("durable: %s %v", v.Durable, err)
		}
		for _, c := range v.Operator + v.Debug {
			if c != '\n' && (c < ' ' || c > '~') {
				t.Errorf("%q in %q", c, v.Operator)
			}
		}
	}
	v := BuildViews(ViewSource{Status: "succeeded", Text: "what the model asked"}, r, others, ViewLimits{})
	if v.Model != "what the model asked" || v.Operator != mark {
		t.Errorf("%+v", v)
	}
}

func TestAFailingRedactionFailsEveryView(t *testing.T) {
	good := NewRedactor()
	want := Views{Model: FailedView, Operator: FailedView, Event: FailedView, Durable: `"` + FailedView + `"`, Debug: FailedView}
	for name, bad := range map[string]scrub{
		"error": func(string) (string, error) { return "leak", ErrRedaction },
		"panic": func(string) (string, error) { panic("leak") },
	} {
		for _, pair := range [][2]Scrubber{{bad, good}, {good, bad}} {
			if got := BuildViews(ViewSource{Status: "succeeded", Text: "leak"}, pair[0], pair[1], ViewLimits{}); got != want {
				t.Errorf("%s: %s", name, cmp.Diff(want, got))
			}
		}
	}
}

// FuzzRedactor: no secret of the input set, in any listed encoding and broken
// anywhere, survives in any view.
func FuzzRedactor(f *testing.F) {
	f.Add("hunter2-hunter2", "pin4821x", "before", "after", uint8(3), uint8(2))
	f.Add(viewSecret, "redacted", "<redacted>", "==", uint8(0), uint8(9))
	f.Add("aaaaaaaa", "aaaabaaa", "aaaa", "aab", uint8(5), uint8(1))
	f.Fuzz(func(t *testing.T, one, two, before, after string, form, cut uint8) {
		secrets := []string{}
		for _, s := range []string{one, two} {
			if len(squeeze(s)) >= LeastSecret && utf8.ValidString(s) && len(s) < 200 {
				secrets = append(secrets, s)
			}
		}
		if len(secrets) == 0 {
			return
		}
		r := NewRedactor(NewRaw(one), NewRaw(two))
		list := append([]string{secrets[0]}, encodings(secrets[0])...)
		shown := list[int(form)%len(list)]
		if at := int(cut); at < len(shown) {
			shown = shown[:at] + "\n  " + shown[at:]
		}
		v := BuildViews(ViewSource{Status: "ok", Text: before + shown + after}, r, r, ViewLimits{})
		for name, text := range map[string]string{"model": v.Model, "operator": v.Operator, "debug": v.Debug, "durable": v.Durable} {
			if name == "durable" && text != `"`+FailedView+`"` {
				var doc struct{ Text string }
				if err := json.Unmarshal([]byte(text), &doc); err != nil {
					t.Fatal(err)
				}
				text = doc.Text
			}
			if text == FailedView {
				continue
			}
			for _, s := range secrets {
				for _, enc := range append([]string{s}, encodings(s)...) {
					if len(squeeze(enc)) >= LeastSecret && strings.Contains(squeeze(text), squeeze(enc)) && !inOurWords(name, enc) {
						t.Errorf("%s view holds %q as %q: %q", name, s, enc, text)
					}
				}
			}
		}
	})
}

// inOurWords: the debug view and the mark hold words of ours, which a secret may
// equal without being learnt from them.
func inOurWords(view, secret string) bool {
	return strings.Contains(squeeze(mark+mark), squeeze(secret)) || view == "debug" && strings.Contains(squeeze("ok;;;"+mark), squeeze(secret))
}

func BenchmarkRedactor(b *testing.B) {
	var secrets []Raw
	for i := range 10 {
		secrets = append(secrets, NewRaw(fmt.Sprintf("secret-number-%d-of-ten", i)))
	}
	r := NewRedactor(secrets...)
	text := strings.Repeat("a line of ordinary text that a server writes, with numbers 12345\n", (8<<20)/65)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := r.Redact(text); err != nil {
			b.Fatal(err)
		}
	}
}
