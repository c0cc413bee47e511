package runtime

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// converted is a result of a server as text, not redacted yet.
type converted struct {
	text string
	// structured is the server's JSON, which comes before the text; nil if none.
	structured json.RawMessage
	kinds      string // what contents there are, in our own words
	failed     bool   // the server says so
	input      bool   // it wants something of the user
	media      []Media
}

// maxContents bounds the contents of one result that are converted.
const maxContents = 1000

// rawResult is a tools/call result as far as it is read.
type rawResult struct {
	ResultType string            `json:"resultType"`
	IsError    bool              `json:"isError"`
	Structured json.RawMessage   `json:"structuredContent"`
	Content    []json.RawMessage `json:"content"`
}

// rawContent is one content of any type.
type rawContent struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIME     string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Resource *struct {
		URI  string  `json:"uri"`
		MIME string  `json:"mimeType"`
		Text *string `json:"text"`
		Blob string  `json:"blob"`
	} `json:"resource"`
}

// convert reads a result. Structured content is preferred to the text that
// repeats it; images and sounds beside it are kept. A result that is not what
// the protocol says comes out as it is, marked.
func convert(raw json.RawMessage) converted {
	var r rawResult
	if err := json.Unmarshal(raw, &r); err != nil {
		// Encoded anew, so that no way of writing it hides a secret.
		doc, _ := (&redact.Redactor{}).RedactJSON(raw)
		return converted{text: "[result that could not be read]\n" + string(doc), kinds: "unreadable 1"}
	}
	if r.ResultType == "input_required" {
		return converted{text: "[the server asks for input]", kinds: "input_required", input: true}
	}
	c := converted{failed: r.IsError}
	count := map[string]int{}
	structured := len(r.Structured) > 0 && string(r.Structured) != "null"
	var order, lines []string
	for i, item := range r.Content {
		if i == maxContents {
			lines = append(lines, fmt.Sprintf("[%d more contents]", len(r.Content)-i))
			break
		}
		kind, line := c.content(item)
		if count[kind] == 0 {
			order = append(order, kind)
		}
		count[kind]++
		if kind != "text" || !structured { // what is structured is repeated as text
			lines = append(lines, line)
		}
	}
	if structured {
		c.structured = r.Structured
	}
	c.text = strings.Join(lines, "\n")
	if len(r.Content) == 0 && !structured {
		c.text = emptyResult(r.IsError)
	}
	c.kinds = kindsLine(order, count, structured)
	return c
}

func emptyResult(failed bool) string {
	if failed {
		return `{"status":"failed"}`
	}
	return `{"status":"succeeded"}`
}

func kindsLine(order []string, count map[string]int, structured bool) string {
	var parts []string
	if structured {
		parts = append(parts, "structured 1")
	}
	for _, kind := range order {
		parts = append(parts, fmt.Sprintf("%s %d", kind, count[kind]))
	}
	if len(parts) == 0 {
		return "empty"
	}
	return strings.Join(parts, ", ")
}

// content converts one content, and keeps the bytes of media.
func (c *converted) content(item json.RawMessage) (kind, line string) {
	var r rawContent
	if err := json.Unmarshal(item, &r); err != nil {
		return "unknown", "[unknown content]"
	}
	switch r.Type {
	case "text":
		return "text", r.Text
	case "image", "audio":
		c.keep(r.MIME, r.Data)
		return r.Type, "[" + r.Type + " " + mediaType(r.MIME) + "]"
	case "resource_link":
		title := r.Title
		if title == "" {
			title = r.Name
		}
		return "link", "[" + title + "] " + r.URI
	case "resource":
		if r.Resource == nil {
			return "unknown", "[unknown content]"
		}
		if r.Resource.Text != nil {
			return "resource", *r.Resource.Text
		}
		return "resource", "[resource " + mediaType(r.Resource.MIME) + "] " + r.Resource.URI
	default:
		return "unknown", "[unknown content " + plainWord(r.Type) + "]"
	}
}

func (c *converted) keep(mimeType, data string) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err == nil {
		c.media = append(c.media, Media{MIME: mediaType(mimeType), Data: b})
	}
}

// mediaType returns a media type without parameters, or a placeholder.
func mediaType(s string) string {
	t, _, err := mime.ParseMediaType(s)
	if err != nil || len(t) > 127 || !strings.Contains(t, "/") {
		return "application/octet-stream"
	}
	return t
}

// plainWord returns a type's name if it is one.
func plainWord(s string) string {
	if len(s) > 40 || s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-") != "" {
		return "of an unreadable type"
	}
	return s
}
