package world

import (
	"fmt"
	"time"

	"ariadne"
)

// The numbers of the kinds of events that happen to the network.
const (
	cut  ariadne.ActionKind = 9
	heal ariadne.ActionKind = 10
)

// Cut is a way in which the network may be parted for some time.
type Cut struct {
	Name   string        // as in n1|n2+n3, or n1>n2 for one direction
	For    time.Duration // or ariadne.Ever
	blocks map[[2]ariadne.NodeID]bool
	number int // among those of the rules, from 1
}

// NewCut parts the nodes of one group from those of another; nothing gets from the first to the
// second and, unless it is oneWay, back.
func NewCut(name string, from, to []ariadne.NodeID, oneWay bool, length time.Duration) *Cut {
	c := &Cut{Name: name, For: length, blocks: map[[2]ariadne.NodeID]bool{}}
	for _, a := range from {
		for _, b := range to {
			c.blocks[[2]ariadne.NodeID{a, b}] = true
			if !oneWay {
				c.blocks[[2]ariadne.NodeID{b, a}] = true
			}
		}
	}
	return c
}

// Blocks reports whether nothing gets from one node to another; nothing does with nil.
func (c *Cut) Blocks(from, to ariadne.NodeID) bool {
	return c != nil && c.blocks[[2]ariadne.NodeID{from, to}]
}

func (c *Cut) what() string { return c.Name + " for " + ariadne.Outage{For: c.For}.Length() }

// network is the node that stands in the events of the network, which give no node an input.
const network = ariadne.NodeID(0)

// The network may be parted at any time, when it is whole, and is whole again after a time. What
// is under way on a connection waits meanwhile, as if it were sent again and again; datagrams and
// what opens connections are lost.
func init() {
	register(cut, Kind{
		Name: "cut", Doc: "the network's partition", Fault: "Partitions of the network", Aside: true, World: true,
		Enabled: func(y *System, s *State, _ Clock, events []Event) []Event {
			if s.Cut != nil {
				return events
			}
			at := y.rules.OnGrid(s.latest())
			for _, e := range y.cuts {
				e.At = at
				events = append(events, e)
			}
			return events
		},
		Pending: func(y *System, s *State, e *Event) bool {
			e.At = y.rules.OnGrid(s.latest())
			return s.Cut == nil
		},
		Take: func(y *System, s *State, e Event) Input {
			c := e.Varied.cut
			s.setCut(c, ariadne.EndOf(e.At, c.For, y.rules.Grid))
			for i := 0; i < len(s.Flight); {
				if f := &s.Flight[i]; c.Blocks(f.From, f.To) && f.Unrepeated() {
					s.land(i)
				} else {
					i++
				}
			}
			return Input{At: e.At, Varied: e.Varied}
		},
		Footprint: func(y *System, e *Event, f Footprint) Footprint {
			f.Present, f.Slack, f.Cut = true, unlimited, e.Varied.cut
			f.Back = ariadne.EndOf(e.At, f.Cut.For, y.rules.Grid)
			return f
		},
		Format: func(_ Names, a ariadne.Action) string { return a.What },
		Parse: func(n Names, rest string) (ariadne.Action, error) {
			for _, known := range n.cuts {
				if known == rest {
					return ariadne.Action{Kind: cut, Node: network, What: rest}, nil
				}
			}
			return ariadne.Action{}, fmt.Errorf("the spec has no such partition")
		},
	})
	register(heal, Kind{
		Name: "heal", Doc: "the end of a partition", World: true,
		Enabled: func(y *System, s *State, c Clock, events []Event) []Event {
			if s.Heal != ariadne.Never && s.Heal <= c.First && s.Heal <= c.Start.Add(y.rules.ClockError) {
				events = insert(events, Event{At: s.Heal, Kind: heal, Node: network, Varied: &Varied{what: "network", cut: s.Cut}})
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			e.At, e.Varied = s.Heal, &Varied{what: "network", cut: s.Cut}
			return s.Heal != ariadne.Never
		},
		Take: func(y *System, s *State, e Event) Input {
			c := s.Cut
			s.setCut(nil, ariadne.Never)
			until := e.At.Add(y.rules.Latency)
			for i := range s.Flight {
				if f := &s.Flight[i]; c.Blocks(f.From, f.To) && f.Arrival < until {
					s.sum.sub(f.hash())
					f.Arrival = until
					s.sum.add(f.hash())
				}
			}
			return Input{At: e.At, Varied: e.Varied}
		},
		Footprint: func(y *System, e *Event, f Footprint) Footprint {
			f.Heal, f.Slack, f.StartSlack, f.Cut = e.At, 0, y.rules.ClockError, e.Varied.cut
			return f
		},
		Format: func(_ Names, a ariadne.Action) string { return a.What },
		Parse: func(_ Names, rest string) (ariadne.Action, error) {
			if rest != "network" {
				return ariadne.Action{}, fmt.Errorf("want heal network")
			}
			return ariadne.Action{Kind: heal, Node: network, What: rest}, nil
		},
	})
}

// newCuts are the events of all cuts, but for their time.
func newCuts(r Rules) (all []Event) {
	for i, c := range r.Cuts {
		c.number = i + 1
		all = append(all, Event{Node: network, Kind: cut, Varied: &Varied{what: c.what(), cut: c}})
	}
	return all
}

// setCut parts the network until a time, or has it whole with nil.
func (s *State) setCut(c *Cut, until ariadne.Time) {
	s.sum.sub(s.cutHash())
	s.Cut, s.Heal = c, until
	s.sum.add(s.cutHash())
}

func (s *State) cutHash() Hash {
	if s.Cut == nil {
		return Hash{}
	}
	return HashOf(uint64(s.Cut.number), uint64(s.Heal), 10)
}

// latest is the latest time on the clock of a machine that runs.
func (s *State) latest() (t ariadne.Time) {
	for i := range s.Nodes {
		if s.Nodes[i].Started {
			t = max(t, s.Nodes[i].Clock)
		}
	}
	return t
}

// Still is the effect of what gives a node no input.
func (n *NodeState) Still() Effect {
	return Effect{Clock: n.Clock, Deadline: n.Deadline, Done: n.Done, Ended: n.Ended, Spared: n.Spared, Calm: n.Calm}
}
