//go:build linux

package check

import (
	"sync/atomic"
	"time"
)

// governor keeps a search within its budget by the memory that the machine really loses. The cost
// of a checkpoint is only estimated, and that of the rest not at all. Only checkpoints can be given
// up at any time. So their room shrinks when everything together takes too much, and grows
// otherwise.
type governor struct {
	room atomic.Int64   // for the checkpoints of all executors, in bytes as estimated
	held []atomic.Int64 // what those of each hold, likewise
}

const (
	governEvery = 250 * time.Millisecond
	// governShare: of real time, measuring takes at most one part in so many, but it
	// comes not later than governLate when half of the budget is taken.
	governShare = 50
	governLate  = time.Second
)

// roomFor returns how executor i of so many asks for its room.
func (g *governor) roomFor(i, executors int) func(held int64) int64 {
	return func(held int64) int64 {
		g.held[i].Store(held)
		return g.room.Load() / int64(executors)
	}
}

// startGoverning governs until the function that it returns is called.
func (g *governor) startGoverning(s shares) (stop func()) {
	g.room.Store(min(s.checkpoints/2, firstRoom))
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		pause := governEvery
		for {
			select {
			case <-done:
				return
			case <-time.After(pause):
			}
			began, held := time.Now(), int64(0)
			for i := range g.held {
				held += g.held[i].Load()
			}
			u := measureUsage()
			g.room.Store(govern(g.room.Load(), held, u, s.all))
			pause = max(governEvery, governShare*time.Since(began))
			if u.total() > s.all/2 {
				pause = min(pause, governLate)
			}
		}
	}()
	return func() { close(done); <-ended }
}

// firstRoom is the room before anything is known of what checkpoints cost.
const firstRoom = 64 << 20

// govern returns the next room for checkpoints, which was room and of which they hold so much, as
// estimated. The nodes should take what the budget leaves to them. It assumes that they grow and
// shrink with their checkpoints.
func govern(room, held int64, u usage, all int64) int64 {
	// Measurements come late on a loaded machine: a quarter is for what happens between two.
	left := max(all/100*75-u.own, 0)
	next := room
	if u.nodes > 0 && held > 0 {
		next = int64(float64(held) * float64(left) / float64(u.nodes))
	}
	// A measurement says little of what is much more than it has seen.
	return min(max(min(next, 4*max(held, firstRoom/4)), all/200), all/10*6)
}
