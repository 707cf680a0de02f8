package world

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Slow is the number of its kind.
const Slow ariadne.ActionKind = 26

// maxLate is how much later a message arrives, at most, however many parts of the network are slow:
// then no SYN-ACK takes longer than Linux waits for what it asks for, 63 seconds.
const maxLate = time.Minute

// A part of the network may be slow for a time: what is under way there and what is sent until that
// is over arrives so much later.
//
// Segments without data (acknowledgements and answers to probes) are as fast as ever, as where they
// go first. So keep-alive finds no silence.
func init() {
	register(Slow, slowKind(Slow, Kind{
		Name: "slow", Doc: "a part of the network that becomes slow",
		Fault: "Times at which a part of the network is slow", Once: "a slow network",
		Network: &Network{
			Groups:     EachAlone,
			DocGroups:  "Lists of names of nodes, as in [[n1], [n1, n2]]: messages between them and all other nodes but clients are slow. Default each node alone.",
			DocLinks:   "Pairs of names of nodes, as in [[n1, n2]]: messages between these two are slow.",
			DocFor:     "How long, each as in 500ms or 15s, or ever. Messages that are sent up to the next full second of virtual time after that are late. Default 15s.",
			DocOneWay:  "Also in one direction alone; default false.",
			DocClients: "Messages between the groups and clients are slow, too; default false.",
			Nowhere:    "nothing goes between nodes; what goes to clients is slow only if clients: true is given",
			Amount: &Amount{
				Doc: "How much later messages arrive than otherwise, each as in 500ms or 2s, at most 60s; default 2s.",
				// later than most systems let pass without a word of a peer
				Default: []int64{int64(2 * time.Second)},
				Parse: func(text string) (int64, error) {
					by, err := time.ParseDuration(text)
					switch {
					case err != nil || by <= 0:
						return 0, fmt.Errorf("%q is no length of time, as in 2s", text)
					case by > maxLate:
						return 0, fmt.Errorf("%s is more than %v", text, maxLate)
					}
					return int64(by), nil
				},
				Format: func(by int64) string { return time.Duration(by).String() },
				Late:   func(_ *Packet, by int64) time.Duration { return time.Duration(by) },
			},
		},
	}))
}

// arrivalAhead is when what is before a message in flight on its connection arrives, or 0.
func (s *State) arrivalAhead(i int) ariadne.Time {
	f := &s.Flight[i]
	for j := i - 1; j >= 0 && !f.Head; j-- {
		if g := &s.Flight[j]; g.To == f.To && g.SameFlow(f.Packet) {
			return g.Arrival
		}
	}
	return 0
}

// slowedArrival is when a message arrives that was sent at time sent and would arrive at time t if
// no part of the network were slow.
func (y *System) slowedArrival(s *State, p *Packet, sent, t ariadne.Time) ariadne.Time {
	by := time.Duration(0)
	for i := range s.Slow {
		if w := &s.Slow[i]; sent < w.Until && w.Blocks(p.From, p.To) {
			by += w.lateness(p)
		}
	}
	if by == 0 {
		return t
	}
	return y.laterArrival(s, p, t, by)
}

// laterArrival is when a message arrives that is to be so much later than at time t.
func (y *System) laterArrival(s *State, p *Packet, t ariadne.Time, by time.Duration) ariadne.Time {
	by = min(by, max(0, maxLate-time.Duration(t-p.Sent)))
	last := y.givesUp(s.Nodes[p.From].Limits, p)
	if last != ariadne.Never {
		last = last.Add(-y.rules.Latency) - 1 // the acknowledgement comes before that
	}
	return max(t, min(t.Add(by), last))
}

// dropPastSlowness forgets what is slow no more, whoever sends next.
func (s *State) dropPastSlowness() {
	for i := 0; i < len(s.Slow); {
		w := s.Slow[i]
		stands := false
		for id := range s.Nodes {
			stands = stands || s.Nodes[id].Clock < w.Until && w.isAbout(ariadne.NodeID(id))
		}
		if stands {
			i++
			continue
		}
		s.Slow = s.removeStanding(s.Slow, i)
	}
}
