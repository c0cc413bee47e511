package runtime

import "sync"

// maxQueued bounds what waits for a callback of the host.
const maxQueued = 1024

// queue hands items to a callback from a goroutine of its own: in order, one at
// a time, never blocking who puts them in.
type queue[T any] struct {
	deliver func(item T, dropped int)

	mu      sync.Mutex
	waiting []queued[T]
	dropped int
	closed  bool
	wake    chan struct{} // one token: there is something to do
	done    chan struct{}
}

type queued[T any] struct {
	item    T
	dropped int // items that were lost before this one
}

func newQueue[T any](deliver func(T, int)) *queue[T] {
	q := &queue[T]{deliver: deliver, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// put adds an item, or counts it as lost if the queue is full or closed.
func (q *queue[T]) put(item T) {
	q.mu.Lock()
	switch {
	case q.closed:
	case len(q.waiting) >= maxQueued:
		q.dropped++
	default:
		q.waiting = append(q.waiting, queued[T]{item, q.dropped})
		q.dropped = 0
	}
	q.mu.Unlock()
	q.signal()
}

func (q *queue[T]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue[T]) run() {
	defer close(q.done)
	for range q.wake {
		for {
			q.mu.Lock()
			batch, closed := q.waiting, q.closed
			q.waiting = nil
			q.mu.Unlock()
			for _, e := range batch {
				q.call(e)
			}
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
		}
	}
}

func (q *queue[T]) call(e queued[T]) {
	defer func() { _ = recover() }() // a callback that panics loses this item only
	q.deliver(e.item, e.dropped)
}

// close delivers what waits and ends. It waits for the callback.
func (q *queue[T]) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	<-q.done
}
