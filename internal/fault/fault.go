// Package fault holds the one error type that evolve shows to a person or a
// program: a stable code, a sentence in our own words, and the next step.
//
// It does not decide exit statuses (cmd/evolve holds that table) and it never
// prints: renderers do. A Fault never carries the text of a library's error in
// what it shows, since such text can quote a value from a file; the cause is
// kept for errors.Is and errors.As only.
package fault

import (
	"errors"
	"fmt"
)

// Code names one kind of refusal or failure. Codes are stable: they are the
// first word of the message and the JSON field error.code.
type Code string

// The codes of the gate, of reading, and of the command line.
const (
	TokenMissing         Code = "token_missing"
	TokenMalformed       Code = "token_malformed"
	TokenUnknown         Code = "token_unknown"
	TokenUntrusted       Code = "token_untrusted"
	TokenRulesMismatch   Code = "token_rules_mismatch"
	TokenWrongRepository Code = "token_wrong_repository"
	TokenWrongRef        Code = "token_wrong_ref"
	TokenRevoked         Code = "token_revoked"
	TokenUsed            Code = "token_used"
	TokenNotYetValid     Code = "token_not_yet_valid"
	TokenExpired         Code = "token_expired"
	TokenStale           Code = "token_stale"
	ReviewsInsufficient  Code = "reviews_insufficient"
	SelfReview           Code = "self_review"
	RefProtected         Code = "ref_protected"

	RefMoved       Code = "ref_moved"
	NotFastForward Code = "not_fast_forward"

	ApprovalRequired   Code = "approval_required"
	DeclarationInvalid Code = "declaration_invalid"
	SurfaceUnreadable  Code = "surface_unreadable"
	CoreUnknown        Code = "core_unknown"
	WorktreeBusy       Code = "worktree_busy"
	ValidationFailed   Code = "validation_failed"

	// Usage: the command line itself is wrong.
	Usage Code = "usage"
	// RepositoryUnreadable: no repository here, or Git cannot read it.
	RepositoryUnreadable Code = "repository_unreadable"
	// RevisionUnknown: a revision is missing, ambiguous, or names no commit.
	RevisionUnknown Code = "revision_unknown"
	// RefInvalid: a --ref that is not a full or resolvable branch name.
	RefInvalid Code = "ref_invalid"
	// ConfigInvalid: a setting of the host (evolve.*, gpg.*) is wrong or unsafe.
	ConfigInvalid Code = "config_invalid"
	// SigningFailed: a record could not be signed.
	SigningFailed Code = "signing_failed"
	// IOFailed: the file system or a stream refused.
	IOFailed Code = "io_failed"
	// GitFailed: Git itself failed.
	GitFailed Code = "git_failed"
	// Unsupported: this system, repository or Git cannot do it.
	Unsupported Code = "unsupported"
	// Internal: a bug of ours.
	Internal Code = "internal"
	// Interrupted: a signal ended the command.
	Interrupted Code = "interrupted"
)

// Fault is an error with a stable code, a message and the next step.
type Fault struct {
	// Code is what a caller decides on.
	Code Code
	// Message says what happened, to what. It holds no value from a
	// declaration and no text from a library.
	Message string
	// Hint is the next step, usually a command to run. It may be empty.
	Hint string
	// Cause is kept for errors.Is and errors.As. It is never shown.
	Cause error
}

// Error returns "code: message". The hint and the cause are not part of it.
func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// Unwrap returns the cause, which may be nil.
func (f *Fault) Unwrap() error { return f.Cause }

// WithHint returns a copy of f whose next step is hint.
func (f *Fault) WithHint(format string, args ...any) *Fault {
	g := *f
	g.Hint = fmt.Sprintf(format, args...)
	return &g
}

// WithCause returns a copy of f that wraps cause without showing it.
func (f *Fault) WithCause(cause error) *Fault {
	g := *f
	g.Cause = cause
	return &g
}

// New returns a Fault with the given code and message.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first Fault in err's chain, Internal for any
// other non-nil error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var f *Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return Internal
}
