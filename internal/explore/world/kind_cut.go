package world

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Cut and Heal are the numbers of the kinds of events that happen to the network.
const (
	Cut  ariadne.ActionKind = 9
	Heal ariadne.ActionKind = 10
)

// Partition is a way in which the network may be parted for some time, or slow in a part.
type Partition struct {
	Name string        // as in n1|n2+n3, or n1>n2 for one direction
	For  time.Duration // or ariadne.Ever
	// how much of it, in the unit of its kind (Network.Amount); 0: there is no more or less
	By     int64
	kind   ariadne.ActionKind // of the event by which it begins
	nodes  int                // all that are parted have lower numbers
	blocks []bool             // by from*nodes+to
	apart  []ariadne.NodeID   // the smaller side, or both of them when they are as large
	number int                // among those of the rules, from 1
	heal   *Varied            // of the event that ends it
}

// NewPartition parts the nodes of one group from those of another; nothing gets from the first to
// the second and, unless it is oneWay, back.
func NewPartition(name string, from, to []ariadne.NodeID, oneWay bool, length time.Duration) *Partition {
	n := 0
	for _, id := range slices.Concat(from, to) {
		n = max(n, int(id)+1)
	}
	p := &Partition{Name: name, For: length, kind: Cut, nodes: n, blocks: make([]bool, n*n)}
	p.heal = &Varied{what: p.describe(), partition: p}
	switch {
	case len(from) < len(to):
		p.apart = from
	case len(to) < len(from):
		p.apart = to
	default:
		p.apart = slices.Concat(from, to)
	}
	for _, a := range from {
		for _, b := range to {
			p.blocks[int(a)*n+int(b)] = true
			if !oneWay {
				p.blocks[int(b)*n+int(a)] = true
			}
		}
	}
	return p
}

// WithKind is the same as something else than a partition: of another kind, and so much of it.
func (p *Partition) WithKind(kind ariadne.ActionKind, by int64) *Partition {
	other := *p
	other.kind, other.By = kind, by
	return &other
}

// WithLateness is the same with messages that arrive so much later, and not with none that do.
func (p *Partition) WithLateness(by time.Duration) *Partition { return p.WithKind(Slow, int64(by)) }

// Kind is that of the event by which it begins.
func (p *Partition) Kind() ariadne.ActionKind { return p.kind }

// Blocks reports whether nothing gets from one node to another, or only late; nothing does with
// nil.
func (p *Partition) Blocks(from, to ariadne.NodeID) bool {
	return p != nil && int(from) < p.nodes && int(to) < p.nodes && p.blocks[int(from)*p.nodes+int(to)]
}

// PartsOff are the nodes on the smaller side of a partition that an event of the network begins, or
// on both sides when they are as large.
func (e *Event) PartsOff() []ariadne.NodeID {
	if e.Varied == nil || e.Varied.partition == nil {
		return nil
	}
	return e.Varied.partition.apart
}

// isAbout reports whether it is about what a node sends.
func (p *Partition) isAbout(id ariadne.NodeID) bool {
	return int(id) < p.nodes && slices.Contains(p.blocks[int(id)*p.nodes:(int(id)+1)*p.nodes], true)
}

func (p *Partition) describe() string {
	by := ""
	if p.By > 0 {
		by = " by " + kinds[p.kind].Network.Amount.Format(p.By)
	}
	return p.Name + by + " for " + ariadne.FormatLength(p.For)
}

// A Standing is a partition that stands, or a part of the network that is slow.
type Standing struct {
	*Partition
	Since ariadne.Time
	Until ariadne.Time // or Never
}

func (c *Standing) hash() hash.Hash {
	return hash.Of(uint64(c.number), uint64(c.Until), 10).Plus(hash.Of(uint64(c.Since), 0, 17))
}

// insertStanding enters one among others; both lists have their own memory.
func (s *State) insertStanding(all []Standing, c Standing) []Standing {
	s.sum.Add(c.hash())
	i, _ := slices.BinarySearchFunc(all, c, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Until, b.Until), cmp.Compare(a.Since, b.Since))
	})
	return slices.Insert(slices.Clone(all), i, c)
}

// removeStanding takes one out.
func (s *State) removeStanding(all []Standing, i int) []Standing {
	s.sum.Sub(all[i].hash())
	return slices.Delete(slices.Clone(all), i, i+1)
}

// network is the node that stands in the events of the network, which give no node an input.
const network = ariadne.NodeID(0)

