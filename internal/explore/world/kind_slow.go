package world

import (
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Slow is the number of its kind.
const Slow ariadne.ActionKind = 26

// maxLate is how much later a message arrives, at most, however many parts of the network are slow: then
// no SYN-ACK takes longer than Linux waits for what it asks for, 63 seconds.
const maxLate = time.Minute

// A part of the network may be slow for a time: what is under way there and what is sent until that is over
// arrives so much later. That is no event, since it is told by when a message was sent. A
// connection keeps its order, so what is sent on it later may wait; a datagram overtakes.
//
// What carries nothing is as fast as ever, as where it goes first: acknowledgements and
// answers to probes. So keep-alive finds no silence; and no message is so late that its sender
// would have given up for want of an acknowledgement.
func init() {
	register(Slow, onNetwork(Slow, Kind{
		Name: "slow", Doc: "a part of the network that becomes slow", Fault: "Times at which a part of the network is slow",
		Enabled: func(y *System, s *State, _ Clock, events []Event) []Event { return y.parting(s, Slow, events) },
		Pending: func(y *System, s *State, e *Event) bool {
			e.At = y.now(s)
			return true
		},
		Take: func(y *System, s *State, e *Event) Input {
			p := e.Varied.partition
			for i := range s.Flight {
				if f := &s.Flight[i]; p.Blocks(f.From, f.To) && f.Flow.Proto != ariadne.Expiry {
					s.sum.Sub(f.hash())
					f.Arrival = max(y.late(s, f.Packet, f.Arrival, p.By), s.ahead(i))
					s.sum.Add(f.hash())
				}
			}
			s.Slow = s.stands(s.Slow, Standing{p, e.At, y.rules.endOf(e.At, p.For)})
			s.quicken()
			return Input{At: e.At, Varied: e.Varied}
		},
		Footprint: func(y *System, e *Event, f Footprint) Footprint {
			f.Present, f.Slack, f.Partition = true, unlimited, e.Varied.partition
			return f
		},
	}))
}

// ahead is when what is before a message in flight on its connection arrives, or 0.
func (s *State) ahead(i int) ariadne.Time {
	f := &s.Flight[i]
	for j := i - 1; j >= 0 && !f.Head; j-- {
		if g := &s.Flight[j]; g.To == f.To && g.SameFlow(f.Packet) {
			return g.Arrival
		}
	}
	return 0
}

// slowed is when a message arrives that was sent at time sent and would arrive at time t if no part of
// the network were slow.
func (y *System) slowed(s *State, p *Packet, sent, t ariadne.Time) ariadne.Time {
	by := time.Duration(0)
	for i := range s.Slow {
		if w := &s.Slow[i]; sent < w.Until && w.Blocks(p.From, p.To) {
			by += w.By
		}
	}
	if by == 0 {
		return t
	}
	return y.late(s, p, t, by)
}

// late is when a message arrives that is to be so much later than at time t.
func (y *System) late(s *State, p *Packet, t ariadne.Time, by time.Duration) ariadne.Time {
	by = min(by, max(0, maxLate-time.Duration(t-p.Sent)))
	last := y.givesUp(s.Nodes[p.From].Limits, p)
	if last != ariadne.Never {
		last = last.Add(-y.rules.Latency) - 1 // the acknowledgement comes before that
	}
	return max(t, min(t.Add(by), last))
}

// quicken forgets what is slow no more, whoever sends next.
func (s *State) quicken() {
	for i := 0; i < len(s.Slow); {
		w := s.Slow[i]
		stands := false
		for id := range s.Nodes {
			stands = stands || s.Nodes[id].Clock < w.Until && w.sends(ariadne.NodeID(id))
		}
		if stands {
			i++
			continue
		}
		s.Slow = s.ends(s.Slow, i)
	}
}

// SlowsBetween stands for between whom an event makes messages how late, with who takes each node's place; ok: it does.
func (e *Event) SlowsBetween(way []ariadne.NodeID) (h hash.Hash, ok bool) {
	if e.Kind != Slow {
		return h, false
	}
	p := e.Varied.partition
	for i, late := range p.blocks {
		if late {
			h.Add(hash.Of(uint64(way[i/p.nodes]), uint64(way[i%p.nodes]), uint64(p.By)))
		}
	}
	return h, true
}
