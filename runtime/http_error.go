package runtime

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"sync"

	"github.com/evolve-mcp/evolve/internal/netguard"
)

// httpReason says why a request failed: a reason of netguard for a refusal, or
// one of these. The values are stable.
type httpReason string

// The reasons for failures that are no refusal by the policy.
const (
	httpDialFailed        httpReason = "dial_failed"              // no judged address took the connection
	httpTLSFailed         httpReason = "tls_failed"               // no TLS, or a certificate that does not verify
	httpConnectionFailed  httpReason = "connection_failed"        // broken off, or not HTTP
	httpTimeout           httpReason = "timeout"                  // the context's deadline
	httpCanceled          httpReason = "canceled"                 // the context
	httpBodyTooLarge      httpReason = "body_too_large"           // above maxHTTPBody
	httpEventTooLarge     httpReason = "event_too_large"          // above maxEventBytes or maxEventLines
	httpServerRequests    httpReason = "too_many_server_requests" // above maxServerRequests
	httpEncodingRefused   httpReason = "encoding_unsupported"     // a Content-Encoding other than gzip
	httpEncodingBroken    httpReason = "encoding_broken"          // gzip that does not decompress
	httpRedirectNoReplay  httpReason = "redirect_not_replayable"
	httpNoDecision        httpReason = "no_decision" // a bug of ours, caught by the dialer
	httpConnectionsClosed httpReason = "closed"      // the guard was closed before
)

// httpError is every error of the guard. Its text is made of origin and reason
// only: never a path, a query or the text of a library.
type httpError struct {
	Reason httpReason
	// Origin is scheme, host and port; empty if the URL could not be read.
	Origin string
	// Refused says that the URL policy refused: nothing was sent to Origin.
	Refused bool

	cause error // for errors.Is only
}

// Error returns one sentence that may be shown.
func (e *httpError) Error() string {
	what := "failed"
	if e.Refused {
		what = "refused"
	}
	if e.Origin == "" {
		return "request " + what + ": " + string(e.Reason)
	}
	return "request to " + e.Origin + " " + what + ": " + string(e.Reason)
}

// Unwrap returns the cause, whose text must not be shown.
func (e *httpError) Unwrap() error { return e.cause }

// Timeout makes a *url.Error around it report a timeout.
func (e *httpError) Timeout() bool { return e.Reason == httpTimeout }

// httpErrorOf returns the guard's error in err's chain, or nil.
func httpErrorOf(err error) *httpError {
	var e *httpError
	if errors.As(err, &e) {
		return e
	}
	return nil
}

func refusal(d netguard.Decision) *httpError {
	return &httpError{Reason: httpReason(d.Reason), Origin: d.Origin, Refused: true}
}

// failed gives an error of net/http, or of the network below it, a reason.
func failed(ctx context.Context, origin string, err error) *httpError {
	// A dial fails with its context, which then says more.
	if own := httpErrorOf(err); own != nil && (own.Reason != httpDialFailed || ctx.Err() == nil) {
		if own.Origin == "" {
			own = &httpError{Reason: own.Reason, Origin: origin, cause: own.cause}
		}
		return own
	}
	return &httpError{Reason: reasonOf(ctx, err), Origin: origin, cause: err}
}

func reasonOf(ctx context.Context, err error) httpReason {
	var (
		netErr   net.Error
		verify   *tls.CertificateVerificationError
		hostname x509.HostnameError
		unknown  x509.UnknownAuthorityError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return httpTimeout
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return httpCanceled
	case errors.As(err, &verify), errors.As(err, &hostname), errors.As(err, &unknown), errors.As(err, &invalid),
		errors.As(err, &record), errors.As(err, &alert):
		return httpTLSFailed
	case errors.As(err, &netErr) && netErr.Timeout():
		return httpTimeout
	default:
		return httpConnectionFailed
	}
}

// httpFailure holds the first error of the guard under one context. The
// protocol library loses errors that a body ends with, so a caller that got an
// error of the library's asks here for the real one.
type httpFailure struct {
	mu    sync.Mutex
	first *httpError
}

type httpFailureKey struct{}

// withHTTPFailure returns a context whose requests record their first error in
// the returned httpFailure.
func withHTTPFailure(ctx context.Context) (context.Context, *httpFailure) {
	f := &httpFailure{}
	return context.WithValue(ctx, httpFailureKey{}, f), f
}

// Err returns the first error that was recorded, or nil.
func (f *httpFailure) Err() *httpError {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}

// record keeps err for the caller. Cancellation is not kept: a caller sees it in
// its own context, and the library cancels each request that has succeeded.
func record(ctx context.Context, err error) error {
	own := httpErrorOf(err)
	f, ok := ctx.Value(httpFailureKey{}).(*httpFailure)
	if !ok || own == nil || own.Reason == httpCanceled {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		f.first = own
	}
	return err
}
