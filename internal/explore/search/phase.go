package search

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Phase is a part of an execution, as people see it. A part may come several times.
type Phase uint8

const (
	// InStartup: no client has sent anything to another node; where there are no clients, no node
	// has.
	InStartup Phase = iota
	// InRequest: a client has sent something to another node, and nothing has arrived from any
	// since.
	InRequest
	// BetweenRequests: no client waits so for an answer.
	BetweenRequests
	// InRecovery: a node is down, or has sent nothing to another one since it came back. It comes
	// before the others.
	InRecovery
	// NumPhases is how many there are.
	NumPhases
)

func (p Phase) String() string { return [...]string{"start-up", "request", "between", "recovery"}[p] }

// Strike is a kind of fault with the node that it hits, and the phase in which it does. The node is
// ariadne.NoNode when it hits the network or a message.
type Strike struct {
	Kind  ariadne.ActionKind
	Node  ariadne.NodeID
	Phase Phase
}

// course is how far an execution has come.
type course struct {
	begun  bool    // the start-up is over
	asking NodeSet // clients that wait for an answer
	down   NodeSet // nodes that recover
}

func (c *course) currentPhase() Phase {
	switch {
	case c.down != NodeSet{}:
		return InRecovery
	case !c.begun:
		return InStartup
	case c.asking != NodeSet{}:
		return InRequest
	}
	return BetweenRequests
}

// followStep goes on by a step.
func (c *course) followStep(y *world.System, e *world.Event, by *memo.Transition) {
	if world.KindOf(e.Kind).World {
		return
	}
	nodes, id := y.Nodes(), e.Node
	if p := e.Packet; p != nil && by.Input.Kind == ariadne.Deliver && p.From != id && len(p.Data) > 0 {
		c.asking.remove(id)
	}
	sends := false
	for _, p := range by.Effect.Packets {
		sends = sends || p.To != id && len(p.Data) > 0
	}
	if sends {
		c.down.remove(id)
		if nodes[id].Client {
			c.asking.add(id)
		}
		c.begun = c.begun || nodes[id].Client || !hasClients(nodes)
	}
	if by.Output.Ended || by.Output.Done {
		c.asking.remove(id)
	}
	if by.Output.Down != ariadne.Up && by.Output.Down != ariadne.Paused {
		c.down.add(id)
		c.asking.remove(id)
	}
}

func hasClients(nodes []world.Node) bool {
	for i := range nodes {
		if nodes[i].Client {
			return true
		}
	}
	return false
}

// NodeSet is a set of nodes.
type NodeSet [4]uint64

func (s *NodeSet) add(id ariadne.NodeID)    { s[id>>6&3] |= 1 << (id & 63) }
func (s *NodeSet) remove(id ariadne.NodeID) { s[id>>6&3] &^= 1 << (id & 63) }

// Has reports whether a node is in it.
func (s *NodeSet) Has(id ariadne.NodeID) bool { return s[id>>6&3]>>(id&63)&1 != 0 }

// followPhase goes on by the last step of a path, and returns the phase before it.
func (x *Exploration) followPhase(p *space.Path) Phase {
	n := p.Steps()
	for len(x.courses) <= n {
		x.courses = append(x.courses, course{})
	}
	now := x.courses[n-1]
	before := now.currentPhase()
	now.followStep(x.Space.System, p.Taken(n), p.Last().By)
	x.courses[n] = now
	return before
}

// countFault counts a fault between steps or within one.
func (x *Exploration) countFault(e *world.Event, in Phase) {
	for k, n := range e.Costs() {
		if n == 0 {
			continue
		}
		s := Strike{Kind: ariadne.ActionKind(k), Node: e.Node, Phase: in}
		if world.KindOf(s.Kind).World {
			s.Node = ariadne.NoNode
		}
		x.Coverage.Faults[k].Taken += int(n)
		if x.Coverage.Strikes == nil {
			x.Coverage.Strikes = map[Strike]int{}
		}
		x.Coverage.Strikes[s] += int(n)
	}
}
