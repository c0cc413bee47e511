package workers

import (
	"sync/atomic"
	"testing"
)

func TestAPanicGoesOnWhereItIsWaitedFor(t *testing.T) {
	var g Group
	work := make(chan int) // nobody may be left waiting
	var done atomic.Int32
	for range 2 {
		g.Go(func() {
			for i := range work {
				g.Try(func() {
					if i%2 == 0 {
						panic("even")
					}
					done.Add(1)
				})
			}
		})
	}
	for i := range 100 {
		work <- i
	}
	close(work)
	defer func() {
		if got := recover(); got != "even" {
			t.Errorf("Wait panicked with %v", got)
		}
		if got := done.Load(); got != 50 {
			t.Errorf("%d pieces of work were done, want 50", got)
		}
	}()
	g.Wait()
	t.Error("Wait returned")
}

func TestGroup(t *testing.T) {
	var g Group
	var done atomic.Int32
	for range 8 {
		g.Go(func() { done.Add(1) })
	}
	g.Wait()
	if got := done.Load(); got != 8 {
		t.Errorf("%d were done, want 8", got)
	}
}
