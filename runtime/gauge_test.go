package runtime

import "sync"

// gauge counts how many are in something at once.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func newGauge() *gauge { return &gauge{} }

func (g *gauge) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now++
	g.most = max(g.most, g.now)
}

func (g *gauge) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
}
