package run

import (
	"ariadne/internal/space"
	"ariadne/internal/spec"
)

// Steer enters what a spec says of how to search, where the options do not say it.
func (o *Options) Steer(e *spec.Explore) {
	m := &o.InMemory
	for _, b := range []struct {
		to   *space.Bound
		from *int
	}{
		{&m.Deviations, e.Bounds.Deviations}, {&m.Deliveries, e.Bounds.Deliveries},
		{&m.Timers, e.Bounds.Timers}, {&m.Delays, e.Bounds.Delays},
	} {
		if *b.to == 0 && b.from != nil {
			*b.to = space.AtMost(*b.from)
		}
	}
	if o.Depth == 0 && e.Bounds.Depth != nil {
		o.Depth = *e.Bounds.Depth
	}
	if m.Backtracks == 0 {
		m.Backtracks = e.Backtracks
	}
	if len(m.States) == 0 {
		m.States = e.States
	}
	for k, w := range e.Weights {
		if m.Weights[k] == 0 {
			m.Weights[k] = w
		}
	}
}
