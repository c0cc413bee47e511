package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	value := map[string]any{"a": "<b> & 'c' $\u00e9\u202e\u2028\x7f\U0001f600\ufffd\x1b", "n": []int{}}
	if err := JSON(&b, value); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"a\": \"<b> & 'c' $\\u00e9\\u202e\\u2028\\u007f\\ud83d\\ude00\\ufffd\\u001b\",\n  \"n\": []\n}\n"
	if b.String() != want {
		t.Errorf("got %q", b.String())
	}
	var back map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["a"] != value["a"] {
		t.Errorf("it reads back as %q: %v", back["a"], err)
	}
}

func TestErrorJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	f := fault.New(fault.TokenMissing, "no token").WithHint("evolve review").WithCause(errors.New("not shown"))
	if err := ErrorJSON(&b, f); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"error\": {\n    \"code\": \"token_missing\",\n    \"message\": \"no token\",\n    \"hint\": \"evolve review\"\n  }\n}\n"
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}

// leaky finds in itself what it must not show.
type leaky struct{ err error }

func (l leaky) Check() error { return l.err }

func TestNothingIsWrittenWhenTheGuardFinds(t *testing.T) {
	t.Parallel()
	want := fault.New(fault.Internal, "a withheld value is in the result")
	var b bytes.Buffer
	if err := JSON(&b, leaky{want}); !errors.Is(err, want) || b.Len() > 0 {
		t.Errorf("got %v and %q", err, b.String())
	}
	if err := JSON(&b, leaky{}); err != nil {
		t.Error(err)
	}
}

// writerFunc is a writer that is a function.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriting(t *testing.T) {
	t.Parallel()
	writes := 0
	once := writerFunc(func(p []byte) (int, error) { writes++; return len(p), nil })
	if err := Text(once, fullReport(), TextOptions{}); err != nil || writes != 1 {
		t.Errorf("%d writes, %v", writes, err)
	}
	for _, w := range []io.Writer{
		writerFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe }),
		writerFunc(func(p []byte) (int, error) { return len(p) - 1, nil }),
	} {
		if err := JSON(w, emptyReport()); fault.CodeOf(err) != fault.IOFailed {
			t.Errorf("got %v", err)
		}
	}
}
