package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

func init() {
	register(Row{Name: "natural", Doc: "the natural schedule alone", Lives: true, Once: true,
		Make: func(*Builder) []Explorer { return []Explorer{&Natural{}} }})
}

// Natural is one path that takes what comes first in time: every message after its
// latency, every timer when it is due.
type Natural struct{ began bool }

// Begin implements Explorer.
func (n *Natural) Begin(*space.Path) (keep int, ok bool) {
	ok, n.began = !n.began, true
	return 0, ok
}

// Next implements Explorer.
func (*Natural) Next(*space.Path) (event int, ok bool) { return 0, true }

// End implements Explorer.
func (*Natural) End(*space.Path, End) error { return nil }
