package world

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Jump is the number of its kind.
const Jump ariadne.ActionKind = 20

// A node's real-time clock may be set at any time, between two of its steps and within one, as by a
// daemon or an administrator. Its other clocks go on, so nobody else can tell, and what was to take
// a time takes it. A wait for a time of that clock is due at once, or later than it was.
func init() {
	register(Jump, nodeFaultKind(Jump, "by", Kind{
		Name: ariadne.Jumped, Doc: "a real-time clock that is set",
		Fault: "Real-time clocks that are set, forward or back", Once: "a clock jump", Within: true,
		OnNodes: &OnNodes{
			Default:   []ariadne.NodeFault{ariadne.Jump{By: time.Hour}, ariadne.Jump{By: -30 * time.Second}},
			DocBy:     "By how much the clock is set, each as in +1h or -30s, at most 480h; default +1h and -30s.",
			DocWithin: "before the node sends something or changes a file",
			Parse: func(text string) (ariadne.NodeFault, error) {
				by, err := ParseJump(text)
				return ariadne.Jump{By: by}, err
			},
		},
	}))
}

// maxJump is how far a clock may be set at once, or be wrong from the beginning. Programs find it
// between 1970 and 2262 for as many jumps as a budget may have.
const maxJump = 20 * 24 * time.Hour

// ParseJump reads by how much a clock is set, or wrong.
func ParseJump(text string) (time.Duration, error) {
	by, err := ariadne.ParseJump(text)
	switch {
	case err != nil:
		err = fmt.Errorf("%q is no offset: a sign and a time are needed, as in +1h or -30s", text)
	case by > maxJump || by < -maxJump:
		err = fmt.Errorf("%s is more than %v", text, maxJump)
	}
	return by, err
}

// Jumps are the faults that set nodes' real-time clocks, by one of these times each.
func Jumps(nodes []ariadne.NodeID, by ...time.Duration) NodeFaults {
	f := NodeFaults{Nodes: nodes}
	for _, jump := range by {
		f.Faults = append(f.Faults, ariadne.Jump{By: jump})
	}
	return f
}
