//go:build linux

package node

import (
	"github.com/ariadne-mc/ariadne"
)

// quiet says until when only housekeeping of its programs happens in a node.
type quiet struct {
	calm  ariadne.Time // Output.Calm of the last step
	house ariadne.Time // how long after its beginning that is
}

// until is Output.Calm of the last step.
func (q *quiet) until() ariadne.Time { return q.calm }

// calmDown finds out Output.Calm of the step that ends. Timers that housekeeping has
// set, and of which nothing has come yet, are taken for housekeeping until the end of
// its time: a collection of Go's sets some.
func (n *Node) calmDown(fired bool) {
	k := n.k
	house := k.Housekeeping()
	undisturbed := n.calm != 0 && fired && len(k.Out)+len(k.Logs)+len(k.Exposures)+len(k.Notices)+len(k.Exits) == 0
	switch {
	case n.step.polls() || house == 0 && !(undisturbed && k.Now < n.calm):
		n.calm = 0
	case undisturbed && house <= n.house:
		// As it was.
	default:
		n.quiet = quiet{calm: k.Now + house, house: house}
	}
}
