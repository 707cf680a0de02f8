package search_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// BenchmarkWalks is random walks of which nearly every transition is known, with all that a
// check does at each step.
func BenchmarkWalks(b *testing.B) {
	s := larger()
	x := s.exploration(b, nil)
	m, err := memo.Open(x.Space.System, memo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	w := memo.NewPool(m).Worker(memo.NewExecutor(m, (&memotest.Instances{Programs: s.programs}).Boot(),
		memo.Limits{Checkpoints: 20}))
	defer w.Close()
	walk := func(paths int) (steps, states int) {
		meter := coverage.NewTotals(len(s.programs()), 0).Meter()
		walks := &search.Exploration{Space: space.New(x.Space.System, m, w), Explorer: &strategy.Walks{Seed: 3},
			Bounds: space.Bounds{Depth: 14, Timers: space.AtMost(1)},
			Checks: x.Checks, Seen: &space.Set{}, Watch: meter.Watch}
		walks.Ended = func(_ *space.Path, _ string, _ *ariadne.Violation) bool {
			paths--
			return paths > 0
		}
		if _, err := walks.Run(); err != nil {
			b.Fatal(err)
		}
		return walks.Coverage.Steps, walks.Coverage.States
	}
	walk(b.N) // what is not known yet
	b.ReportAllocs()
	b.ResetTimer()
	steps, states := walk(b.N)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
	b.ReportMetric(float64(states), "states")
}