// The network may be parted at any time, and in several ways at the same time, each of which ends
// after a time. Data under way on a connection waits meanwhile, as if it were sent again and
// again, or until its sender gives up (kind_expire.go); datagrams and what opens connections are
// lost.
func init() {
	register(Cut, networkFaultKind(Cut, Kind{
		Name: "cut", Doc: "the network's partition", Fault: "Partitions of the network", Once: "a partition",
		Network: &Network{
			Groups:     EachAloneOrTwo,
			DocGroups:  "Lists of names of nodes, as in [[n1], [n1, n2]]: a partition separates one list from all other nodes but clients. Default each node alone and, of four and more nodes, each two.",
			DocLinks:   "Pairs of names of nodes, as in [[n1, n2]]: a partition separates only these two, and others reach both.",
			DocFor:     "How long a partition lasts, each as in 500ms or 15s, or ever. It ends at the next full second of virtual time after that. Several may exist at the same time. Default 15s.",
			DocOneWay:  "Also partitions in which messages pass in one direction; default false.",
			DocClients: "Partitions separate clients from the group, too; default false: clients reach every node.",
			Nowhere:    "it parts no node from another; clients are parted from none unless clients: true is given",
		},
		Enabled: func(y *System, s *State, _ Clock, events []Event) []Event { return y.parting(s, Cut, events) },
		Pending: func(y *System, s *State, e *Event) bool {
			e.At = y.untimedNow(s)
			return s.indexOfStanding(e.Varied.partition) < 0
		},
		Take: func(y *System, s *State, e *Event) Input {
			p := e.Varied.partition
			s.Cuts = s.insertStanding(s.Cuts, Standing{p, e.At, y.rules.endOf(e.At, p.For)})
			for i := 0; i < len(s.Flight); {
				if f := &s.Flight[i]; p.Blocks(f.From, f.To) && f.Unrepeated() {
					s.takeFromFlight(i)
				} else {
					i++
				}
			}
			y.awaitAllEnds(s, e.At)
			return Input{At: e.At, Varied: e.Varied}
		},
		Footprint: func(y *System, e *Event, f Footprint) Footprint {
			f.Present, f.Slack, f.Partition = true, unlimited, e.Varied.partition
			f.Back = y.rules.endOf(e.At, f.Partition.For)
			return f
		},
	}))
	register(Heal, Kind{
		Name: "heal", Doc: "the end of a partition", World: true, Of: []ariadne.ActionKind{Cut},
		Starts: true, Ends: true,
		Enabled: func(y *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Cuts {
				if t := s.Cuts[i].Until; t != ariadne.Never && t <= c.First && t <= c.Start.Add(y.rules.ClockError) &&
					!y.expiresBefore(s, t, ariadne.NoNode) {
					events = append(events, Event{At: t, Kind: Heal, Node: network, Varied: s.Cuts[i].heal})
				}
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			i := s.indexOfStanding(e.Varied.partition)
			if i < 0 || s.Cuts[i].Until == ariadne.Never {
				return false
			}
			e.At = s.Cuts[i].Until
			return true
		},
		Take: func(y *System, s *State, e *Event) Input {
			p := e.Varied.partition
			s.Cuts = s.removeStanding(s.Cuts, s.indexOfStanding(p))
			until := e.At.Add(y.rules.Latency)
			for i := range s.Flight {
				if f := &s.Flight[i]; (p.Blocks(f.From, f.To) || f.IsProbe() && p.Blocks(f.To, f.From)) &&
					f.Arrival < until {
					s.sum.Sub(f.hash())
					f.Arrival = until
					s.sum.Add(f.hash())
				}
			}
			return Input{At: e.At, Varied: e.Varied}
		},
		Footprint: func(y *System, e *Event, f Footprint) Footprint {
			f.Heal, f.Slack, f.StartSlack, f.Partition = e.At, 0, y.rules.ClockError, e.Varied.partition
			return f
		},
		Format: formatNetwork,
		Parse:  parseNetwork(Heal, Cut),
	})
}

// indexOfStanding is where among those that stand a partition is, or -1.
func (s *State) indexOfStanding(p *Partition) int {
	return slices.IndexFunc(s.Cuts, func(c Standing) bool { return c.Partition == p })
}

// blocks reports whether nothing gets from one node to another.
func (s *State) blocks(from, to ariadne.NodeID) bool {
	for i := range s.Cuts {
		if s.Cuts[i].Blocks(from, to) {
			return true
		}
	}
	return false
}

// blockedUntil is until when nothing gets from one node to another, or 0.
func (s *State) blockedUntil(from, to ariadne.NodeID) (until ariadne.Time) {
	for i := range s.Cuts {
		if c := &s.Cuts[i]; c.Blocks(from, to) {
			until = max(until, c.Until)
		}
	}
	return until
}

// blockedSince is when the first of the partitions has begun that let nothing from one node to
// another, or Never.
func (s *State) blockedSince(from, to ariadne.NodeID) ariadne.Time {
	since := ariadne.Never
	for i := range s.Cuts {
		if c := &s.Cuts[i]; c.Blocks(from, to) {
			since = min(since, c.Since)
		}
	}
	return since
}

func formatNetwork(_ Names, a ariadne.Action) string { return a.What }

// parseNetwork reads what formatNetwork writes of events of a kind, of what begins with those of
// another.
func parseNetwork(number, begins ariadne.ActionKind) func(n Names, rest string) (ariadne.Action, error) {
	return func(n Names, rest string) (ariadne.Action, error) {
		for _, p := range n.partitions {
			if p.kind == begins && p.describe() == rest {
				return ariadne.Action{Kind: number, Node: network, What: rest}, nil
			}
		}
		return ariadne.Action{}, fmt.Errorf("the spec has no such partition")
	}
}

// parting appends the events of a kind that hit the network, but for partitions that stand.
func (y *System) parting(s *State, k ariadne.ActionKind, events []Event) []Event {
	if !y.AnyMayFollow(s, k) {
		return events
	}
	at := y.untimedNow(s)
	for _, e := range y.partitions {
		if e.At = at; e.Kind == k && s.indexOfStanding(e.Varied.partition) < 0 {
			events = append(events, e)
		}
	}
	return events
}

// newPartitions are the events that hit the network, but for their time.
func newPartitions(r Rules) (all []Event) {
	for i, p := range r.Partitions {
		p.number = i + 1
		all = append(all, Event{Node: network, Kind: p.kind, Varied: &Varied{what: p.describe(), partition: p}})
	}
	return all
}

// EffectWithoutInput is the effect of what gives a node no input.
func (n *NodeState) EffectWithoutInput() Effect {
	return Effect{Clock: n.Clock, Deadline: n.Deadline, Done: n.Done, Ended: n.Ended, Spared: n.Spared, Calm: n.Calm}
}
