package review

import (
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Policy is the host's settings, from Git's configuration.
type Policy struct {
	Guard               []string      // evolve.guard: the refs that the hooks protect
	CorePatterns        []string      // evolve.core
	KnownValues         []string      // evolve.knownValue
	Repository          string        // evolve.repository, "" if not set
	Expiry              time.Duration // evolve.expiry; at most MaxExpiry
	MaxExpiry           time.Duration // evolve.maxExpiry
	RequiredReviews     int           // evolve.requiredReviews; at least 1
	ForbidSelfReview    bool          // evolve.forbidSelfReview
	Bind                Bind          // evolve.bind
	AllowNonFastForward bool          // evolve.allowNonFastForward; only with BindCommit
	PusherVariable      string        // evolve.pusherVariable: the server's variable that names the pusher, "" for none
	SharedRepository    string        // core.sharedRepository, "" if not set

	signingKey     string // what signs, "" for the generated key
	signProgram    string // gpg.ssh.program, "" for ssh-keygen
	signersFile    string // gpg.ssh.allowedSignersFile, "" for the generated one
	revocationFile string // gpg.ssh.revocationFile, "" for none

	settings []EffectiveSetting
	place    place
}

// Bind is what a token is bound to.
type Bind string

// What evolve.bind takes.
const (
	// BindChange: the items that change, whatever the commits are.
	BindChange Bind = "change"
	// BindCommit: the base commit and the head's tree too.
	BindCommit Bind = "commit"
)

// EffectiveSetting is one setting that the gate obeys, for doctor. Value and
// Origin are text of the host, to be escaped; a known value is not shown.
type EffectiveSetting struct {
	Name, Value string
	// Origin is where Git found it (file:PATH), or "default".
	Origin string
}

// Settings lists every setting that the gate obeys; one with several values comes
// once for each.
func (p *Policy) Settings() []EffectiveSetting { return p.settings }

// The defaults and bounds of the policy.
const (
	defaultExpiry    = 24 * time.Hour
	defaultMaxExpiry = 7 * 24 * time.Hour
	maxMaxExpiry     = 366 * 24 * time.Hour
	maxReviews       = 16
)

// ExpiryFor is how long a new token is good: what a person asked for (24h, 90m,
// 3d, 2w), "" for the policy's own. Codes: usage.
func (p *Policy) ExpiryFor(asked string) (time.Duration, error) {
	if asked == "" {
		return p.Expiry, nil
	}
	d, ok := parseDuration(asked)
	if !ok {
		return 0, fault.New(fault.Usage, "--expires takes a duration such as 24h, 90m, 3d or 2w")
	}
	if d > p.MaxExpiry {
		return 0, fault.New(fault.Usage, "--expires may be %s at most (evolve.maxExpiry)", inWords(p.MaxExpiry)).
			WithHint("ask for less, or have the host raise evolve.maxExpiry")
	}
	return d, nil
}

// CheckReason refuses a reason that a record or a log line cannot hold: more than
// 500 bytes, more than one line, no UTF-8. Codes: usage.
func CheckReason(s string) error {
	switch {
	case len(s) > maxReason:
		return fault.New(fault.Usage, "--reason has %d bytes; at most %d are kept", len(s), maxReason).
			WithHint("write less, and name where more can be read")
	case !oneLine(s):
		return fault.New(fault.Usage, "--reason must be one line of plain text")
	}
	return nil
}

// shared reports whether several users write this repository (git-init(1),
// --shared).
func (p *Policy) shared() bool {
	switch strings.ToLower(p.SharedRepository) {
	case "", "umask", "false", "no", "off", "0":
		return false
	}
	return true
}
