package world

import (
	"slices"

	"ariadne"
)

// Kill is the number of its kind.
const Kill ariadne.ActionKind = 21

// One process of a node may be killed at any time, between two of its steps and within one. The
// node goes on: its kernel closes what only that process had open, and others of its processes
// find it dead. Which there are the node says (ariadne.Output.Processes).
func init() {
	k := onNodes(Kill, "", Kind{Name: ariadne.Killed, Doc: "a process that is killed", Fault: "Processes that are killed alone", Within: true})
	k.Enabled = func(y *System, s *State, _ Clock, events []Event) []Event {
		now := y.now(s)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if n.Processes == nil || n.Spared || !s.mayFall(ariadne.NodeID(i), Kill) || !y.may(s, Kill, ariadne.NodeID(i)) {
				continue
			}
			for _, how := range *n.Processes {
				events = append(events, Event{Kind: Kill, Node: ariadne.NodeID(i), At: max(n.Clock, now), Varied: how})
			}
		}
		return events
	}
	pending := k.Pending
	k.Pending = func(y *System, s *State, e *Event) bool {
		n := &s.Nodes[e.Node]
		return pending(y, s, e) && n.Processes != nil && slices.ContainsFunc(*n.Processes, func(how *Varied) bool { return how.what == e.Varied.What() })
	}
	register(Kill, k)
}

// kills are the ways to kill one of some processes, or nil when there is none to tell.
func kills(processes *[]string) *[]*Varied {
	if processes == nil {
		return nil
	}
	all := []*Varied{}
	for _, p := range *processes {
		all = append(all, &Varied{what: p, fault: ariadne.NodeFault{Kill: p}})
	}
	return &all
}
