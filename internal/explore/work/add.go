package work

import (
	"cmp"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
)

// Add adds what came of another part of the work. It keeps nothing of o that can change.
func (r *Result) Add(o *Result) {
	if none := (Source{}); r.Source == none || o.Source != none && o.Source.Compare(r.Source) < 0 {
		r.Source = o.Source
	}
	r.Counts.Add(&o.Counts)
	r.Cover.Add(&o.Cover)
	for _, s := range o.Ended {
		r.Ended = addSpan(r.Ended, s)
	}
	for _, f := range o.Findings {
		r.find(f)
	}
	for _, f := range o.Refusals {
		r.Refuse(f)
	}
	for i := range o.Met {
		r.meet(&o.Met[i])
	}
	for _, c := range o.CutOffs {
		r.CutOff(c)
	}
	r.Servers.Add(o.Servers)
	r.Doubts.Add(o.Doubts)
	r.Notes.Add(o.Notes)
	r.Bugs.Add(o.Bugs)
	r.Stop.Add(o.Stop)
	for _, v := range o.Violations {
		r.violate(v)
	}
	if o.Seen != nil {
		if r.Seen == nil {
			r.Seen = &coverage.Sightings{}
		}
		r.Seen.Add(o.Seen)
	}
	if o.Nodes != nil {
		if r.Nodes == nil {
			r.Nodes = &memo.Counts{}
		}
		r.Nodes.Add(*o.Nodes)
	}
	for i := range o.Left {
		r.leave(&o.Left[i])
	}
	r.Explored = r.Explored || o.Explored
	if o.Missed != "" && (r.Missed == "" || o.Missed < r.Missed) {
		r.Missed = o.Missed
	}
}

// Add adds executions.
func (c *Counts) Add(o *Counts) {
	c.Executions, c.Steps, c.Calls, c.Messages, c.Virtual = c.Executions+o.Executions, c.Steps+o.Steps, c.Calls+o.Calls,
		c.Messages+o.Messages, c.Virtual+o.Virtual
	for end, n := range o.Ends {
		if n == 0 {
			continue
		}
		if c.Ends == nil {
			c.Ends = map[string]int{}
		}
		c.Ends[end] += n
	}
}

// join adds nodes to others. Both are in order.
func join(all, more []ariadne.NodeID) []ariadne.NodeID {
	for _, id := range more {
		if i, ok := slices.BinarySearch(all, id); !ok {
			all = slices.Insert(all, i, id)
		}
	}
	return all
}

// Add adds what another worker did.
func (c *Cover) Add(o *Cover) {
	c.Bounded, c.Cycles, c.CutOff, c.Known, c.Given = c.Bounded+o.Bounded, c.Cycles+o.Cycles, c.CutOff+o.CutOff,
		c.Known+o.Known, c.Given+o.Given
	c.Merged, c.RulesAudited = c.Merged+o.Merged, c.RulesAudited+o.RulesAudited
	c.Assertions.Merge(o.Assertions)
	c.Probing.Add(o.Probing)
	c.ReadClock, c.TriedClock = join(c.ReadClock, o.ReadClock), join(c.TriedClock, o.TriedClock)
	c.TookTurns, c.AtLocks = join(c.TookTurns, o.TookTurns), join(c.AtLocks, o.AtLocks)
	for i := range o.Tried {
		c.try(&o.Tried[i])
	}
	for _, t := range o.Strategies {
		c.bring(t)
	}
	if o.Liveness != nil {
		if c.Liveness == nil {
			c.Liveness = &Liveness{}
		}
		c.Liveness.Add(o.Liveness)
	}
}

// Clone is a copy that shares nothing with c which can change.
func (c *Cover) Clone() (d Cover) {
	d.Add(c)
	return d
}

func (c *Cover) try(f *Faults) {
	i, ok := slices.BinarySearchFunc(c.Tried, f.Kind, func(o Faults, kind string) int {
		return cmp.Compare(o.Kind, kind)
	})
	if !ok {
		c.Tried = slices.Insert(c.Tried, i, Faults{Kind: f.Kind})
	}
	c.Tried[i].add(f)
}

func (f *Faults) add(o *Faults) {
	f.Faults.Add(o.Faults)
	for _, s := range o.By {
		i, ok := slices.BinarySearchFunc(f.By, s.Node, func(o Struck, id ariadne.NodeID) int {
			return cmp.Compare(o.Node, id)
		})
		if !ok {
			f.By = slices.Insert(f.By, i, Struck{Node: s.Node})
		}
		for p, n := range s.Phases {
			f.By[i].Phases[p] += n
		}
	}
	for _, id := range o.Open {
		if i, ok := slices.BinarySearch(f.Open, id); !ok {
			f.Open = slices.Insert(f.Open, i, id)
		}
	}
}

func (c *Cover) bring(t strategy.Tally) {
	i, ok := slices.BinarySearchFunc(c.Strategies, t.Name, func(o strategy.Tally, name string) int {
		return cmp.Compare(o.Name, name)
	})
	if !ok {
		c.Strategies = slices.Insert(c.Strategies, i, strategy.Tally{})
	}
	c.Strategies[i] = c.Strategies[i].Plus(t)
}

