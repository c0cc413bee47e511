package render

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// checked is a value that can search itself for what it must not show.
type checked interface{ Check() error }

// guard runs the last guard of v, if it has one.
func guard(v any) error {
	c, ok := v.(checked)
	if !ok {
		return nil
	}
	return c.Check()
}

// emit hands a finished output over in one Write. A reader that went away is an
// error: an answer that nobody got must not look like success.
func emit(w io.Writer, out []byte) error {
	n, err := w.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fault.New(fault.IOFailed, "the output could not be written").
			WithHint("check what reads it, and the space on the disk").WithCause(err)
	}
	return nil
}

// JSON writes v as one document: indented by two spaces, a line feed at the
// end, "<", ">" and "&" as they are. Characters outside ASCII are written as
// \u escapes, which mean the same to a parser and nothing to a terminal. It
// writes nothing if v has a Check method that fails.
func JSON(w io.Writer, v any) error {
	if err := guard(v); err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fault.New(fault.Internal, "a result could not be written as JSON").WithCause(err)
	}
	return emit(w, escapeJSON(b.Bytes()))
}

// escapeJSON writes what is not printable ASCII as \u escapes. Outside strings
// a JSON text holds only ASCII, so every such character is inside one.
func escapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c < 0x7f {
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			out = appendUnit(appendUnit(out, hi), lo)
		} else {
			out = appendUnit(out, r)
		}
		i += size
	}
	return out
}

func appendUnit(out []byte, unit rune) []byte {
	const wide = 0x10000 // makes five digits, of which the first is dropped
	return append(append(out, `\u`...), strconv.FormatInt(int64(wide+unit), 16)[1:]...)
}
