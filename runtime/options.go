package runtime

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"io"
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/runtime/internal/stdio"
)

// Resolver looks up all addresses of a name, as text. Any query that failed
// must fail the whole lookup.
type Resolver interface {
	LookupHost(ctx context.Context, name string) ([]string, error)
}

// Stream carries a server's messages, one a line. A net.Conn is one.
type Stream interface {
	io.ReadWriteCloser
	SetWriteDeadline(time.Time) error
}

// Options are what a host brings. Only Home is required; the zero value of
// everything else is the strictest: no approver approves nothing, no trusted
// network allows public addresses only.
type Options struct {
	// Home is the runtime home (~/.demiurge by custom): absolute, for private
	// homes and the standard error log.
	Home string
	// LookupEnv is the host's environment, such as os.LookupEnv; nil is an
	// empty one.
	LookupEnv func(string) (string, bool)
	// ExtraEnvironment names variables of the host that child processes get
	// beside the standing allowlist. HOME and USERPROFILE are not passed on.
	ExtraEnvironment []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Resolver resolves names of servers; nil is the system's configuration.
	Resolver Resolver
	// TrustedNetworks may be reached although they are private, shared,
	// loopback or unique-local.
	TrustedNetworks []netip.Prefix
	// NAT64 are the network's own translation prefixes.
	NAT64 []netip.Prefix
	// RootCAs verify servers; nil means the system's.
	RootCAs *x509.CertPool
	// Approver is asked where a policy says prompt; nil says no.
	Approver Approver
	// Events takes what happens; nil logs to slog.Default.
	Events EventSink
	// Elicitor answers servers that ask the user; nil offers nothing to them.
	Elicitor Elicitor
	// Notify gets progress and log notifications, redacted, one at a time; it
	// must not block long.
	Notify func(Notification)
	// FingerprintKey (32 bytes) keeps fingerprints in previews comparable from
	// run to run; nil makes one.
	FingerprintKey []byte
	// Connect, if set, reaches stdio servers in place of starting a process:
	// for tests in memory. It is called after everything was approved.
	Connect func(ctx context.Context, d Declaration) (Stream, error)
	Limits  Limits
}

// Limits bound what servers may cost. A zero field is its default.
type Limits struct {
	Discoveries     int           // servers in discovery at once; 4
	FailureLife     time.Duration // how long a failure is remembered; 30 s
	ApprovalLife    time.Duration // how long an approval for a session lasts; 8 h
	Pages           int           // of one tools/list; 100
	Tools           int           // of one server; 1,000
	ToolBytes       int           // of all definitions of one server; 8 MiB
	Views           ViewLimits
	StdinGrace      time.Duration // see the package's documentation; 2 s
	TermGrace       time.Duration // 2 s
	KillGrace       time.Duration // 5 s
	ShutdownTimeout time.Duration // for what must be said to a server on closing; 5 s
}

func (l *Limits) setDefaults() {
	graces := stdio.DefaultGraces()
	positive(&l.Discoveries, 4)
	positive(&l.FailureLife, 30*time.Second)
	positive(&l.ApprovalLife, 8*time.Hour)
	positive(&l.Pages, 100)
	positive(&l.Tools, 1000)
	positive(&l.ToolBytes, 8<<20)
	positive(&l.StdinGrace, graces.Stdin)
	positive(&l.TermGrace, graces.Term)
	positive(&l.KillGrace, graces.Kill)
	positive(&l.ShutdownTimeout, 5*time.Second)
	l.Views = l.Views.WithDefaults()
}

func positive[T int | time.Duration](v *T, fallback T) {
	if *v <= 0 {
		*v = fallback
	}
}

const keyBytes = 32

// check fills in defaults. The error is a *fault.Fault.
func (o *Options) check() error {
	if !filepath.IsAbs(o.Home) {
		return fault.New(fault.ConfigInvalid, "the runtime home is not an absolute path").
			WithHint("set Options.Home, by custom to ~/.demiurge of the user")
	}
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Events == nil {
		o.Events = NewSlogSink(slog.Default())
	}
	switch len(o.FingerprintKey) {
	case keyBytes:
	case 0:
		o.FingerprintKey = make([]byte, keyBytes)
		_, _ = rand.Read(o.FingerprintKey) // never fails
	default:
		return fault.New(fault.ConfigInvalid, "the fingerprint key does not have 32 bytes").
			WithHint("make one with crypto/rand and keep it private")
	}
	o.Limits.setDefaults()
	return nil
}
