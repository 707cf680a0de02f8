package world

import "github.com/ariadne-mc/ariadne"

func init() {
	register(ariadne.ActFire, Kind{
		Name: "timer", Doc: "a timer that fires", Overtakes: true,
		Enabled: func(y *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Nodes {
				n := &s.Nodes[i]
				if n.Deadline > c.Horizon || n.Deadline >= c.Start {
					continue
				}
				if at := n.Timer(); at != ariadne.Never && y.mayHoldBack(s, at, false) {
					events = append(events, Event{})
					e := &events[len(events)-1] // as with deliveries
					e.At, e.Kind, e.Node = at, ariadne.ActFire, ariadne.NodeID(i)
				}
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			e.At = s.Nodes[e.Node].Timer()
			return e.At != ariadne.Never
		},
		Take: func(_ *System, s *State, e *Event) Input {
			s.delayUntil(e.At, false)
			return Input{Kind: ariadne.Fire, At: e.At}
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Delays, f.Timer = e.At, true
			f.StartSlack = -1 // a start at the same time comes first
			return f
		},
		Format: func(n Names, a ariadne.Action) string { return n.Node(a.Node) },
		Parse:  func(n Names, rest string) (ariadne.Action, error) { return n.ofNode(ariadne.ActFire, rest) },
	})
}
