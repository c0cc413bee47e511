package stdio

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// frames reads all frames of a text.
func frames(r io.Reader, max int) (list []string, err error) {
	f := newFrameReader(r, max)
	for {
		line, err := f.next()
		if err != nil {
			return list, err
		}
		list = append(list, string(line))
	}
}

func TestFrames(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want string // joined by "|"
		err  error
	}{
		{"", "", io.EOF},
		{"a\nb\r\n\nc\n", "a|b||c", io.EOF},
		{"a\nrest without an end", "a", io.EOF},
		{strings.Repeat("x", 100) + "\n", strings.Repeat("x", 100), io.EOF},
		{strings.Repeat("x", 100) + "\r\n", strings.Repeat("x", 100), io.EOF},
		{"a\n" + strings.Repeat("x", 101) + "\nb\n", "a", ErrFrameTooLarge},
		{strings.Repeat("x", 1000), "", ErrFrameTooLarge},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := frames(r, 100)
			if strings.Join(got, "|") != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%.20q: %q %v", tt.in, got, err)
			}
		}
	}
}

// TestALongFrameHoldsNoMoreThanTheLimit: an endless line is refused early.
func TestAnEndlessLineIsRefusedEarly(t *testing.T) {
	endless := &counter{}
	if _, err := frames(endless, MaxFrame); !errors.Is(err, ErrFrameTooLarge) {
		t.Fatal(err)
	}
	if endless.n > MaxFrame+256<<10 {
		t.Errorf("%d bytes were read", endless.n)
	}
}

type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	c.n += len(p)
	return len(p), nil
}

// FuzzFrames: the reader agrees with splitting at line breaks, however the bytes
// arrive, up to the first line that is too long.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("a\nb\r\n"), 3)
	f.Add([]byte("\r\n\n\r"), 1)
	f.Add(bytes.Repeat([]byte("x"), 200), 5)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit < 1 || limit > 1<<16 {
			t.Skip()
		}
		var want []string
		wantErr := io.EOF
		for line := range bytes.Lines(in) {
			body, ended := bytes.CutSuffix(line, []byte("\n"))
			if ended {
				body = bytes.TrimSuffix(body, []byte("\r"))
			}
			if len(body) > limit {
				wantErr = ErrFrameTooLarge
				break
			}
			if ended {
				want = append(want, string(body))
			}
		}
		for _, r := range []io.Reader{bytes.NewReader(in), iotest.OneByteReader(bytes.NewReader(in)), iotest.DataErrReader(bytes.NewReader(in))} {
			got, err := frames(r, limit)
			if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) || !errors.Is(err, wantErr) {
				t.Errorf("%q %v, want %q %v", got, err, want, wantErr)
			}
		}
	})
}
