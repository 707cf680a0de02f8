package world

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// Drift is the number of its kind.
const Drift ariadne.ActionKind = 30

// A node's clocks may run faster or slower from any moment on, all of them and its timers with
// them, as where an oscillator gets warm or a daemon slews the clock. No clock runs backwards, and
// none is set. How far the clocks of two nodes part is bounded by who describes the system
// (Rules.ClockError is what that leaves). Where its timers stand the node itself says.
func init() {
	register(Drift, nodeFaultKind(Drift, "by", Kind{
		Name: ariadne.Drifted, Doc: "clocks that run faster or slower from then on",
		Fault: "Times from which a node's clocks run faster or slower", Once: "a clock drift",
		OnNodes: &OnNodes{
			// more than quartz is off, and less than Linux slews a clock by (500)
			Default: []ariadne.NodeFault{ariadne.Drift{By: 100}, ariadne.Drift{By: -100}},
			DocBy:   "By how much the clocks run faster or slower, in parts per million, each as in +100ppm or -50ppm; default +100ppm and -100ppm. Over limits.time clocks may differ by no more than clock_error.",
			Parse: func(text string) (ariadne.NodeFault, error) {
				by, err := ariadne.ParseDrift(text)
				if err == nil && max(by, -by) > MaxDrift {
					err = fmt.Errorf("%s is more than %dppm", text, MaxDrift)
				}
				return ariadne.Drift{By: by}, err
			},
		},
	}))
}

// MaxDrift is how fast or slow a clock may run, in parts per million. Linux takes one for a broken
// one beyond half of it (adjtimex(2)), and quartz is off by less than a tenth.
const MaxDrift = 1000

// Drifts are the faults by which the clocks of nodes run faster, by one of these numbers of parts
// per million each, or slower.
func Drifts(nodes []ariadne.NodeID, by ...int) NodeFaults {
	f := NodeFaults{Nodes: nodes}
	for _, ppm := range by {
		f.Faults = append(f.Faults, ariadne.Drift{By: ppm})
	}
	return f
}
