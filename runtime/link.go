package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/runtime/internal/stdio"
)

// link is a way to one server, before any protocol is spoken over it.
type link struct {
	transport transport.Interface
	// lost is closed when it cannot be used any more; nil if it never tells.
	lost <-chan struct{}
	// prepare returns a context for requests, and who knows afterwards why one
	// failed (nil if nobody does).
	prepare func(context.Context) (context.Context, func() error)
	// closed is called after the transport was closed.
	closed func()
	// origin is the server's, over HTTP.
	origin string
}

// problem is why a server could not be connected. Its text may be shown.
type problem struct {
	message string
	cause   error
}

func (p *problem) Error() string { return p.message }
func (p *problem) Unwrap() error { return p.cause }

func problemf(format string, args ...any) *problem {
	return &problem{message: fmt.Sprintf(format, args...)}
}

// dialStdio starts a server's process, or asks the host's Connect for one.
func (h *Host) dialStdio(ctx, life context.Context, b *bound, s server, dir string, values []resolved) (*link, error) {
	if h.options.Connect != nil {
		stream, err := h.options.Connect(ctx, s.Declaration)
		if err != nil {
			return nil, problemf("the host's Connect failed")
		}
		return streamLink(life, stream, nil), nil
	}
	home, err := privateHome(h.options.Home, b.Core, s.ServerID())
	if err != nil {
		return nil, problemf("no private home could be made under the runtime home")
	}
	env, ok := environment(h.options.LookupEnv, h.options.ExtraEnvironment, home, values)
	if !ok {
		return nil, problemf("the declaration sets HOME or USERPROFILE, which are the host's")
	}
	command := s.d.Command.Reveal()
	path, ok := lookCommand(command, dir, h.options.LookupEnv)
	if !ok {
		shown, _ := redact.Show(redact.Command, s.d.Command)
		return nil, problemf("the command %s was not found in the host's PATH", shown)
	}
	args := make([]string, 0, len(s.d.Args))
	for _, a := range s.d.Args {
		args = append(args, a.Reveal())
	}
	limits := h.options.Limits
	process, err := stdio.Start(stdio.Spec{
		Path: path, Name: command, Args: args, Env: env, Dir: dir,
		Graces: stdio.Graces{Stdin: limits.StdinGrace, Term: limits.TermGrace, Kill: limits.KillGrace},
	})
	if err != nil {
		return nil, &problem{message: err.Error(), cause: err}
	}
	scrubber := redact.NewRedactor(secretsOf(s.d, values)...)
	return streamLink(life, process, func() {
		h.log.append(process.Stderr(), scrubber, b.Session, s.ServerID())
		_ = process.Stderr().Close()
	}), nil
}

func streamLink(life context.Context, s Stream, closed func()) *link {
	t := stdio.NewTransport(life, s)
	return &link{
		transport: t, lost: t.Done(), closed: closed,
		prepare: func(ctx context.Context) (context.Context, func() error) { return ctx, t.Err },
	}
}

// explain turns an error of a request into a text that may be shown. why is the
// connection's own reason, if it has one.
func explain(what string, err, why error, kept *capture, r *redact.Redactor) *problem {
	var own stdio.Error
	_, failed := kept.get()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{what + " took longer than connect_timeout_seconds", err}
	case why != nil:
		return &problem{what + " failed: " + why.Error(), err}
	case errors.As(err, &own):
		return &problem{what + " failed: " + own.Error(), err}
	case failed != nil:
		return &problem{what + " was refused by the server: " + serverText(failed.Message, r), err}
	case errors.Is(err, errWrongID):
		return &problem{what + " failed: " + errWrongID.Error(), err}
	case errors.Is(err, transport.ErrUnauthorized), errors.As(err, new(*transport.AuthorizationRequiredError)):
		return &problem{what + " failed: the server wants authorization", err}
	case errors.As(err, new(mcp.UnsupportedProtocolVersionError)):
		return &problem{what + " failed: the server speaks no known version of the protocol", err}
	default:
		return &problem{what + " failed: the server did not answer as the protocol says", err}
	}
}

// maxServerText bounds a server's own words in a message of ours, in bytes.
const maxServerText = 300

// serverText makes a server's words fit for one line.
func serverText(s string, r *redact.Redactor) string {
	const enough = 64 << 10
	text, err := r.RedactWindow(s[:min(len(s), enough)], false, len(s) > enough)
	if err != nil {
		return redact.FailedView
	}
	return redact.Cut(string(redact.Escape(redact.Cut(text, maxServerText))), maxServerText)
}
