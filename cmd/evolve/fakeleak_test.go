package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// leaks lists the ways in which a server repeats a secret: as it is, in base64 in
// both alphabets at the three offsets, in hex, URL-encoded, JSON-escaped, and
// broken over lines.
func leaks(s string) []string {
	out := []string{
		s, "the token is " + s + ", is it not", "Bearer " + s, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))),
		url.QueryEscape(s), url.PathEscape(s), percent(s, "%%%02X"), percent(s, "%%%02x"), jsonText(s), unicodeText(s),
		s[:len(s)/2] + "\n" + s[len(s)/2:], s[:5] + "\r\n    " + s[5:9] + "\n\n" + s[9:], strings.Join(strings.Split(s, ""), "\n"),
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for _, before := range []string{"", "a", "ab"} {
			encoded := encoding.EncodeToString([]byte(before + s + "and what follows"))
			out = append(out, encoded, encoded[:len(encoded)/2]+"\n"+encoded[len(encoded)/2:])
		}
	}
	return out
}

func percent(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	must(err)
	return string(b[1 : len(b)-1])
}

func unicodeText(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// leakingResult repeats the secret wherever a server has a say: leak answers,
// leak-error answers calls with an error, leak-refuse and leak-list fail at the
// start, and all write to standard error.
func (f *fake) leakingResult(method string) (result any, special bool) {
	all := leaks(os.Getenv("SECRET"))
	said := strings.Join(all, " | ")
	fmt.Fprintln(os.Stderr, method+": "+strings.Join(all, "\n"))
	switch {
	case method == "initialize" && f.behaviour == "leak-refuse", method == "tools/list" && f.behaviour == "leak-list":
		return errors.New(said), true
	case method == "tools/list":
		var tools []any
		for i, one := range all {
			tools = append(tools, map[string]any{
				"name": fmt.Sprintf("say%02d", i), "title": one, "description": "It says " + one + ".",
				"inputSchema": map[string]any{
					"type": "object", "description": one,
					"properties": map[string]any{"p": map[string]any{"type": "string", "default": one, "enum": []string{one}}},
				},
				"outputSchema": map[string]any{"type": "object", "title": one},
			})
		}
		return map[string]any{"tools": append(tools, map[string]any{"name": all[0], "inputSchema": map[string]any{"type": "object"}})}, true
	case method == "tools/call" && f.behaviour == "leak-error":
		return errors.New(said), true
	case method == "tools/call":
		f.notify("notifications/message", map[string]any{"level": "info", "logger": all[0], "data": said})
		return map[string]any{
			"isError": f.behaviour == "leak-failed",
			"structuredContent": map[string]any{
				"said": all, all[0]: 1, "nested": map[string]any{"again": said},
			},
			"content": []any{
				map[string]any{"type": "image", "mimeType": all[0], "data": base64.StdEncoding.EncodeToString([]byte(said))},
				map[string]any{"type": "resource_link", "title": said, "uri": "file:///" + all[0], "name": said},
				map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///" + all[0], "text": said}},
				map[string]any{"type": all[0], "text": said},
			},
		}, true
	}
	return nil, false
}

// noLeak fails if a file repeats the value of a variable in any encoding, or a
// part of it that is worth anything: noleak VARIABLE FILE...
func noLeak(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: noleak VARIABLE FILE...")
	}
	secret := ts.Getenv(args[0])
	for _, name := range args[1:] {
		data := ts.ReadFile(name)
		if len(data) == 0 {
			ts.Fatalf("%s is empty: it proves nothing", name)
		}
		if form := leaked(secret, data); form != "" {
			ts.Fatalf("%s holds a part of the secret: %q", name, form)
		}
	}
}

// leaked returns the first part of an encoding of the secret that a text holds,
// white space left out, and "" if it holds none.
func leaked(secret, text string) string {
	text = strings.Join(strings.Fields(strings.NewReplacer(`\n`, "\n", `\r`, "\n").Replace(text)), "")
	escapedTwice := strings.ReplaceAll(text, `\\`, `\`)
	forms := []string{
		secret, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
		url.QueryEscape(secret), url.PathEscape(secret), percent(secret, "%%%02X"), percent(secret, "%%%02x"),
		jsonText(secret), unicodeText(secret),
	}
	const group = 4 // characters of base64 at the ends that depend on the neighbours
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for _, before := range []string{"", "a", "ab"} {
			encoded := encoding.EncodeToString([]byte(before + secret + "and"))
			forms = append(forms, encoded[group:len(encoded)-2*group])
		}
	}
	const window = 8
	for i, form := range forms {
		size := window
		if i > 0 {
			size = 3 * window // an escape takes up to six characters
		}
		for at := 0; at+size <= len(form); at++ {
			part := form[at : at+size]
			if strings.Contains(text, part) || strings.Contains(escapedTwice, part) {
				return part
			}
		}
	}
	return ""
}
