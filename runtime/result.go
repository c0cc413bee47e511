package runtime

import (
	"time"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// Status is how a call ended.
type Status string

// The statuses.
const (
	Succeeded Status = "succeeded"
	// Denied: no capability, a policy that says deny, or no approval.
	Denied Status = "denied"
	// Invalid: the turn does not fit the tool's connection any more, or the
	// arguments are no JSON object. Nothing was started.
	Invalid Status = "invalid"
	// NotFound: there is no such tool.
	NotFound Status = "not_found"
	// Failed: the server says so.
	Failed Status = "failed"
	// TimedOut: timeout_seconds passed. The server may still be working.
	TimedOut Status = "timed_out"
	// Cancelled: the caller's context ended.
	Cancelled Status = "cancelled"
	// InputRequired: the server wants something of the user before it goes on,
	// and nobody answers for the user.
	InputRequired Status = "input_required"
	// Indeterminate: the connection was lost after the call was sent. It may
	// have been executed.
	Indeterminate Status = "indeterminate"
)

// Views are five independent, bounded texts about one result.
type Views = redact.Views

// ViewLimits are the largest views, in bytes.
type ViewLimits = redact.ViewLimits

// FailedView is what every view holds where redaction failed.
const FailedView = redact.FailedView

// Result is how a call ended and what may be shown of it.
type Result struct {
	Status Status
	// Started says that the request was handed to the server's connection.
	Started bool
	// Reason is a stable word for Denied and Invalid, such as
	// "capability_missing".
	Reason string
	// Views are redacted. They are filled for every status.
	Views Views
	// Media are the images and sounds of the result, for a host that shows
	// them. They come from the server as they are.
	Media    []Media
	Duration time.Duration
}

// Media is one image or sound.
type Media struct {
	MIME string // as the server says, if it is a plain media type
	Data []byte
}

// Notification is progress, or a log message, of a server.
type Notification struct {
	Session, ServerID string
	Kind              string // "progress" or "log"
	// Of progress: the call it belongs to, and how far it is. Total is 0 if it
	// is not known.
	Tool            string
	Progress, Total float64
	// Of a log message:
	Level, Logger string
	// Message is redacted text of the server, printable ASCII.
	Message string
}
