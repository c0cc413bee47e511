package gitrepo

import (
	"io"
	"strings"
	"testing"
)

// endless is what a child prints that never stops.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestCappedOutput(t *testing.T) {
	c := &capped{limit: 100}
	if n, err := io.Copy(c, io.LimitReader(endless{}, 1<<20)); err == nil || c.buffer.Len() > 100 || !c.over {
		t.Errorf("took %d bytes, %v; kept %d", n, err, c.buffer.Len())
	}
	c = &capped{limit: 100, cut: true}
	if n, err := io.Copy(c, io.LimitReader(endless{}, 1<<20)); err != nil || n != 1<<20 || c.buffer.Len() != 100 || !c.over {
		t.Errorf("took %d bytes, %v; kept %d", n, err, c.buffer.Len())
	}
	c = &capped{limit: 3}
	if _, err := io.Copy(c, strings.NewReader("abc")); err != nil || c.buffer.String() != "abc" || c.over {
		t.Errorf("%v; kept %q", err, c.buffer.String())
	}
}
