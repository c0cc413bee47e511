package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxFrame is the largest message, in bytes, its line break not counted.
const MaxFrame = 8 << 20

// frameReader reads messages, one a line.
type frameReader struct {
	r   *bufio.Reader
	max int
	buf []byte
}

func newFrameReader(r io.Reader, max int) *frameReader {
	const chunk = 64 << 10
	return &frameReader{r: bufio.NewReaderSize(r, chunk), max: max}
}

// keptFrame is the largest buffer that is used again.
const keptFrame = 64 << 10

// next returns the next line without its line break (LF or CRLF). The bytes are
// good until the next call. A line above the limit is ErrFrameTooLarge, found
// before more than the limit and one chunk are held. What follows the last line
// break is no message: the stream ends with io.EOF.
func (f *frameReader) next() ([]byte, error) {
	if cap(f.buf) > keptFrame {
		f.buf = nil
	}
	f.buf = f.buf[:0]
	for {
		piece, err := f.r.ReadSlice('\n')
		if len(f.buf) == 0 && err == nil && len(piece) <= f.max {
			return trimEnd(piece), nil
		}
		f.buf = append(f.buf, piece...)
		switch {
		case len(trimEnd(f.buf)) > f.max:
			return nil, ErrFrameTooLarge
		case err == nil:
			return trimEnd(f.buf), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func trimEnd(line []byte) []byte {
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	if !ended {
		return line
	}
	return bytes.TrimSuffix(line, []byte{'\r'})
}
