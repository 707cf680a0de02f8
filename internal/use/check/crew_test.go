package check

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
)

// TestCrew: who waits helps with each task once, share returns when nobody is at it any more, and a
// task within a task has no help.
func TestCrew(t *testing.T) {
	c := newCrew()
	var group sync.WaitGroup
	over := false
	for range 3 {
		group.Go(func() { c.helpUntil(&search.Liveness{}, func() bool { return over }) })
	}
	own, came := &search.Liveness{}, make(chan bool, 600)
	for i := range 200 {
		var at, left atomic.Int64
		left.Store(50)
		by := sync.Map{}
		c.shareWalks(own, func(l *search.Liveness) {
			at.Add(1)
			defer at.Add(-1)
			if _, again := by.LoadOrStore(l, true); again {
				t.Error("a task is helped with twice")
			}
			if l != own {
				came <- true
			} else if inner := 0; i == 0 {
				<-came // somebody helps
			} else {
				c.shareWalks(own, func(*search.Liveness) { inner++ })
				if inner != 1 {
					t.Errorf("%d take a task within a task", inner)
				}
			}
			for left.Add(-1) >= 0 {
			}
		})
		if n := at.Load(); n != 0 {
			t.Fatalf("%d are still at it", n)
		}
	}
	c.announce(func() { over = true })
	group.Wait()
}
