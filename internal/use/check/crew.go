package check

import (
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
)

// crew are the workers of a search, who take walks for the one among them that needs many of them
// at once: between two steps of their own paths, while they wait for what another one is about to
// know, and when they have nothing more to explore.
type crew struct {
	mu      sync.Mutex // of all below
	changed sync.Cond  // of mu
	task    func(*search.Liveness)
	busy    int // who help with it
	active  int // workers that still explore, confirm or shrink
	looking int // workers that take walks from a path of theirs that has ended

	number atomic.Int64 // of the task that is there, 0: there is none
	last   int64        // number
}

func newCrew() *crew {
	c := &crew{}
	c.changed.L = &c.mu
	return c
}

// shareWalks calls f with what is one's own, while others who have time call it with theirs. Of two
// tasks at once the second has no help.
func (c *crew) shareWalks(own *search.Liveness, f func(*search.Liveness)) {
	c.mu.Lock()
	mine := c.task == nil
	if mine {
		c.task = f
		c.last++
		c.number.Store(c.last)
		c.changed.Broadcast()
	}
	c.mu.Unlock()
	if mine {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.task = nil
			c.number.Store(0)
			for c.busy > 0 {
				c.changed.Wait()
			}
		}()
	}
	f(own)
}

// help helps with the task that is there, unless that is the one with a certain number, and returns
// its number; 0: there is none.
func (c *crew) help(by *search.Liveness, but int64) (number int64) {
	c.mu.Lock()
	f, number := c.task, c.number.Load()
	if f == nil || number == but {
		c.mu.Unlock()
		return number
	}
	c.busy++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.busy--
		c.changed.Broadcast()
		c.mu.Unlock()
	}()
	f(by)
	return number
}

// helpUntil helps until something is so, which is asked with mu held, and again when tell was
// called.
func (c *crew) helpUntil(by *search.Liveness, done func() bool) {
	for helped := int64(0); ; {
		c.mu.Lock()
		for !done() && (c.task == nil || c.number.Load() == helped) {
			c.changed.Wait()
		}
		over := done()
		c.mu.Unlock()
		if over {
			return
		}
		helped = c.help(by, helped)
	}
}

// announce changes what others wait for.
func (c *crew) announce(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.changed.Broadcast()
}
