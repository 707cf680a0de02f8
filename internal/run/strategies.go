package run

import (
	"slices"

	"ariadne/internal/coverage"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
)

// kind is a strategy in memory.
type kind struct {
	// make returns an explorer for each worker.
	make func(b *builder) []strategy.Explorer
	// again: a check that is resumed walks all of it again from the beginning, at the
	// speed of memory, and counts anew. Others go on with new random numbers.
	again bool
}

// builder is what explorers are made of.
type builder struct {
	*Options
	seed   uint64
	from   int // paths that were taken before the check was interrupted
	full   func() bool
	bytes  int64             // for paths that are to be tried
	meters []*coverage.Meter // by worker
}

// searches are the strategies in memory.
var searches = map[string]kind{
	"default": {make: func(b *builder) []strategy.Explorer {
		return strategy.Default{Paths: defaultPaths, Bytes: b.bytes, Rounds: *b.rounds(b.seed), Skip: b.from > 0,
			Workers: len(b.meters), Full: b.full, News: func(worker int) func() strategy.News { return func() strategy.News { return news(b.meters[worker]) } }}.Explorers()
	}},
	"depth-first":   {again: true, make: func(b *builder) []strategy.Explorer { return b.states(&strategy.DepthFirst{}) }},
	"breadth-first": {again: true, make: func(b *builder) []strategy.Explorer { return b.states(&strategy.BreadthFirst{Bytes: b.bytes}) }},
	"deviations":    {again: true, make: func(b *builder) []strategy.Explorer { return b.states(&strategy.FewestDeviations{Bytes: b.bytes}) }},
	"all-paths": {again: true, make: func(b *builder) []strategy.Explorer {
		return (&strategy.DepthFirst{All: true}).Divide(len(b.meters))
	}},
	"sleep-sets": {again: true, make: func(b *builder) []strategy.Explorer { return (&strategy.SleepSets{}).Divide(len(b.meters)) }},
	"dpor": {again: true, make: func(b *builder) []strategy.Explorer {
		return (&strategy.DPOR{Backtracks: b.Backtracks, Branch: b.Branch}).Divide(len(b.meters))
	}},
	"periphery": {again: true, make: func(b *builder) []strategy.Explorer {
		return (&strategy.Periphery{Seed: b.seed, Weights: b.Weights, Depth: peripheryDepth, Walks: 10}).Divide(len(b.meters))
	}},
	"script": {again: true, make: func(b *builder) []strategy.Explorer {
		all := (&strategy.Scripted{Bytes: b.bytes}).Divide(len(b.meters))
		for i, e := range all {
			all[i] = &strategy.Series{Full: b.full, Parts: []strategy.Part{{Explorer: e}}}
		}
		return all
	}},
	"rounds": {make: func(b *builder) []strategy.Explorer {
		return b.each(func(seed uint64, _ *coverage.Meter) strategy.Explorer { return b.rounds(seed) })
	}},
	"walks": {make: func(b *builder) []strategy.Explorer {
		return b.each(func(seed uint64, _ *coverage.Meter) strategy.Explorer {
			return &strategy.Walks{Seed: seed, Weights: b.Weights, Index: b.from}
		})
	}},
	"priorities": {make: func(b *builder) []strategy.Explorer {
		return b.each(func(seed uint64, _ *coverage.Meter) strategy.Explorer {
			return &strategy.Priorities{Seed: seed, Index: b.from}
		})
	}},
	"slow": {make: func(b *builder) []strategy.Explorer {
		return b.each(func(seed uint64, _ *coverage.Meter) strategy.Explorer {
			return &strategy.Slow{Seed: seed, Index: b.from}
		})
	}},
	"novelty": {make: func(b *builder) []strategy.Explorer {
		return b.each(func(seed uint64, m *coverage.Meter) strategy.Explorer {
			return &strategy.Novelty{Seed: seed, Weights: b.Weights, Index: b.from, Bytes: b.bytes / int64(len(b.meters)),
				New: func(*space.Path) bool { return m.Fresh() }}
		})
	}},
}

const (
	// defaultPaths is how many paths the default strategy takes before it gives up to try
	// all there are, and what is resumed need not be walked again.
	defaultPaths   = 6000
	peripheryDepth = 12
)

// news is what a worker's last step showed.
func news(m *coverage.Meter) strategy.News {
	local, state := m.New()
	switch {
	case local:
		return strategy.NewLocal
	case state:
		return strategy.NewState
	}
	return strategy.NothingNew
}

// Strategies are the names of the strategies in memory, sorted.
func Strategies() []string {
	var names []string
	for name := range searches {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// each makes an explorer for each worker, with a seed of its own.
func (b *builder) each(f func(seed uint64, m *coverage.Meter) strategy.Explorer) []strategy.Explorer {
	var all []strategy.Explorer
	for i, m := range b.meters {
		all = append(all, f(strategy.SeedOf(b.seed, i), m))
	}
	return all
}

// states divides a search that goes on from states. When there is no memory for more
// of them, it goes on with rounds around random paths.
func (b *builder) states(d strategy.Divisible) []strategy.Explorer {
	all := d.Divide(len(b.meters))
	for i, e := range all {
		all[i] = &strategy.Series{Full: b.full, Parts: []strategy.Part{{Explorer: e}, {Explorer: b.rounds(strategy.SeedOf(b.seed, i))}}}
	}
	return all
}

func (b *builder) rounds(seed uint64) *strategy.Rounds {
	return &strategy.Rounds{Seed: seed, Weights: b.Weights, Backtracks: b.Backtracks, Branch: b.Branch, Index: b.from}
}
