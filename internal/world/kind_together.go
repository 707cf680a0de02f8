package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ariadne"
)

// Together is the number of its kind.
const Together ariadne.ActionKind = 27

// Several machines may lose power at one blow: a rack, a room. It befalls one of them first, between two of its steps
// or within one, and costs what that costs. The others lose theirs next, each in an
// event of its own, so what is left on its disks is chosen for each. Nothing else happens in
// between, at whatever time it is.
func init() {
	register(Together, Kind{
		Name: "power-too", Doc: "a machine that loses power with another", Of: []ariadne.ActionKind{Power}, Only: true,
		Enabled: func(_ *System, s *State, _ Clock, events []Event) []Event {
			for i := range s.Nodes {
				if n := &s.Nodes[i]; n.Falls != nil {
					return append(events, Event{At: max(n.Clock, n.FallsAt), Kind: Together, Node: ariadne.NodeID(i), Varied: n.Falls})
				}
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			n := &s.Nodes[e.Node]
			e.At = max(n.Clock, n.FallsAt)
			return n.Falls != nil
		},
		Take: func(_ *System, s *State, e *Event) Input {
			s.fall(e.Node, nil, 0)
			return Input{Kind: ariadne.Fault, At: e.At, Varied: e.Varied}
		},
		Footprint: func(_ *System, _ *Event, f Footprint) Footprint {
			f.All = true
			return f
		},
		Format: func(n Names, a ariadne.Action) string { return kinds[Power].Format(n, a) },
		Parse: func(n Names, rest string) (ariadne.Action, error) {
			a, err := kinds[Power].Parse(n, rest)
			if a.Kind = Together; err == nil && strings.Contains(a.What, "+") {
				err = fmt.Errorf("it is with another already")
			}
			return a, err
		},
	})
}

// Losses are the faults that take the power of all nodes of a group, for one of these times each, by
// whichever of them they befall. names are those of all nodes.
func Losses(group []ariadne.NodeID, names []string, lengths ...time.Duration) (all []NodeFaults) {
	for _, first := range group {
		var others []string
		for _, id := range group {
			if id != first {
				others = append(others, names[id])
			}
		}
		f := Outages(ariadne.PowerLost, []ariadne.NodeID{first}, lengths...)
		for i := range f.Faults {
			f.Faults[i].With = strings.Join(others, "+")
		}
		all = append(all, f)
	}
	return all
}

// loses reports whether a loss of power that befalls several machines would take a node's.
func (s *State) loses(id ariadne.NodeID) bool { return s.mayFall(id, Power) && !s.Nodes[id].Spared }

// HitsSeveral reports whether there is a budget left for faults that befall several nodes at one blow: those that can be
// hit.
func (y *System) HitsSeveral(s *State) bool {
	return s.Faults[Power] > 0 && slices.ContainsFunc(y.onNodes[Power], func(e Event) bool { return e.Varied.Fault().With != "" })
}

// leads reports whether a fault that may befall a node in s is not the same as another: of machines that lose power together, the
// first that is up stands for all, if there is another.
func (y *System) leads(s *State, e *Event) bool {
	f := e.Varied.Fault()
	if f.With == "" {
		return true
	}
	with := slices.DeleteFunc(y.named(f.With), func(id ariadne.NodeID) bool { return !s.loses(id) })
	return len(with) > 0 && slices.Min(with) > e.Node
}

// named are the nodes of some names, joined by plus signs.
func (y *System) named(names string) (all []ariadne.NodeID) {
	for _, name := range strings.Split(names, "+") {
		if id, err := y.names.parseNode(name); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// fallWith has the machines lose power that do with another, at time at.
func (y *System) fallWith(s *State, f *ariadne.NodeFault, at ariadne.Time) {
	alone := ariadne.NodeFault{Down: f.Down, For: f.For}
	for _, id := range y.named(f.With) {
		if s.loses(id) {
			s.fall(id, &Varied{what: alone.What(), fault: alone}, y.rules.OnGrid(at))
		}
	}
}

// fall enters that a machine is to lose power at time at, or with nil that it has.
func (s *State) fall(id ariadne.NodeID, by *Varied, at ariadne.Time) {
	n := &s.Nodes[id]
	s.sum.sub(n.fallHash(id))
	n.Falls, n.FallsAt = by, at
	s.sum.add(n.fallHash(id))
}

// fallHash is the part of a global state's hash of what a node is about to lose.
func (n *NodeState) fallHash(id ariadne.NodeID) Hash {
	if n.Falls == nil {
		return Hash{}
	}
	return n.Falls.Onto(HashOf(uint64(id), uint64(n.FallsAt), 18))
}
