package world

import (
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Jump is the number of its kind.
const Jump ariadne.ActionKind = 20

// A node's real-time clock may be set at any time, between two of its steps and within one, as by a daemon or an
// administrator. Its other clocks go on, so nobody else can tell, and what was to take a time takes
// it. What waits for a time of that clock is due at once, or later than it was.
func init() {
	register(Jump, onNodes(Jump, "by", Kind{Name: ariadne.Jumped, Doc: "a real-time clock that is set", Fault: "Real-time clocks that are set, forward or back", Within: true}))
}

// Jumps are the faults that set nodes' real-time clocks, by one of these times each.
func Jumps(nodes []ariadne.NodeID, by ...time.Duration) NodeFaults {
	f := NodeFaults{Nodes: nodes}
	for _, jump := range by {
		f.Faults = append(f.Faults, ariadne.Jump{By: jump})
	}
	return f
}
