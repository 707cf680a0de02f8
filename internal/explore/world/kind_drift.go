package world

import "github.com/ariadne-mc/ariadne"

// Drift is the number of its kind.
const Drift ariadne.ActionKind = 30

// A node's clocks may run faster or slower from any moment on, all of them and its timers with them, as where an
// oscillator gets warm or a daemon slews the clock. No clock runs backwards, and none is set. How far the clocks of two
// nodes part is bounded by who describes the system (Rules.ClockError is what that leaves). Where its timers stand the node
// itself says.
func init() {
	register(Drift, onNodes(Drift, "by", Kind{Name: ariadne.Drifted, Doc: "clocks that run faster or slower from then on", Fault: "Times from which a node's clocks run faster or slower"}))
}

// Drifts are the faults by which the clocks of nodes run faster, by one of these numbers of parts per million
// each, or slower.
func Drifts(nodes []ariadne.NodeID, by ...int) NodeFaults {
	f := NodeFaults{Nodes: nodes}
	for _, ppm := range by {
		f.Faults = append(f.Faults, ariadne.Drift{By: ppm})
	}
	return f
}
