package record

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
)

// Sum is what the report counts, as that of a Result to which others can be added. Of what it says
// it is said by nobody's work: all that workers say comes later.
func (r *Report) Sum() *work.Result {
	before := work.Source{Unit: -1}
	s := &work.Result{Source: before,
		Counts: work.Counts{Executions: r.Executions, Steps: r.Steps, Calls: r.Calls, Messages: r.Messages,
			Virtual: r.VirtualTime, Ends: maps.Clone(r.Ends)}}
	for _, f := range r.Refusals {
		s.Refuse(work.Refusal{Node: nodeOf(f.Node, r.names()), Refusal: f.Refusal})
	}
	for _, v := range r.Violations {
		if v.Count > 0 {
			s.Findings = append(s.Findings,
				work.Finding{Violation: v.Violation, Execution: v.Execution, Count: v.Count})
		}
	}
	for _, c := range r.CutOffs {
		s.CutOff(work.CutOff{Node: nodeOf(c.Node, r.names()), At: c.CodePoint, Steps: c.Steps})
	}
	s.Servers.Say(r.Servers...)
	s.Doubts.Say(r.Doubts...)
	s.Notes.Say(r.Notes...)
	s.Bugs.Say(r.Bugs...)
	if r.Coverage != nil {
		s.Cover = r.Coverage.Sum(r.names())
	}
	s.Of(before)
	return s
}

// Fill sets the parts of the report that a sum has. The others stay.
func (r *Report) Fill(s *work.Result) {
	r.Executions, r.Steps, r.Calls, r.Messages, r.VirtualTime = s.Executions, s.Steps, s.Calls, s.Messages, s.Virtual
	if len(s.Ends) > 0 {
		r.Ends = maps.Clone(s.Ends)
	}
	r.Refusals = nil
	for _, f := range s.Refusals {
		r.Refusals = append(r.Refusals, Refusal{r.Nodes[f.Node].Name, f.Refusal})
	}
	r.CutOffs = nil
	for _, c := range s.CutOffs {
		r.CutOffs = append(r.CutOffs, CutOffPlace{r.Nodes[c.Node].Name, c.At, c.Steps})
	}
	r.Servers, r.Doubts, r.Notes, r.Bugs = s.Servers.Texts(), s.Doubts.Texts(), s.Notes.Texts(), s.Bugs.Texts()
	if c := r.Coverage; c != nil {
		c.fill(&s.Cover, r.names())
		if c.Exhausted, c.Missed = s.Explored, s.Missed; c.Exhausted && c.CutOff > 0 {
			c.Exhausted, c.Missed = false, fmt.Sprintf("limits of steps or time cut paths off in %d states, and later paths that reach these states stop there", c.CutOff)
		}
	}
}

// Sum is what is counted by the workers of a search of nodes with these names.
func (c *Coverage) Sum(nodes []string) work.Cover {
	s := work.Cover{Bounded: c.Bounded, Cycles: c.Cycles, CutOff: c.CutOff, Known: c.Known, Given: c.Given,
		Merged: c.Merged, RulesAudited: c.RulesAudited,
		Assertions: c.Assertions, Strategies: c.Strategies, Liveness: c.Liveness}
	s.Probing = c.Probing
	s.ReadClock, s.TriedClock = nodesOf(c.ReadClock, nodes), nodesOf(c.TriedClock, nodes)
	s.TookTurns, s.AtLocks = nodesOf(c.TookTurns, nodes), nodesOf(c.AtLocks, nodes)
	for i := range c.Faults {
		f := &c.Faults[i]
		t := work.Faults{Kind: f.Kind, Faults: f.Faults}
		for _, b := range f.By {
			t.By = append(t.By, work.Struck{Node: nodeOf(b.Node, nodes), Phases: b.Phases})
		}
		for _, name := range f.Spared {
			t.Open = append(t.Open, nodeOf(name, nodes))
		}
		s.Tried = append(s.Tried, t)
	}
	return s.Clone()
}

// fill makes the coverage one of a sum.
func (c *Coverage) fill(from *work.Cover, nodes []string) {
	s := from.Clone()
	c.Bounded, c.Cycles, c.CutOff, c.Known, c.Given, c.Merged, c.RulesAudited = s.Bounded, s.Cycles, s.CutOff, s.Known,
		s.Given, s.Merged, s.RulesAudited
	c.Assertions, c.Strategies, c.Liveness = s.Assertions, s.Strategies, s.Liveness
	c.Probing = s.Probing
	c.ReadClock, c.TriedClock = namesOf(s.ReadClock, nodes), namesOf(s.TriedClock, nodes)
	c.TookTurns, c.AtLocks = namesOf(s.TookTurns, nodes), namesOf(s.AtLocks, nodes)
	for i := range c.Faults {
		f := &c.Faults[i]
		n := slices.IndexFunc(s.Tried, func(t work.Faults) bool { return t.Kind == f.Kind })
		if n < 0 {
			continue
		}
		t := &s.Tried[n]
		f.Faults, f.By, f.Spared = t.Faults, nil, nil
		for at := range len(nodes) + 1 { // the network is the last
			id, name := ariadne.NodeID(at), ""
			if at < len(nodes) {
				name = nodes[at]
			} else {
				id = ariadne.NoNode
			}
			b := slices.IndexFunc(t.By, func(b work.Struck) bool { return b.Node == id })
			switch {
			case b >= 0:
				f.By = append(f.By, Struck{Node: name, Phases: t.By[b].Phases})
			case id != ariadne.NoNode && slices.Contains(t.Open, id):
				f.Spared = append(f.Spared, name)
			}
		}
	}
}

// nodesOf are the nodes that have some names.
func nodesOf(names, nodes []string) (all []ariadne.NodeID) {
	for _, name := range names {
		all = append(all, nodeOf(name, nodes))
	}
	return all
}

// namesOf are the names of some nodes.
func namesOf(some []ariadne.NodeID, nodes []string) (all []string) {
	for _, id := range some {
		all = append(all, nodes[id])
	}
	return all
}

// nodeOf is the node of a name; ariadne.NoNode: it is that of the network.
func nodeOf(name string, nodes []string) ariadne.NodeID {
	if i := slices.Index(nodes, name); i >= 0 {
		return ariadne.NodeID(i)
	}
	return ariadne.NoNode
}
