// Package workers runs work beside each other. A panic in a goroutine of its own
// would end the process and print its value, which may quote anything; here it goes
// on in the goroutine that waits, where the program expects it.
package workers

import "sync"

// Group is some goroutines that are waited for. The zero value is ready.
type Group struct {
	running sync.WaitGroup
	mu      sync.Mutex
	broken  bool
	value   any
}

// Go runs f in a goroutine of its own.
func (g *Group) Go(f func()) { g.running.Go(func() { g.Try(f) }) }

// Try runs f here. A panic of it is kept for Wait: so a worker goes on to the next
// piece of its work, and nobody waits for it in vain.
func (g *Group) Try(f func()) {
	done := false
	defer func() {
		if done {
			return
		}
		value := recover()
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.broken {
			g.broken, g.value = true, value
		}
	}()
	f()
	done = true
}

// Wait waits for all goroutines, and panics with the first value that one panicked
// with.
func (g *Group) Wait() {
	g.running.Wait()
	if g.broken {
		panic(g.value)
	}
}
