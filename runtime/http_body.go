package runtime

import (
	"compress/gzip"
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// Limits of a response.
const (
	// maxHTTPBody bounds a body, in bytes, before and after decompression. Only
	// a stream that listens may pass it, by one event, and ends then.
	maxHTTPBody = 8 << 20
	// maxEventBytes bounds one event of a stream, comments not counted.
	maxEventBytes = 8 << 20
	// maxEventLines bounds the lines of one event: the protocol library joins
	// them one by one, in time that grows with their square.
	maxEventLines = 10_000
	// maxServerRequests bounds the requests that a server makes in one stream:
	// the protocol library answers each in a goroutine of its own, which may
	// take 30 seconds.
	maxServerRequests = 100
)

// callLimits are for the stream that answers a request: past the limit it fails.
func callLimits() eventLimits {
	return eventLimits{
		total: maxHTTPBody, event: maxEventBytes, lines: maxEventLines, requests: maxServerRequests, oneResponse: true,
	}
}

// listenLimits are for a stream that stays open for notifications: past the
// limit it ends between two events, and the client opens another.
func listenLimits() eventLimits {
	return eventLimits{
		total: maxHTTPBody + maxEventBytes, event: maxEventBytes, lines: maxEventLines,
		requests: maxServerRequests, endAfter: maxHTTPBody,
	}
}

// limitedBody reads a response, decompressed, up to its limits. Errors other
// than io.EOF are *httpError.
type limitedBody struct {
	ctx    context.Context
	origin string
	source io.ReadCloser // from the network
	reader io.Reader     // decompressed and capped
	err    error         // once set, for good

	onClose   func()
	closeOnce sync.Once
}

// limitBody returns the capped body of resp, and makes its headers fit. Only a
// stream that the protocol library reads event by event is read by event here.
func limitBody(ctx context.Context, origin string, resp *http.Response, limits eventLimits) (*limitedBody, error) {
	// The same reading as the library's, errors included.
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	streamed := mediaType == "text/event-stream" &&
		(resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusAccepted)
	if !streamed {
		limits = eventLimits{total: maxHTTPBody}
	}
	if resp.ContentLength > int64(limits.total) {
		return nil, &httpError{Reason: httpBodyTooLarge, Origin: origin}
	}
	// What comes in is capped too: gzip can decompress to nothing.
	var reader io.Reader = &cappedReader{r: resp.Body, left: limits.total}
	switch encoding := strings.ToLower(strings.Join(resp.Header.Values("Content-Encoding"), ",")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		reader = &gunzip{compressed: &sourceReader{r: reader}}
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
	default:
		return nil, &httpError{Reason: httpEncodingRefused, Origin: origin}
	}
	if streamed {
		reader = newEventReader(reader, limits)
	} else {
		reader = &cappedReader{r: reader, left: limits.total}
	}
	return &limitedBody{ctx: ctx, origin: origin, source: resp.Body, reader: reader}, nil
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // an EOF inside another error is no end
		err = record(b.ctx, failed(b.ctx, b.origin, err))
	}
	b.err = err
	return n, err
}

// Close may be called from another goroutine, to end a Read that waits.
func (b *limitedBody) Close() error {
	err := b.source.Close()
	b.closeOnce.Do(func() {
		if b.onClose != nil {
			b.onClose()
		}
	})
	if err != nil {
		return failed(b.ctx, b.origin, err)
	}
	return nil
}

// cappedReader fails when more than left bytes come.
type cappedReader struct {
	r    io.Reader
	left int
}

func (c *cappedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= n; c.left < 0 {
		return 0, &httpError{Reason: httpBodyTooLarge}
	}
	return n, err
}

// sourceReader keeps the error that its reader ended with.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.err = err
	return n, err
}

// gunzip decompresses. It reads the header with the first Read, since a stream
// may send nothing for long.
type gunzip struct {
	compressed *sourceReader
	z          *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.compressed)
		if err != nil {
			return 0, g.failure(err)
		}
		g.z = z
	}
	n, err := g.z.Read(p)
	return n, g.failure(err)
}

// failure tells bad data from a connection that broke. An empty body is an
// empty body.
func (g *gunzip) failure(err error) error {
	switch {
	case err == nil, err == io.EOF: //nolint:errorlint // an EOF inside another error is no end
		return err
	case g.compressed.err != nil && g.compressed.err != io.EOF: //nolint:errorlint // as above
		return g.compressed.err
	default:
		return &httpError{Reason: httpEncodingBroken, cause: err}
	}
}
