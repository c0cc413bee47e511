package render

import (
	"io"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// ErrorJSON writes a fault as {"error":{"code","message","hint"}}.
func ErrorJSON(w io.Writer, f *fault.Fault) error {
	return JSON(w, Error{ErrorBody{Code: string(f.Code), Message: f.Message, Hint: f.Hint}})
}

// ErrorText writes a fault as "code: message" and, if there is a next step,
// "hint: ..." below it, wrapped at width columns (80 if 0). Both are escaped: a
// message may name a path or a ref.
func ErrorText(w io.Writer, f *fault.Fault, width int) error {
	const indent = 2
	p := newPage(TextOptions{Width: width})
	p.prose(0, indent, words(string(f.Code)+": "+f.Message, plain)...)
	if f.Hint != "" {
		p.prose(0, indent, words("hint: "+f.Hint, plain)...)
	}
	return emit(w, p.buf.Bytes())
}

// Note writes a sentence beside a result, wrapped at width columns (80 if 0) and
// escaped.
func Note(w io.Writer, text string, width int) error {
	const indent = 2
	p := newPage(TextOptions{Width: width})
	p.prose(0, indent, words(text, plain)...)
	return emit(w, p.buf.Bytes())
}
