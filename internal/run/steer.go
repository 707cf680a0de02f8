package run

import (
	"fmt"
	"slices"
	"strings"

	"ariadne/internal/script"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
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

// What of the user's word matters depends on the strategy: some go on from states and
// not from paths, and so need not go on from one that is like another; others take one
// path of those that differ in the order of what is independent.
var (
	statewise = []string{"default", "depth-first", "breadth-first", "deviations", "periphery", "script"}
	orderwise = []string{"default", "dpor", "sleep-sets", "rounds"}
)

func (x *explorer) symmetric() bool {
	m := &x.opts.InMemory
	return len(m.Symmetric) > 0 && slices.Contains(statewise, m.Strategy)
}

func (x *explorer) likens() bool {
	m := &x.opts.InMemory
	return m.Script != nil && m.Script.Likens() && slices.Contains(statewise, m.Strategy)
}

func (x *explorer) relates() bool {
	m := &x.opts.InMemory
	return m.Script != nil && m.Script.Relates() && slices.Contains(orderwise, m.Strategy)
}

// rules makes a worker's search obey the user, and returns the script's rules.
func (x *explorer) rules(e *search.Exploration) *script.Rules {
	if x.symmetric() {
		e.Space.Symmetry = space.NewSymmetry(len(x.spec.Nodes), x.opts.InMemory.Symmetric)
		e.Classes = append(e.Classes, (*space.Path).Class)
	}
	if x.opts.InMemory.Script == nil {
		return &script.Rules{}
	}
	r := x.opts.InMemory.Script.Rules(x.system)
	r.Audit(e.Space.Source, x.opts.InMemory.Audit)
	if s, ok := e.Explorer.(*strategy.Scripted); ok {
		s.Ask = r.Explore
	}
	if x.relates() {
		e.Space.Independent = r.Independent
	}
	if x.likens() {
		e.Classes = append(e.Classes, r.Class)
	}
	return r
}

// listen passes on what the script prints, and has printed as it was read.
func (c *check) listen() {
	s := c.opts.InMemory.Script
	if s == nil || c.opts.OnPrint == nil {
		return
	}
	s.Print = func(line string) {
		c.telling.Lock()
		defer c.telling.Unlock()
		c.opts.OnPrint(line)
	}
	for _, line := range s.Printed {
		s.Print(line)
	}
}

// ruled enters what came of a worker's rules.
func (x *explorer) ruled(r *script.Rules) {
	x.check.mu.Lock()
	defer x.check.mu.Unlock()
	x.cover.RulesAudited += r.Audited
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
	if x.likens() {
		lines = append(lines, fmt.Sprintf("states are alike when same() of %s says so", m.Script.Name))
	}
	if x.relates() {
		lines = append(lines, fmt.Sprintf("steps of one node may change places when independent() of %s says so", m.Script.Name))
	}
	return lines
}
