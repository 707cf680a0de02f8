package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// The numbers of the kinds by which other nodes go down with one.
const (
	Together ariadne.ActionKind = 27
	CrashToo ariadne.ActionKind = 24
	StopToo  ariadne.ActionKind = 31
)

// Several nodes may go down at one blow: a rack, a room, programs of one bug. It hits one of
// them first, between two of its steps or within one, and costs what that costs. The others go down
// next, each in an event of its own, so what is left on its disks is chosen for each. Nothing else
// happens in between, at whatever time it is.
func init() {
	register(Together, togetherKind(Together, Power, "a machine that loses power with another"))
	register(CrashToo, togetherKind(CrashToo, Crash, "a node whose programs are killed with another's"))
	register(StopToo, togetherKind(StopToo, Stop, "a machine that stops with another"))
}

// togetherKind is the kind of number by which nodes go down with one that a fault of a kind hits.
func togetherKind(number, by ariadne.ActionKind, doc string) Kind {
	falls := func(n *NodeState) bool {
		if n.Falls == nil {
			return false
		}
		k, _ := KindNamed(n.Falls.fault.Kind())
		return k == by
	}
	return Kind{
		Name: kinds[by].Name + "-too", Doc: doc, Of: []ariadne.ActionKind{by}, Only: true,
		Enabled: func(_ *System, s *State, _ Clock, events []Event) []Event {
			for i := range s.Nodes {
				if n := &s.Nodes[i]; falls(n) {
					return append(events,
						Event{At: max(n.Clock, n.FallsAt), Kind: number, Node: ariadne.NodeID(i), Varied: n.Falls})
				}
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			n := &s.Nodes[e.Node]
			e.At = max(n.Clock, n.FallsAt)
			return falls(n)
		},
		Take: func(_ *System, s *State, e *Event) Input {
			s.enterFall(e.Node, nil, 0)
			return Input{Kind: ariadne.Fault, At: e.At, Varied: e.Varied}
		},
		Footprint: func(_ *System, _ *Event, f Footprint) Footprint {
			f.All = true
			return f
		},
		Format: func(n Names, a ariadne.Action) string { return kinds[by].Format(n, a) },
		Parse: func(n Names, rest string) (ariadne.Action, error) {
			a, err := kinds[by].Parse(n, rest)
			if a.Kind = number; err == nil && strings.Contains(a.What, "+") {
				err = fmt.Errorf("it is with another already")
			}
			return a, err
		},
	}
}

// OutagesTogether are the faults that take all nodes of a group down in one way, for one of these
// times each, by whichever of them they hit. names are those of all nodes.
func OutagesTogether(down ariadne.Down, group []ariadne.NodeID, names []string,
	lengths ...time.Duration) (all []NodeFaults) {
	for _, first := range group {
		var others []string
		for _, id := range group {
			if id != first {
				others = append(others, names[id])
			}
		}
		f := NodeFaults{Nodes: []ariadne.NodeID{first}}
		for _, length := range lengths {
			f.Faults = append(f.Faults, ariadne.Outage{Down: down, For: length, With: strings.Join(others, "+")})
		}
		all = append(all, f)
	}
	return all
}

// fallsWith reports whether a fault of a kind that hits several nodes would take a node down.
func (s *State) fallsWith(id ariadne.NodeID, kind ariadne.ActionKind) bool {
	return s.mayFall(id, kind) && !s.Nodes[id].Spared
}

// HitsSeveral reports whether there is a budget left for faults that hit several nodes at one
// blow: those that can be hit.
func (y *System) HitsSeveral(s *State) bool {
	for _, k := range []ariadne.ActionKind{Crash, Stop, Power} {
		if s.Faults[k] > 0 &&
			slices.ContainsFunc(y.onNodes[k], func(e Event) bool { return e.Varied.outage().With != "" }) {
			return true
		}
	}
	return false
}

// isFirstOfGroup reports whether a fault that may hit a node in s is not the same as another: of
// nodes that go down together, the first that is up stands for all, if there is another.
func (y *System) isFirstOfGroup(s *State, e *Event) bool {
	f := e.Varied.outage()
	if f.With == "" {
		return true
	}
	with := slices.DeleteFunc(y.nodesNamed(f.With), func(id ariadne.NodeID) bool { return !s.fallsWith(id, e.Kind) })
	return len(with) > 0 && slices.Min(with) > e.Node
}

// nodesNamed are the nodes of some names, joined by plus signs.
func (y *System) nodesNamed(names string) (all []ariadne.NodeID) {
	for _, name := range strings.Split(names, "+") {
		if id, err := y.names.parseNode(name); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// takeDownOthers has the nodes go down that do with another, at time at.
func (y *System) takeDownOthers(s *State, f *ariadne.Outage, at ariadne.Time) {
	alone := ariadne.Outage{Down: f.Down, For: f.For}
	kind, _ := KindNamed(f.Kind())
	for _, id := range y.nodesNamed(f.With) {
		if s.fallsWith(id, kind) {
			s.enterFall(id, variedByFault(alone), y.rules.OnGrid(at))
		}
	}
}

// enterFall enters that a node is to go down at time at, or with nil that it has.
func (s *State) enterFall(id ariadne.NodeID, by *Varied, at ariadne.Time) {
	n := &s.Nodes[id]
	s.sum.Sub(n.hashFall(id))
	n.Falls, n.FallsAt = by, at
	s.sum.Add(n.hashFall(id))
}

// hashFall is the part of a global state's hash of what a node is about to lose.
func (n *NodeState) hashFall(id ariadne.NodeID) hash.Hash {
	if n.Falls == nil {
		return hash.Hash{}
	}
	return n.Falls.Onto(hash.Of(uint64(id), uint64(n.FallsAt), 18))
}
