package memo

import "sync/atomic"

// Tally counts what one goroutine does, for others to read now and then. They may be told of up to
// tallyEvery fewer until it is shared: an atomic store for each one would cost more than what is
// counted here.
type Tally struct {
	n      int64
	shared atomic.Int64
}

const tallyEvery = 64

// Count counts one more.
func (t *Tally) Count() {
	if t.n++; t.n%tallyEvery == 0 || t.n < tallyEvery {
		t.shared.Store(t.n)
	}
}

// Share makes all counts visible to others. A counting goroutine calls it at its end.
func (t *Tally) Share() { t.shared.Store(t.n) }

// Read is what others are told of.
func (t *Tally) Read() int { return int(t.shared.Load()) }
