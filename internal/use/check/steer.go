package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Steer enters what a spec says of how to search, where the options do not say it.
func (o *Options) Steer(e *spec.Explore) {
	m := &o.Search
	for _, b := range []struct {
		to   *space.Bound
		from *int
	}{
		{&m.Deviations, e.Bounds.Deviations}, {&m.Deliveries, e.Bounds.Deliveries},
		{&m.Timers, e.Bounds.Timers}, {&m.Delays, e.Bounds.Delays},
		{&m.Backtracks, e.Backtracks}, {&m.Branch, e.Branch},
	} {
		if *b.to == 0 && b.from != nil {
			*b.to = space.AtMost(*b.from)
		}
	}
	if o.Depth == 0 && e.Bounds.Depth != nil {
		o.Depth = *e.Bounds.Depth
	}
	m.Equality = cmp.Or(m.Equality, e.Equality)
	if m.Symmetric == nil {
		m.Symmetric = e.Symmetric
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

// What of the user's word matters depends on the strategy.

// equality is that of the states of the search: paths have only one.
func (x *explorer) equality() space.Equality {
	if !x.row.Matches {
		return space.Equality{}
	}
	return x.check.opts.Search.equality()
}

// steeringSources are the rules by which nodes expose what the search is steered by; nil: it is
// not.
func (x *explorer) steeringSources() expose.Sources {
	if o := &x.check.opts.Search; o.Script == nil && !o.States.Tuples() {
		return nil
	}
	return x.check.system.Spec.Properties.Sources
}

func (x *explorer) symmetric() bool { return x.row.States && len(x.check.opts.Search.Symmetric) > 0 }

func (x *explorer) merges() bool {
	return x.row.States && x.check.opts.Search.Script != nil && x.check.opts.Search.Script.HasSame()
}

func (x *explorer) exchanges() bool {
	return x.row.Orders && x.check.opts.Search.Script != nil && x.check.opts.Search.Script.HasIndependent()
}

// word is what the user has said, as a worker's search takes it.
type word struct {
	symmetry *space.Symmetry // or nil
	rules    *steer.Rules    // or nil
}

// Err says what speaks against it, or is wrong with it; or nil. It is the user's to fix.
func (w word) Err() error {
	if w.symmetry != nil && w.symmetry.Err() != nil {
		return w.symmetry.Err()
	}
	if w.rules != nil {
		return w.rules.Err()
	}
	return nil
}

// applyWord makes the search of worker id follow the user's word: rules, scripts and symmetries.
func (x *explorer) applyWord(id int, e *search.Exploration) (w word) {
	if x.symmetric() {
		w.symmetry = space.NewSymmetry(len(x.check.system.Spec.Nodes), x.check.opts.Search.Symmetric)
		w.symmetry.Audit = x.check.opts.Search.Audit
		e.Space.Symmetry = w.symmetry
		e.Classes = append(e.Classes, (*space.Path).HashClass)
	}
	if x.rules == nil {
		return w
	}
	r := x.rules[id]
	w.rules = r
	r.Sources, r.Stages = e.Space.Tells, e.Space.Stages
	r.Audit(e.Space.Source, x.check.opts.Search.Audit)
	if series, ok := e.Explorer.(*strategy.Series); ok {
		if s, ok := series.Parts[0].Explorer.(*strategy.Scripted); ok {
			s.Ask = r.Explore
		}
	}
	if x.exchanges() {
		e.Space.Independent = r.Independent
	}
	if x.merges() {
		e.Classes = append(e.Classes, r.Class)
	}
	return w
}

// passOnPrints passes on what the script prints, and has printed as it was read.
func (c *check) passOnPrints() {
	s := c.opts.Search.Script
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

// countAudits enters what came of the user's word in a worker's search.
func (w *worker) countAudits() {
	if w.word.rules != nil {
		w.giveResult(&work.Result{Cover: work.Cover{RulesAudited: w.word.rules.Audited}})
	}
}

// assumptions says what of the user's word the result rests on.
func (x *explorer) assumptions() []string {
	var lines []string
	m := &x.check.opts.Search
	if x.equality().Exposed {
		after := "in the same order"
		if x.equality().Times {
			after = "after the same times"
		}
		lines = append(lines, "states are equal when --state shows the same of each node, and the same messages and timers are due "+after+
			"; other differences between states are ignored, and violations that need them may be missed")
	}
	if x.symmetric() {
		for _, group := range m.Symmetric {
			var names []string
			for _, id := range group {
				names = append(names, x.check.system.Spec.Nodes[id].Name)
			}
			line := fmt.Sprintf("nodes %s are interchangeable", strings.Join(names, ", "))
			if m.Deviations > 0 || m.Timers > 0 {
				line += "; bounds on deviations and timers may count differently for each of them"
			}
			lines = append(lines, line)
		}
	}
	if x.merges() {
		lines = append(lines, fmt.Sprintf("states are equal when same() of %s says so", m.Script.Name))
	}
	if x.exchanges() {
		lines = append(lines, fmt.Sprintf("the order of two steps does not matter when independent() of %s says so", m.Script.Name))
	}
	return lines
}
