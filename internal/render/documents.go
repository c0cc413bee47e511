package render

import (
	"encoding/json"
	"time"

	"github.com/evolve-mcp/evolve/securitydiff"
)

// The names of the documents, as their "schema" member gives them. Each has a
// JSON Schema in docs/schema.
const (
	SchemaReview       = "evolve.review/v1"
	SchemaReviews      = "evolve.reviews/v1"
	SchemaRevocation   = "evolve.revocation/v1"
	SchemaPruned       = "evolve.pruned/v1"
	SchemaVerification = "evolve.verification/v1"
	SchemaPromotion    = "evolve.promotion/v1"
	SchemaDoctor       = "evolve.doctor/v1"
	SchemaVersion      = "evolve.version/v1"
)

// List is a JSON array that is never null.
type List[T any] []T

// MarshalJSON writes a nil List as [].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Review is the result of evolve review. Without a record (nothing to review,
// or not approved) Token is nil, and Reviewer and ExpiresAt are left out.
type Review struct {
	Schema    string               `json:"schema"` // SchemaReview
	Token     *string              `json:"token"`
	Ref       string               `json:"ref"`  // its full name
	Base      string               `json:"base"` // a commit id, or "absent"
	Head      string               `json:"head"` // a commit id
	Reviewer  string               `json:"reviewer,omitempty"`
	ExpiresAt time.Time            `json:"expires_at,omitzero"`
	Report    *securitydiff.Report `json:"report"` // nil if none was made
}

// Check is the last guard of the report inside.
func (r Review) Check() error {
	if r.Report == nil {
		return nil
	}
	return guard(r.Report)
}

// Verification is the answer of evolve verify.
type Verification struct {
	Schema string `json:"schema"` // SchemaVerification
	Valid  bool   `json:"valid"`
	Code   string `json:"code"` // the refusal's code, "" if Valid
	Ref    string `json:"ref"`
	Base   string `json:"base"` // a commit id, or "absent"
	Head   string `json:"head"`
	// Tokens are those that were judged, named or found in trailers.
	Tokens List[string] `json:"tokens"`
	// RequiresReview says that the move needs a token at all.
	RequiresReview bool `json:"requires_review"`
}

// Promotion is the result of evolve promote and evolve rollback.
type Promotion struct {
	Schema string       `json:"schema"` // SchemaPromotion
	Ref    string       `json:"ref"`
	Old    string       `json:"old"` // a commit id, or "absent"
	New    string       `json:"new"`
	Tokens List[string] `json:"tokens"`
	DryRun bool         `json:"dry_run"`
	// Outcome is where the ref is now.
	Outcome Outcome `json:"outcome"`
	// UndoneBy is the commit that undid the move, "absent" if the ref was deleted
	// again; "" unless Outcome is undone.
	UndoneBy string `json:"undone_by,omitempty"`
	// Validation is an evolve.catalog/v1 document, nil if none was asked for.
	Validation any `json:"validation"`
}

// Outcome is how a promotion ended.
type Outcome string

// The outcomes.
const (
	OutcomeMoved     Outcome = "moved"
	OutcomeUnchanged Outcome = "unchanged"  // it was there already
	OutcomeWouldMove Outcome = "would_move" // a dry run
	// OutcomeRefused and OutcomeUndone are of a promotion whose servers do not work:
	// before the move, and after one that was undone.
	OutcomeRefused Outcome = "refused"
	OutcomeUndone  Outcome = "undone"
)

// ReviewState is what a gate would say of a record now, whatever the move.
type ReviewState string

// The states.
const (
	ReviewValid      ReviewState = "valid"
	ReviewExpired    ReviewState = "expired"
	ReviewRevoked    ReviewState = "revoked"
	ReviewUsed       ReviewState = "used"
	ReviewUnverified ReviewState = "unverified" // unreadable, or not by an allowed signer
)

// Reviews lists the records of a repository.
type Reviews struct {
	Schema  string            `json:"schema"` // SchemaReviews
	Reviews List[ReviewEntry] `json:"reviews"`
}

// ReviewEntry is one record. Of a record that cannot be read only Token and
// State are known; the rest is empty, and the times are left out.
type ReviewEntry struct {
	Token     string      `json:"token"`
	Ref       string      `json:"ref"`
	Base      string      `json:"base"` // a commit id, or "absent"
	Head      string      `json:"head"`
	Reviewer  string      `json:"reviewer"`
	IssuedAt  time.Time   `json:"issued_at,omitzero"`
	ExpiresAt time.Time   `json:"expires_at,omitzero"`
	State     ReviewState `json:"state"`
	Reason    string      `json:"reason"` // the reviewer's own words; may be ""
}

// Revocation is the result of evolve reviews revoke.
type Revocation struct {
	Schema string `json:"schema"` // SchemaRevocation
	Token  string `json:"token"`
}

// Pruned is the result of evolve reviews prune.
type Pruned struct {
	Schema string       `json:"schema"` // SchemaPruned
	Tokens List[string] `json:"tokens"` // removed, or to be removed
	DryRun bool         `json:"dry_run"`
}

// CheckStatus is the outcome of one of doctor's checks.
type CheckStatus string

// The outcomes.
const (
	StatusOK   CheckStatus = "ok"
	StatusWarn CheckStatus = "warn"
	StatusFail CheckStatus = "fail"
)

// Doctor is what evolve doctor found out.
type Doctor struct {
	Schema   string        `json:"schema"` // SchemaDoctor
	Checks   List[Check]   `json:"checks"`
	Settings List[Setting] `json:"settings"`
}

// Check is one thing that doctor looked at.
type Check struct {
	ID      string      `json:"id"`
	Status  CheckStatus `json:"status"`
	Message string      `json:"message"`
	Mend    string      `json:"mend"` // what to do; "" if nothing
}

// Setting is one effective setting of the host's policy.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // "default", or where Git read it
}

// Version says what this program is.
type Version struct {
	Schema       string `json:"schema"` // SchemaVersion
	Version      string `json:"version"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`      // GOOS/GOARCH
	SurfaceRules int    `json:"surface_rules"` // decl.SurfaceRules
}

// Error is the JSON form of a fault. It has no schema member: it stands where a
// document would, on standard error.
type Error struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody is what went wrong and what to do about it.
type ErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"` // "" if there is no next step
}
