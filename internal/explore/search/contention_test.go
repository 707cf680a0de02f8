package search_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// crowd is a system, all of whose transitions are known, and workers who share all that the workers
// of a check share: what is remembered, the known states and the counts of what was seen.
type crowd struct {
	system  small
	x       *search.Exploration
	memo    *memo.Memo
	workers []*memo.Worker
	totals  *coverage.Totals
}

func newCrowd(tb testing.TB, workers int) *crowd {
	c := &crowd{system: larger()}
	c.x = c.system.exploration(tb, nil)
	var err error
	if c.memo, err = memo.Open(c.x.Space.System, memo.Options{}); err != nil {
		tb.Fatal(err)
	}
	pool := memo.NewPool(c.memo)
	for range workers {
		c.workers = append(c.workers, pool.Worker(memo.NewExecutor(c.memo,
			(&memotest.Instances{Programs: c.system.programs}).Boot(), memo.Limits{Checkpoints: 20})))
	}
	c.totals = coverage.NewTotals(len(c.system.programs()), 0)
	tb.Cleanup(func() {
		for _, w := range c.workers {
			if err := w.Close(); err != nil {
				tb.Error(err)
			}
		}
	})
	return c
}

// explore has each worker explore by one of the explorers, and returns the steps of all. A worker
// ends after so many paths; 0: at the end of the search.
func (c *crowd) explore(explorers []strategy.Explorer, paths int) (steps int, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := &space.Set{}
	for i, e := range explorers {
		all.Go(func() {
			left := paths
			meter := c.totals.Meter()
			x := &search.Exploration{Space: space.New(c.x.Space.System, c.memo, c.workers[i]), Explorer: e,
				Checks: c.x.Checks, Seen: seen, Watch: meter.Watch}
			if paths > 0 {
				x.Bounds = space.Bounds{Depth: 14, Timers: space.AtMost(1)}
			}
			x.Ended = func(_ *space.Path, _ string, _ *ariadne.Violation) bool {
				left--
				return left != 0
			}
			_, failed := x.Run()
			mu.Lock()
			defer mu.Unlock()
			steps, err = steps+x.Coverage.Steps, errors.Join(err, failed)
		})
	}
	all.Wait()
	return steps, err
}

// BenchmarkCrowd measures what a remembered step costs when many workers take steps at the same
// time: elapsed time, processor time, and the time for which goroutines wait for locks, each over
// the steps of all workers. There are as many threads as workers, whatever the machine has: where
// it has fewer processors, a thread that holds a lock is also interrupted, so the time of locks is
// rather too large.
func BenchmarkCrowd(b *testing.B) {
	const walks = 50 // of a worker in a round
	for _, s := range []struct {
		name      string
		explorers func(workers int) []strategy.Explorer
		paths     int
	}{
		{"walks", func(workers int) (all []strategy.Explorer) {
			for i := range workers {
				all = append(all, &strategy.Walks{Seed: uint64(i)})
			}
			return all
		}, walks},
		{"depth-first", func(workers int) []strategy.Explorer {
			return (&strategy.DepthFirst{}).Divide(workers)
		}, 0},
	} {
		for _, workers := range []int{1, 2, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", s.name, workers), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
				c := newCrowd(b, workers)
				// what is not known yet
				if _, err := c.explore(s.explorers(workers), s.paths); err != nil {
					b.Fatal(err)
				}
				steps := 0
				waited := lockWait()
				for b.Loop() {
					n, err := c.explore(s.explorers(workers), s.paths)
					if err != nil {
						b.Fatal(err)
					}
					steps += n
				}
				per := func(t time.Duration) float64 { return float64(t.Nanoseconds()) / float64(steps) }
				b.ReportMetric(per(b.Elapsed()), "ns/step")
				b.ReportMetric(per(lockWait()-waited), "lock-ns/step")
			})
		}
	}
}

// lockWait is how long all goroutines together have waited for locks, those of the Go runtime with
// them.
func lockWait() time.Duration {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}
