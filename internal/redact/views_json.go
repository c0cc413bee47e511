package redact

import (
	"bytes"
	"encoding/json"
	"io"
)

// RedactJSON returns a JSON document without secrets in its strings, its names
// and its numbers. It is always encoded anew, so that no escape and no name that
// stands twice hides anything; keys come out sorted.
func (r *Redactor) RedactJSON(doc json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, ErrRedaction
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, ErrRedaction
	}
	v, err := r.value(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, ErrRedaction
	}
	text, err := r.Redact(string(bytes.TrimSpace(out.Bytes())))
	if err != nil {
		return nil, err
	}
	if !json.Valid([]byte(text)) {
		return nil, ErrRedaction // a secret reaches over several values
	}
	return json.RawMessage(text), nil
}

func (r *Redactor) value(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return r.Redact(v)
	case json.Number:
		text, err := r.Redact(v.String())
		if err != nil || text == v.String() {
			return v, err
		}
		return text, nil
	case []any:
		for i := range v {
			inner, err := r.value(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = inner
		}
		return v, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			name, err := r.Redact(name)
			if err != nil {
				return nil, err
			}
			if out[name], err = r.value(inner); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return v, nil
	}
}
