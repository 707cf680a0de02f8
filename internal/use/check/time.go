package check

import (
	"context"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
)

// A check keeps its time (Options.Time) like this. When the time is up no worker takes a further
// step of a path. What it has found by then is confirmed, however long that takes: it is one more
// execution, of nodes of its own. It is shrunk for as long as is left of the time, or of the grace.
// When the grace is over, the steps of all nodes that search are ended where they are.

// grace is what a check takes beyond its time at most, besides confirming: for a step that is under
// way, and to shrink what was found at the end.
func (c *check) grace() time.Duration { return max(leastGrace, c.opts.Time/graceShare) }

const (
	leastGrace = 500 * time.Millisecond
	graceShare = 200
)

// timeLeft is how much time there is for a part of the check that begins now and would take so long
// without a limit.
func (c *check) timeLeft(wanted time.Duration) time.Duration {
	if c.opts.Time == 0 {
		return wanted
	}
	return min(wanted, max(c.opts.Time+c.grace()-time.Since(c.began), 0))
}

// lookEvery is how often it is looked whether the check is over. Workers ask only now and then, for
// a step in memory takes less time than the question.
const lookEvery = 10 * time.Millisecond

// keepTime tells the workers when the check is over, until stop is called. searching ends when the
// nodes that search are to end their steps.
func (x *explorer) keepTime(ctx context.Context) (searching context.Context, stop func()) {
	c := x.check
	searching, cancel := context.WithCancel(ctx)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		var late <-chan time.Time
		if c.opts.Time > 0 {
			late = time.After(c.timeLeft(maxTime))
		}
		for {
			select {
			case <-done:
				return
			case <-late:
				cancel()
			case <-look.C:
				if !x.over.Load() && c.stopped(ctx) {
					x.over.Store(true)
				}
			}
		}
	}()
	return searching, func() {
		close(done)
		<-ended
		cancel()
	}
}

// searched is for how long the check has searched: what it takes to end is no part of it.
func (x *explorer) searched() time.Duration {
	if t := x.check.opts.Time; t > 0 {
		return min(x.elapsed(), t)
	}
	return x.elapsed()
}

// maxTime is longer than any check.
const maxTime = time.Duration(1<<63 - 1)

// outOfTime reports whether the check was ended by its time.
func (c *check) outOfTime() bool { return c.ledger.stopped() == search.StopTime }
