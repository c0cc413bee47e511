package runtime

import "context"

// dialHTTP makes the way to a server over HTTP. Nothing is sent yet.
func (h *Host) dialHTTP(_ context.Context, _ *bound, _ server, _ []resolved) (*link, error) {
	return nil, problemf("not built")
}
