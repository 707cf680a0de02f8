package strategy

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// patience is how late the messages of a random path may be. The daily behaviour of a network comes
// first: on the first paths no message is late by a second, and later on every other one. Without
// that, most of what is found needs a message that is later than the longest timeout around.
type patience struct{ most ariadne.Time }

const (
	hastyPaths = 64 // the first paths, of each explorer
	hasty      = ariadne.Time(1e9)
)

// begin begins a path.
func (h *patience) begin(seed uint64, index int) { h.beginOneIn(2, seed, index) }

// beginOneIn begins a path of which, behind the first ones, one in so many has no message late by a
// second.
func (h *patience) beginOneIn(n int, seed uint64, index int) {
	h.most = hasty
	if index >= hastyPaths {
		if d := newDraw(seed^0x6c61_7465, index); d.below(n) > 0 {
			h.most = ariadne.Never
		}
	}
}

// limit returns an undisturbed event of a frame, or the natural one when it would have a message be
// too late.
func (h *patience) limit(f *space.Frame, event int) int {
	if event > 0 && h.most < ariadne.Never && f.State.Lateness(&f.Enabled[event]) > h.most {
		return 0
	}
	return event
}
