package world

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Content stands for a global state by what there is in it, as Hash and Digest do by what
// led to it: two histories that have come to the same content have the same one. locals
// stand for the nodes' local states, however those are told apart.
//
// The order in which things are due counts. With times, the times between them count, too, from the
// earliest on. Of a clock it counts only how far it is past that: one that is behind gets there
// before anything else happens to its node. Messages of a flow are told apart by their order, not
// by their numbers, which grow for ever, nor by when they were sent.
//
// Not in it: how late it is, and after how many steps.
func (y *System) Content(s *State, locals []hash.Hash, times bool) hash.Hash {
	d := y.due(s, times)
	for i := range s.Flight {
		d.first = min(d.first, s.Flight[i].Arrival)
	}
	h := s.Budget()
	for _, all := range [...][]Standing{s.Cuts, s.Slow} {
		for i := range all {
			h = h.Plus(hash.Of(uint64(all[i].number), d.span(all[i].Since), 11)).Plus(d.HashUntil(all[i].Until))
		}
	}
	for i := range s.Nodes {
		h.Add(locals[i].Plus(d.HashNode(y, s, ariadne.NodeID(i))).Plus(hash.Of(uint64(i), 0, 14)))
	}
	for i := range s.Flight {
		f := &s.Flight[i]
		place := uint64(0) // on its flow
		for j := range i {
			if g := &s.Flight[j]; g.To == f.To && g.SameFlow(f.Packet) {
				place++
			}
		}
		place <<= 1
		if f.Delayed {
			place |= 1
		}
		h.Add(f.said.Plus(hash.Of(place, 0, 4)).Plus(d.HashUntil(f.Arrival)).Plus(d.HashLatest(y, f)))
	}
	return h
}

// Due is the time as a state's content has it, and its class up to symmetry.
type Due struct {
	first ariadne.Time // the earliest at which anything is due, or Never
	times bool
	// marks are the times by which the rules decide what is possible: the nodes' deadlines,
	// the end of the time within which timers may fire, the starts to come, and when the network
	// is whole and no longer slow; in order.
	marks []ariadne.Time
}

// Due is the time in a state, with what is due before what and not after which times. Messages
// are not due: in which order they arrive is free.
func (y *System) Due(s *State) Due { return y.due(s, false) }

func (y *System) due(s *State, times bool) Due {
	c := y.clock(s)
	d := Due{first: min(c.First, c.Start), times: times, marks: []ariadne.Time{c.Horizon}}
	for i := range s.Nodes {
		d.marks = append(d.marks, s.Nodes[i].Timer())
		if start := s.Nodes[i].Start; start != ariadne.Never {
			d.marks = append(d.marks, start)
		}
	}
	for _, all := range [...][]Standing{s.Cuts, s.Slow} {
		for i := range all {
			d.marks = append(d.marks, all[i].Until)
		}
	}
	slices.Sort(d.marks)
	return d
}

// HashLatest stands for how late a message may still become, where the rules bound that.
func (d *Due) HashLatest(y *System, f *Flying) (h hash.Hash) {
	if y.rules.MaxDelay == 0 || y.rules.Delays == 0 {
		return h
	}
	return d.HashUntil(f.due().Add(y.rules.MaxDelay)).Plus(hash.Of(0, 0, 19))
}

// HashNode stands for all that the state has of a node but its local state, whoever it is. A new
// field of NodeState goes in here.
func (d *Due) HashNode(y *System, s *State, id ariadne.NodeID) hash.Hash {
	n := &s.Nodes[id]
	flags := uint64(n.Said)<<8 | uint64(n.Down)<<4
	for bit, is := range [...]bool{n.Started, n.Done, n.Ended, n.Spared} {
		if is {
			flags |= 1 << bit
		}
	}
	calm := uint64(0)
	if n.Calm != 0 {
		calm = 1 | d.sinceDue(n.Calm)<<1
	}
	h := hash.Of(flags, d.sinceDue(n.Clock), calm).Plus(d.HashUntil(n.Timer())).Plus(d.HashUntil(max(n.Start, d.first)))
	if n.Processes != nil {
		h = h.Plus(n.Processes.hash)
	}
	if n.Awake != 0 {
		h = h.Plus(hash.Of(d.sinceDue(n.Awake), d.sinceDue(n.Told), 13))
	}
	if n.Falls != nil {
		h = h.Plus(n.Falls.Onto(hash.Of(d.sinceDue(n.FallsAt), 0, 18)))
	}
	if n.Ready != ariadne.Never { // who waits for several is switched on after the last
		h = h.Plus(hash.Of(d.sinceDue(n.Ready), 0, 21))
	}
	if n.On != y.nodes[id].Start {
		if behind := d.sinceDue(n.On); behind != 0 { // something may yet arrive before that
			h = h.Plus(hash.Of(behind, 0, 12))
		}
	}
	return h
}

// HashUntil stands for when something happens that is not earlier than all that is due.
func (d *Due) HashUntil(t ariadne.Time) hash.Hash {
	if t == ariadne.Never || d.first == ariadne.Never {
		return hash.Of(0, 0, 5)
	}
	earlier, _ := slices.BinarySearch(d.marks, t)
	until, _ := slices.BinarySearch(d.marks, t+1)
	return hash.Of(d.span(t), uint64(earlier)<<32|uint64(until), 6)
}

// sinceDue stands for how far a clock is past all that is due.
func (d *Due) sinceDue(t ariadne.Time) uint64 {
	if t < d.first { // also when nothing is due
		return 0
	}
	earlier, _ := slices.BinarySearch(d.marks, t)
	return hash.Of(d.span(t), uint64(earlier), 7).Lo
}

// span is how much later than the first a time is, if that counts.
func (d *Due) span(t ariadne.Time) uint64 {
	if !d.times {
		return 0
	}
	return uint64(t - d.first)
}