// Add adds what another worker did. Of two bounds the greater stays, with its walks.
func (l *Liveness) Add(o *Liveness) {
	if c := cmp.Or(cmp.Compare(l.Bound, o.Bound), slices.Compare(l.Sampled, o.Sampled)); c < 0 {
		l.Bound, l.Sampled = o.Bound, append([]int(nil), o.Sampled...)
	}
	l.States, l.Live, l.Quiet, l.Steps = l.States+o.States, l.Live+o.Live, l.Quiet+o.Quiet, l.Steps+o.Steps
	l.Skipped, l.GivenUp, l.Undecided, l.Most = l.Skipped+o.Skipped, l.GivenUp+o.GivenUp, l.Undecided+o.Undecided,
		max(l.Most, o.Most)
}

// addSpan adds indexes to those of which no two spans touch.
func addSpan(all []Span, s Span) []Span {
	if s.From >= s.To {
		return all
	}
	i, _ := slices.BinarySearchFunc(all, s.From, func(o Span, from int) int { return cmp.Compare(o.To, from) })
	n := i
	for ; n < len(all) && all[n].From <= s.To; n++ {
		s.From, s.To = min(s.From, all[n].From), max(s.To, all[n].To)
	}
	return slices.Replace(all, i, n, s)
}

// find adds a finding to those of violations that are alike.
func (r *Result) find(f Finding) {
	i := slices.IndexFunc(r.Findings, func(o Finding) bool { return search.Alike(o.Violation, f.Violation) })
	if i >= 0 {
		f.Count += r.Findings[i].Count
		if r.Findings[i].compare(&f) < 0 {
			r.Findings[i].Count = f.Count
			return
		}
		r.Findings = slices.Delete(r.Findings, i, i+1)
	}
	i, _ = slices.BinarySearchFunc(r.Findings, f, func(a, b Finding) int { return a.compare(&b) })
	r.Findings = slices.Insert(r.Findings, i, f)
}

// compare orders findings, but for their counts.
func (f *Finding) compare(o *Finding) int {
	v, w := &f.Violation, &o.Violation
	return cmp.Or(cmp.Compare(uint(f.Execution), uint(o.Execution)), // none is the last
		cmp.Compare(v.Step, w.Step), cmp.Compare(v.At, w.At), cmp.Compare(v.Kind, w.Kind), cmp.Compare(v.Node, w.Node),
		cmp.Compare(v.Message, w.Message))
}

// violate adds a violation, unless it is there.
func (r *Result) violate(v Violation) {
	i, ok := slices.BinarySearchFunc(r.Violations, v, func(a, b Violation) int {
		return cmp.Or(a.By.Compare(b.By), cmp.Compare(a.Item, b.Item))
	})
	if !ok {
		r.Violations = slices.Insert(r.Violations, i, v)
	}
}

// leave adds work that is left, unless it is there.
func (r *Result) leave(w *Work) {
	i, ok := slices.BinarySearchFunc(r.Left, w, func(a Work, b *Work) int { return a.compare(b) })
	if !ok {
		r.Left = slices.Insert(r.Left, i, *w)
	}
}

// Refuse adds a refusal to those of the same thing and program.
func (r *Result) Refuse(f Refusal) {
	i, ok := slices.BinarySearchFunc(r.Refusals, f, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Program, b.Program))
	})
	if !ok {
		r.Refusals = slices.Insert(r.Refusals, i, f)
		return
	}
	g := &r.Refusals[i]
	if c := cmp.Or(f.By.Compare(g.By), cmp.Compare(f.Detail, g.Detail)); c < 0 {
		g.By, g.Detail = f.By, f.Detail
	}
	g.Count += f.Count
	g.Harmless = g.Harmless && f.Harmless
}

// CutOff adds steps that were cut off to those of the same place.
func (r *Result) CutOff(c CutOff) {
	i, ok := slices.BinarySearchFunc(r.CutOffs, c, func(a, b CutOff) int { return a.compare(&b) })
	if !ok {
		r.CutOffs = slices.Insert(r.CutOffs, i, c)
		return
	}
	at := &r.CutOffs[i]
	at.Steps = slices.Clone(at.Steps) // r may share them
	for _, step := range c.Steps {
		j, known := slices.BinarySearch(at.Steps, step)
		if !known {
			at.Steps = slices.Insert(at.Steps, j, step)
		}
	}
}

// meet adds what a transition met, unless it is known.
func (r *Result) meet(m *Met) {
	i, ok := slices.BinarySearchFunc(r.Met, m, func(a Met, b *Met) int {
		return cmp.Or(cmp.Compare(a.State.Hi, b.State.Hi), cmp.Compare(a.State.Lo, b.State.Lo))
	})
	if !ok {
		r.Met = slices.Insert(r.Met, i, *m)
	} else if m.By.Compare(r.Met[i].By) < 0 {
		r.Met[i] = *m
	}
}

// Enter adds what a transition met to what counts by itself.
func (r *Result) Enter(m *Met) {
	for _, f := range m.Refusals {
		r.Refuse(Refusal{Node: m.Node, By: m.By, Refusal: f})
	}
	if m.CutAt != nil {
		r.CutOff(CutOff{Node: m.Node, At: *m.CutAt, Steps: []string{m.Step}})
	}
	for i, t := range m.Doubts {
		r.Doubts.enter(Remark{By: m.By, Item: i, Text: t})
	}
}
