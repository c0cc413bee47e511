package stdio

// Error is why a stream or a process is of no use any more. Its text is a
// constant that may be shown.
type Error string

// The errors.
const (
	ErrClosed        Error = "the connection was closed"
	ErrEnded         Error = "the server closed its standard output"
	ErrExited        Error = "the server's process ended"
	ErrFrameTooLarge Error = "the server sent a message above the limit"
	ErrRequestLarge  Error = "the request is above the limit of a message"
	ErrNoise         Error = "the server writes something other than messages to its standard output"
	ErrWrongID       Error = "the server answered a request that was never made"
	ErrFlooded       Error = "the server makes too many requests at once"
	ErrWrite         Error = "the server stopped reading its standard input"
	ErrStart         Error = "the command could not be started"
	ErrStderr        Error = "no temporary file for standard error"
)

// NotSent says that nothing of a message was sent, since the connection was
// already of no use.
type NotSent struct{ Reason error }

// Error is the reason's.
func (e *NotSent) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *NotSent) Unwrap() error { return e.Reason }

// Error returns the constant.
func (e Error) Error() string { return string(e) }
