package runtime

import (
	"context"
	"log/slog"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/evolve-mcp/evolve/internal/netguard"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// dialHTTP makes the way to a server over HTTP, through the guard. Nothing is
// sent and nothing resolved yet.
func (h *Host) dialHTTP(b *bound, s server, values []resolved) (*link, error) {
	headers := make([]httpHeader, 0, len(values))
	for _, v := range values {
		headers = append(headers, httpHeader{redact.NewRaw(v.name), redact.NewRaw(v.value)})
	}
	guard, err := newHTTPGuard(httpConfig{
		URL: s.d.URL.Reveal(), Headers: headers, Policy: h.urls, RootCAs: h.options.RootCAs,
		OnDecision: func(ctx context.Context, d netguard.Decision, phase urlPhase) {
			e := b.event(URLDecision, s)
			if turn := turnOf(ctx); turn != "" {
				e.Turn = turn
			}
			e.Phase, e.URLPolicy = string(phase), urlPolicyOf(d)
			h.events.emit(e)
		},
	})
	if err != nil {
		return nil, &problem{err.Error(), err}
	}
	t, err := transport.NewStreamableHTTP(guard.URL(), transport.WithHTTPBasicClient(guard.Client()),
		transport.WithContinuousListening(), //nolint:staticcheck // older servers have no other way; the tap lets newer ones be found
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		guard.Close()
		return nil, problemf("the URL cannot be used")
	}
	return &link{
		transport: t,
		closed:    guard.Close,
		origin:    guard.target.Origin(),
		prepare: func(ctx context.Context) (context.Context, func() error) {
			ctx, failure := withHTTPFailure(ctx)
			return ctx, func() error {
				if err := failure.Err(); err != nil {
					return err
				}
				return nil
			}
		},
	}, nil
}
