package world

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Kill is the number of its kind.
const Kill ariadne.ActionKind = 21

// One process of a node may be killed at any time, between two of its steps and within one. The
// node goes on: its kernel closes what only that process had open, and others of its processes
// find it dead. The node says which there are (ariadne.Output.Processes).
func init() {
	k := nodeFaultKind(Kill, "",
		Kind{Name: ariadne.Killed, Doc: "a process that is killed", Fault: "Processes that are killed alone",
			Once: "a killed process", Within: true})
	k.Enabled = func(y *System, s *State, _ Clock, events []Event) []Event {
		now := y.untimedNow(s)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if n.Processes == nil || n.Spared || !s.mayFall(ariadne.NodeID(i), Kill) ||
				!y.isAfterOf(s, Kill, ariadne.NodeID(i)) {
				continue
			}
			for _, how := range n.Processes.all {
				events = append(events, Event{Kind: Kill, Node: ariadne.NodeID(i), At: max(n.Clock, now), Varied: how})
			}
		}
		return events
	}
	pending := k.Pending
	k.Pending = func(y *System, s *State, e *Event) bool {
		n := &s.Nodes[e.Node]
		return pending(y, s, e) && n.Processes != nil &&
			slices.ContainsFunc(n.Processes.all, func(how *Varied) bool { return how.what == e.Varied.What() })
	}
	register(Kill, k)
}

// Processes are those of a node that may be killed one by one.
type Processes struct {
	all  []*Varied // the ways to do it
	hash hash.Hash // of their names
}

// newProcesses are the ways to kill one of some processes, or nil when there is none to tell.
func newProcesses(processes *[]string) *Processes {
	if processes == nil {
		return nil
	}
	p := &Processes{}
	for _, name := range *processes {
		p.all = append(p.all, variedByFault(ariadne.Kill{Process: name}))
		p.hash = p.hash.Plus(hash.OfText(name))
	}
	return p
}

// Names are those of the processes, in order.
func (p *Processes) Names() (names []string) {
	if p != nil {
		for _, how := range p.all {
			names = append(names, how.what)
		}
	}
	return names
}

// hashPart is what processes are in a global state's hash. A state that is named by its content
// does not tell which they are.
func (p *Processes) hashPart(id ariadne.NodeID) hash.Hash {
	if p == nil || len(p.all) == 0 {
		return hash.Hash{}
	}
	return p.hash.Plus(hash.Of(uint64(id), 0, 19))
}

// setProcesses enters which processes of a node may be killed.
func (s *State) setProcesses(id ariadne.NodeID, p *Processes) {
	n := &s.Nodes[id]
	s.sum.Sub(n.Processes.hashPart(id))
	n.Processes = p
	s.sum.Add(p.hashPart(id))
}
