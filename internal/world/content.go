package world

import (
	"slices"

	"ariadne"
)

// Content stands for a global state by what there is in it, as Hash and Digest do by what
// led to it: two histories that have come to the same content have the same one. locals
// stand for the nodes' local states, however those are told apart.
//
// What is due before what counts; and with times, how much time lies between, from the
// earliest at which anything is due. Of a clock it counts only how far it is past that: one
// that is behind gets there before anything else happens to its node. Messages of
// a flow are told apart by their order, not by their numbers, which grow for ever, nor by
// when they were sent.
//
// Not in it: how late it is, and after how many steps.
func (y *System) Content(s *State, locals []Hash, times bool) Hash {
	d := y.due(s, times)
	h := s.Budget()
	if s.Partition != nil {
		h = h.Plus(HashOf(uint64(s.Partition.number), 0, 11)).Plus(d.until(s.Heal))
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		flags := uint64(i) << 3
		if n.Spared {
			flags |= 1 << 63
		}
		flags |= uint64(n.Down) << 60
		for bit, is := range [...]bool{n.Started, n.Done, n.Ended} {
			if is {
				flags |= 1 << bit
			}
		}
		h.add(n.Said.hash(ariadne.NodeID(i)))
		if n.Awake != 0 {
			h = h.Plus(HashOf(uint64(i), d.since(n.Awake), 13))
		}
		calm := uint64(0)
		if n.Calm != 0 {
			calm = 1 | d.since(n.Calm)<<1
		}
		if n.On != y.nodes[i].Start {
			if behind := d.since(n.On); behind != 0 { // something may yet arrive before that
				h = h.Plus(HashOf(uint64(i), behind, 12))
			}
		}
		timer, start := d.until(n.Timer()), d.until(max(n.Start, d.first))
		h.add(locals[i].Plus(HashOf(flags, d.since(n.Clock), calm)).Plus(timer).Plus(start))
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
		h.add(f.said.Plus(HashOf(place, 0, 4)).Plus(d.until(f.Arrival)))
	}
	return h
}

// due is the time as a state's content has it.
type due struct {
	first ariadne.Time // the earliest at which anything is due, or Never
	times bool
	// marks are the times by which the rules decide what is possible: the nodes' deadlines,
	// the end of the time within which timers may fire, and the starts to come; in order.
	marks []ariadne.Time
}

func (y *System) due(s *State, times bool) due {
	c := y.clock(s)
	d := due{first: min(c.First, c.Start), times: times, marks: []ariadne.Time{c.Horizon}}
	for i := range s.Flight {
		d.first = min(d.first, s.Flight[i].Arrival)
	}
	for i := range s.Nodes {
		d.marks = append(d.marks, s.Nodes[i].Timer())
		if start := s.Nodes[i].Start; start != ariadne.Never {
			d.marks = append(d.marks, start)
		}
	}
	if s.Heal != ariadne.Never {
		d.marks = append(d.marks, s.Heal)
	}
	slices.Sort(d.marks)
	return d
}

// until stands for when something happens that is not earlier than all that is due.
func (d *due) until(t ariadne.Time) Hash {
	if t == ariadne.Never || d.first == ariadne.Never {
		return HashOf(0, 0, 5)
	}
	earlier, _ := slices.BinarySearch(d.marks, t)
	until, _ := slices.BinarySearch(d.marks, t+1)
	return HashOf(d.span(t), uint64(earlier)<<32|uint64(until), 6)
}

// since stands for how far a clock is past all that is due.
func (d *due) since(t ariadne.Time) uint64 {
	if t < d.first { // also when nothing is due
		return 0
	}
	earlier, _ := slices.BinarySearch(d.marks, t)
	return HashOf(d.span(t), uint64(earlier), 7).Lo
}

// span is how much later than the first a time is, if that counts.
func (d *due) span(t ariadne.Time) uint64 {
	if !d.times {
		return 0
	}
	return uint64(t - d.first)
}
