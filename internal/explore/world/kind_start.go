package world

import "github.com/ariadne-mc/ariadne"

func init() {
	register(ariadne.ActStart, Kind{
		Name: "start", Doc: "switching a node on, the first time or again", Starts: true, Ends: true,
		Enabled: func(y *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Nodes {
				// Messages need not wait for a start: nothing but its own messages depends
				// on it. Another start does, as it would for a timer.
				if start := s.Nodes[i].Start; start != ariadne.Never && start <= c.First &&
					start <= c.Start.Add(y.rules.ClockError) &&
					(!s.Nodes[i].Down.Off() || !y.expiresBefore(s, start, ariadne.NodeID(i))) {
					events = append(events, Event{At: start, Kind: ariadne.ActStart, Node: ariadne.NodeID(i)})
				}
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			e.At = s.Nodes[e.Node].Start
			return e.At != ariadne.Never
		},
		Take: func(_ *System, s *State, e *Event) Input {
			n := &s.Nodes[e.Node]
			n.Started, n.Start, n.Down = true, ariadne.Never, ariadne.Up
			return Input{Kind: ariadne.Start, At: e.At}
		},
		Footprint: func(y *System, e *Event, f Footprint) Footprint {
			f.Start, f.Slack, f.StartSlack = e.At, 0, y.rules.ClockError
			return f
		},
		Format: func(n Names, a ariadne.Action) string { return n.Node(a.Node) },
		Parse:  func(n Names, rest string) (ariadne.Action, error) { return n.ofNode(ariadne.ActStart, rest) },
	})
}
