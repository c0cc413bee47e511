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

// KeepJSON is RedactJSON, but a document without a secret keeps its bytes, so that
// nothing of a schema's order or numbers is lost.
func (r *Redactor) KeepJSON(doc json.RawMessage) (json.RawMessage, error) {
	clean, err := r.RedactJSON(doc)
	if err != nil {
		return nil, err
	}
	same, err := (&Redactor{}).RedactJSON(doc) // only encodes anew
	if err != nil || !bytes.Equal(same, clean) || namesTwice(doc) {
		return clean, nil //nolint:nilerr // clean is the answer then
	}
	if text, err := r.Redact(string(doc)); err != nil || text != string(doc) {
		return clean, nil //nolint:nilerr // it is hidden by how the document is written
	}
	return doc, nil
}

// namesTwice reports whether an object has two members of one name: decoding
// would drop one of them unseen.
func namesTwice(doc json.RawMessage) bool {
	dec := json.NewDecoder(bytes.NewReader(doc))
	var open []map[string]bool // of objects; nil of arrays
	isName := false
	for {
		token, err := dec.Token()
		if err != nil {
			return err != io.EOF
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open, isName = append(open, map[string]bool{}), true
				continue
			case '[':
				open = append(open, nil)
				continue
			}
			open = open[:len(open)-1]
			isName = len(open) > 0 && open[len(open)-1] != nil
			continue
		case string:
			if inObject && isName {
				if open[len(open)-1][t] {
					return true
				}
				open[len(open)-1][t], isName = true, false
				continue
			}
		}
		isName = inObject
	}
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
