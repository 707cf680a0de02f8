package world

import (
	"cmp"
	"slices"

	"ariadne"
)

// event is an enabled action with what applying it needs.
type event struct {
	at     ariadne.Time
	action ariadne.Action
	flight int // index in State.Flight, of a delivery
}

// Enabled returns what may happen next, in order of time; at the same time
// starts before deliveries before timers, then by node, then by flow. The first
// one is the natural one. Empty: nothing will ever happen again.
func (w *World) Enabled() []ariadne.Action {
	actions := make([]ariadne.Action, 0, len(w.enabled()))
	for _, e := range w.enabled() {
		actions = append(actions, e.action)
	}
	return actions
}

// Next is the time of the natural action, or Never.
func (w *World) Next() ariadne.Time {
	if e := w.enabled(); len(e) > 0 {
		return e[0].at
	}
	return ariadne.Never
}

func (w *World) find(a ariadne.Action) (event, bool) {
	for _, e := range w.enabled() {
		if e.action == a {
			return e, true
		}
	}
	return event{}, false
}

func (w *World) enabled() []event {
	if w.events != nil {
		return w.events
	}
	first := w.firstDeadline()
	events := w.starts(first)
	horizon := first.Add(w.rules.ClockError)
	on := w.nextStart()
	for i := range w.state.Nodes {
		at := w.deadline(i)
		if at != ariadne.Never && at <= horizon && at < on && w.delayCost(at) <= w.state.Delays {
			events = append(events, event{at: at, action: ariadne.Action{Kind: ariadne.ActFire, Node: ariadne.NodeID(i)}})
		}
	}
	for i, f := range w.state.Flight {
		if f.Head && f.Arrival <= horizon && w.state.Nodes[f.To].Started {
			a := ariadne.Action{Kind: ariadne.ActDeliver, Node: f.To, Flow: f.Flow, Seq: f.Seq}
			events = append(events, event{at: f.Arrival, action: a, flight: i})
		}
	}
	slices.SortFunc(events, compareEvents)
	w.events = events
	return events
}

// starts are the nodes to be switched on before the first deadline. Messages
// need not wait for them: nothing but its own messages depends on a start.
func (w *World) starts(before ariadne.Time) []event {
	events := []event{}
	for i, n := range w.nodes {
		if !w.state.Nodes[i].Started && n.Start <= before {
			events = append(events, event{at: n.Start, action: ariadne.Action{Kind: ariadne.ActStart, Node: ariadne.NodeID(i)}})
		}
	}
	return events
}

// nextStart is the time of the next start, or Never.
func (w *World) nextStart() ariadne.Time {
	t := ariadne.Never
	for i, n := range w.nodes {
		if !w.state.Nodes[i].Started {
			t = min(t, n.Start)
		}
	}
	return t
}

// deadline is node i's earliest timer that counts, or Never.
func (w *World) deadline(i int) ariadne.Time {
	n := &w.state.Nodes[i]
	if !n.Started || n.Done {
		return ariadne.Never
	}
	return n.Deadline
}

func (w *World) firstDeadline() ariadne.Time {
	t := ariadne.Never
	for i := range w.state.Nodes {
		t = min(t, w.deadline(i))
	}
	return t
}

func compareEvents(a, b event) int {
	return cmp.Or(
		cmp.Compare(a.at, b.at),
		cmp.Compare(a.action.Kind, b.action.Kind),
		cmp.Compare(a.action.Node, b.action.Node),
		compareFlows(a.action.Flow, b.action.Flow),
		cmp.Compare(a.action.Seq, b.action.Seq),
	)
}

func compareFlows(a, b ariadne.Flow) int {
	return cmp.Or(
		cmp.Compare(a.Proto, b.Proto),
		a.Src.Compare(b.Src),
		a.Dst.Compare(b.Dst),
		cmp.Compare(a.Epoch, b.Epoch),
	)
}
