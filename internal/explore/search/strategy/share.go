package strategy

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Divisible explorers can be several that work on one search, each for a worker of its own. The
// workers must share the set of known states. Together they explore the same for any number of
// workers, in another order. DPOR explores traces. The order of independent events by which it
// takes a trace may differ.
type Divisible interface {
	Explorer
	// Divide returns n explorers that do together what this one, which has not begun,
	// would do alone.
	Divide(n int) []Explorer
}

// Leaver is an explorer that others may wait for.
type Leaver interface {
	Explorer
	// Leave tells that the explorer will not be used any more. It may have work left,
	// which is then missed.
	Leave()
}

// Leave leaves a search, if others may be waiting.
func Leave(e Explorer) {
	if l, ok := e.(Leaver); ok {
		l.Leave()
	}
}

// crew are the workers of one search: who has nothing to do waits until there is
// something, or until all of them have nothing to do.
type crew struct {
	mu      sync.Mutex
	some    sync.Cond // there may be something to do, or it is over
	workers int       // that have not left
	waiting int
	over    bool   // all was done
	left    bool   // somebody has left before
	why     string // what the strategy misses
}

func (c *crew) begin(workers int) { c.workers, c.some.L = workers, &c.mu }

// await waits for work. Not ok: there is none any more, and nobody from whom some
// might come. mu is held.
func (c *crew) await(has func() bool) (ok bool) {
	if has() {
		return true
	}
	c.waiting++
	c.settle()
	for !c.over && !has() {
		c.some.Wait()
	}
	c.waiting--
	return !c.over
}

// settle ends it when nobody is at work. mu is held.
func (c *crew) settle() {
	if c.waiting >= c.workers {
		c.over = true
		c.some.Broadcast()
	}
}

// leave is for a worker that does not wait.
func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.workers--
		c.left = true
		c.settle()
	}
}

// miss enters that the strategy misses something, and why.
func (c *crew) miss(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = why
}

// missed says what nobody did.
func (c *crew) missed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != "" {
		return c.why
	}
	if c.left || !c.over {
		return "the search ended before every state was explored"
	}
	return ""
}

// share is for depth-first searches: who has more than one thing to do gives some
// away when others have none.
type share[T any] struct {
	crew
	pieces []T
	hungry atomic.Int32 // workers that wait and have not got anything yet
}

func newShare[T any](workers int, first T) *share[T] {
	s := &share[T]{pieces: []T{first}}
	s.begin(workers)
	return s
}

// take waits for a piece of work.
func (s *share[T]) take() (piece T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hungry.Add(1)
	defer s.hungry.Add(-1)
	if !s.await(func() bool { return len(s.pieces) > 0 }) {
		return piece, false
	}
	piece = s.pieces[0]
	s.pieces = slices.Delete(s.pieces, 0, 1)
	return piece, true
}

// wanted reports whether somebody would take a piece now.
func (s *share[T]) wanted() bool {
	if s.hungry.Load() == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.hungry.Load()) > len(s.pieces)
}

func (s *share[T]) give(piece T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces = append(s.pieces, piece)
	s.some.Signal()
}

// giveEvery is how many steps a worker takes at least before it gives something
// away again: small pieces cost more than they are worth.
const giveEvery = 16
