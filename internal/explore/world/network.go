package world

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Network is what there is to say of a kind of fault that hits the network. A spec says between
// whom, for how long and how much; what is said by default, and what the fields are for, is here.
type Network struct {
	// Groups are the groups of nodes each of which it lies between and all others, by default.
	Groups func(nodes []ariadne.NodeID) [][]ariadne.NodeID
	// Explanations of the fields of a spec.
	DocGroups, DocLinks, DocFor, DocOneWay, DocClients string
	// Nowhere is why it cannot happen where it lies between no two nodes.
	Nowhere string
	// Amount is how much of it there may be; nil: there is no more or less.
	Amount *Amount
}

// Amount is how much of a fault of the network there may be: numbers from 1, in a unit of its own.
type Amount struct {
	Doc     string // what the field of a spec is for
	Default []int64
	Parse   func(text string) (int64, error)
	Format  func(amount int64) string // the inverse of Parse
	// Late is how much later a message arrives because of it.
	Late func(p *Packet, amount int64) time.Duration
}

// EachAlone is each node alone: of two, the first.
func EachAlone(nodes []ariadne.NodeID) (groups [][]ariadne.NodeID) {
	if len(nodes) == 2 {
		nodes = nodes[:1]
	}
	for _, id := range nodes {
		groups = append(groups, []ariadne.NodeID{id})
	}
	return groups
}

// EachAloneOrTwo are each node alone and, of four nodes and more, each two.
func EachAloneOrTwo(nodes []ariadne.NodeID) (groups [][]ariadne.NodeID) {
	groups = EachAlone(nodes)
	for i := 0; len(nodes) > 3 && i < len(nodes); i++ {
		for j := i + 1; j < len(nodes); j++ {
			if len(nodes) > 4 || i == 0 { // of four nodes the other two are the rest
				groups = append(groups, []ariadne.NodeID{nodes[i], nodes[j]})
			}
		}
	}
	return groups
}

// networkFaultKind completes a kind of faults that hit the network.
func networkFaultKind(number ariadne.ActionKind, k Kind) Kind {
	k.Untimed, k.World = true, true
	k.Format, k.Parse = formatNetwork, parseNetwork(number, number)
	return k
}

// slowKind completes a kind of faults of the network by which messages arrive later, as its amount
// has it: what is under way, and what is sent until it is over.
//
// That is no event, since it is told by when a message was sent. A connection keeps its order, so
// what is sent on it later may wait; a datagram overtakes. No message is so late that its sender
// would have given up for want of an acknowledgement.
func slowKind(number ariadne.ActionKind, k Kind) Kind {
	k.Enabled = func(y *System, s *State, _ Clock, events []Event) []Event { return y.parting(s, number, events) }
	k.Pending = func(y *System, s *State, e *Event) bool {
		e.At = y.untimedNow(s)
		return true
	}
	k.Take = func(y *System, s *State, e *Event) Input {
		p := e.Varied.partition
		for i := range s.Flight {
			if f := &s.Flight[i]; p.Blocks(f.From, f.To) && f.Flow.Proto != ariadne.Expiry {
				s.sum.Sub(f.hash())
				f.Arrival = max(y.laterArrival(s, f.Packet, f.Arrival, p.lateness(f.Packet)), s.arrivalAhead(i))
				s.sum.Add(f.hash())
			}
		}
		s.Slow = s.insertStanding(s.Slow, Standing{p, e.At, y.rules.endOf(e.At, p.For)})
		s.dropPastSlowness()
		return Input{At: e.At, Varied: e.Varied}
	}
	k.Footprint = func(y *System, e *Event, f Footprint) Footprint {
		f.Present, f.Slack, f.Partition = true, unlimited, e.Varied.partition
		return f
	}
	return networkFaultKind(number, k)
}

// Slows reports whether by its events messages arrive later.
func (k *Kind) Slows() bool { return k.Network != nil && k.Network.Amount != nil }

// Slows reports whether there is a budget for any kind by which messages arrive later.
func (r *Rules) Slows() bool {
	return slices.ContainsFunc(slowing, func(k ariadne.ActionKind) bool { return r.Faults[k] > 0 })
}

// slowing are the kinds by which messages arrive later.
var slowing []ariadne.ActionKind

// lateness is how much later a message arrives while it stands.
func (p *Partition) lateness(m *Packet) time.Duration {
	return kinds[p.kind].Network.Amount.Late(m, p.By)
}

// SlowsBetween stands for between whom an event makes messages how late, with who takes each node's
// place; ok: it does.
func (e *Event) SlowsBetween(way []ariadne.NodeID) (h hash.Hash, ok bool) {
	if !kinds[e.Kind].Slows() {
		return h, false
	}
	p := e.Varied.partition
	for i, late := range p.blocks {
		if late {
			h.Add(hash.Of(uint64(way[i/p.nodes])<<32|uint64(way[i%p.nodes]), uint64(p.By), uint64(p.kind)))
		}
	}
	return h, true
}
