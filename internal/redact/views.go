package redact

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/safetext"
)

// FailedView is all that is shown where redaction failed.
const FailedView = "<redaction-failed>"

// Views are five independent texts about one result. Each is made from the
// redacted source by itself, within its own limit.
type Views struct {
	// Model is what the model reads: the whole text, as far as the limit goes.
	Model string
	// Operator is for a person at a terminal: printable ASCII and line breaks.
	Operator string
	// Event is one line for event sinks, in our own words: no text of the server.
	Event string
	// Durable is a JSON object for transcripts: status, contents, text.
	Durable string
	// Debug is one line with everything that helps to find a fault.
	Debug string
}

// ViewLimits are the largest views, in bytes. A zero field is its default.
type ViewLimits struct{ Model, Operator, Event, Durable, Debug int }

// WithDefaults fills in 256 KiB, 8 KiB, 512 bytes, 64 KiB and 16 KiB.
func (l ViewLimits) WithDefaults() ViewLimits {
	for _, f := range []struct {
		v        *int
		fallback int
	}{{&l.Model, 256 << 10}, {&l.Operator, 8 << 10}, {&l.Event, 512}, {&l.Durable, 64 << 10}, {&l.Debug, 16 << 10}} {
		if *f.v <= 0 {
			*f.v = f.fallback
		}
	}
	return l
}

// ViewSource is what views are made of.
type ViewSource struct {
	Status string // ours
	Kinds  string // ours: what contents there are, such as "text 2, image 1"
	Detail string // ours: what happened below
	// Structured is the server's JSON, if it sent any; it comes before Text. It is
	// redacted as what it means, whatever way it is written. Neither is redacted yet.
	Structured json.RawMessage
	Text       string
}

// redacted is the server's part of a view.
func (src ViewSource) redacted(s Scrubber) (string, error) {
	text, err := s.Redact(strings.ToValidUTF8(src.Text, "\uFFFD"))
	if err != nil || src.Structured == nil {
		return text, err
	}
	js, ok := s.(interface {
		KeepJSON(doc json.RawMessage) (json.RawMessage, error)
	})
	if !ok {
		return "", ErrRedaction
	}
	doc, err := js.KeepJSON(json.RawMessage(strings.ToValidUTF8(string(src.Structured), "\uFFFD")))
	switch {
	case err != nil:
		return "", err
	case text == "":
		return string(doc), nil
	}
	// Both are free of secrets; together they could spell one.
	return s.Redact(string(doc) + "\n" + text)
}

// Scrubber makes a text free of secrets: a *Redactor.
type Scrubber interface {
	Redact(text string) (string, error)
}

// BuildViews makes the views of a result. model knows the secrets of the
// server; others knows the call's arguments too, which the model has written
// itself and nobody else needs to see. If either fails, every view is
// FailedView.
func BuildViews(src ViewSource, model, others Scrubber, limits ViewLimits) (v Views) {
	limits = limits.WithDefaults()
	defer func() {
		if recover() != nil {
			v = failedViews()
		}
	}()
	forModel, err := src.redacted(model)
	if err != nil {
		return failedViews()
	}
	forOthers, err := src.redacted(others)
	if err != nil {
		return failedViews()
	}
	// Escaping adds characters, so that what comes out is looked at again.
	operator, err := others.Redact(terminalLines(Cut(forOthers, limits.Operator)))
	if err != nil {
		return failedViews()
	}
	debug, err := others.Redact(safetext.Terminal(src.Status + "; " + src.Kinds + "; " + src.Detail + "; " + Cut(forOthers, limits.Debug)))
	if err != nil {
		return failedViews()
	}
	return Views{
		Model:    Cut(forModel, limits.Model),
		Operator: Cut(operator, limits.Operator),
		Event:    Cut(eventLine(src), limits.Event),
		Durable:  durable(src, forOthers, limits.Durable),
		Debug:    Cut(debug, limits.Debug),
	}
}

func failedViews() Views {
	return Views{Model: FailedView, Operator: FailedView, Event: FailedView, Durable: `"` + FailedView + `"`, Debug: FailedView}
}

func eventLine(src ViewSource) string {
	line := src.Status
	if src.Kinds != "" {
		line += ": " + src.Kinds
	}
	return line
}

func terminalLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = safetext.Terminal(lines[i])
	}
	return strings.Join(lines, "\n")
}

// durable encodes within the limit: a text that does not fit is cut until it
// does.
func durable(src ViewSource, text string, limit int) string {
	room := limit
	for {
		doc := struct {
			Status   string `json:"status"`
			Contents string `json:"contents,omitempty"`
			Text     string `json:"text"`
			Cut      bool   `json:"cut,omitempty"`
		}{src.Status, src.Kinds, Cut(text, room), len(text) > room}
		b, err := json.Marshal(doc)
		if err == nil && (len(b) <= limit || room <= 0) {
			return string(b)
		}
		room = room*3/4 - 1
	}
}

// Cut shortens a text to limit bytes, whole characters, and says how much was
// left out.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	note := "[cut: " + strconv.Itoa(len(s)) + " bytes]"
	if len(note) >= limit {
		note = ""
	}
	keep := max(0, limit-len(note))
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return s[:keep] + note
}
