package run

import (
	"fmt"
	"slices"
	"strings"

	"ariadne/internal/search"
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
	if m.Symmetric == nil {
		m.Symmetric = e.Symmetric
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

// statewise are the strategies that go on from states and not from paths, and so need
// not go on from one that is like another.
var statewise = []string{"default", "depth-first", "breadth-first", "deviations", "periphery"}

// symmetric reports whether interchangeable nodes matter to the search.
func (x *explorer) symmetric() bool {
	m := &x.opts.InMemory
	return len(m.Symmetric) > 0 && slices.Contains(statewise, m.Strategy)
}

// merge makes a search take states for the same one when the user says that they are.
func (x *explorer) merge(e *search.Exploration) {
	if x.symmetric() {
		e.Space.Symmetry = space.NewSymmetry(len(x.spec.Nodes), x.opts.InMemory.Symmetric)
		e.Classes = append(e.Classes, (*space.Path).Class)
	}
}

// under says what of the user's word the result rests on.
func (x *explorer) under() []string {
	var lines []string
	m := &x.opts.InMemory
	if x.symmetric() {
		for _, group := range m.Symmetric {
			var names []string
			for _, id := range group {
				names = append(names, x.spec.Nodes[id].Name)
			}
			line := fmt.Sprintf("nodes %s are interchangeable", strings.Join(names, ", "))
			if m.Deviations > 0 || m.Timers > 0 {
				line += "; but what counts as natural is not the same for each of them, and so for the bounds on it"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
