package strategy

import (
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// tree holds the prefixes of paths that are to be explored later, eight bytes each.
// Place 0 is the path without steps.
type tree struct{ nodes []treeNode }

type treeNode struct{ parent, event int32 }

// treeBytes is about what a prefix takes in a tree, which is moved when it grows.
const treeBytes = 2 * 8

// add returns the place of the prefix that goes on from another by an event.
func (t *tree) add(parent, event int32) int32 {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, treeNode{-1, 0})
	}
	t.nodes = append(t.nodes, treeNode{parent, event})
	return int32(len(t.nodes) - 1)
}

// events appends the events of a prefix to the given ones.
func (t *tree) events(place int32, to []int32) []int32 {
	begin := len(to)
	for place > 0 {
		to = append(to, t.nodes[place].event)
		place = t.nodes[place].parent
	}
	for i, j := begin, len(to)-1; i < j; i, j = i+1, j-1 {
		to[i], to[j] = to[j], to[i]
	}
	return to
}

// follow leads a path along a prefix: of each step the index of its event in Enabled, or its
// mark.
type follow struct {
	prefix []int32
	marks  *marks // nil: none is needed yet
}

// begin is how much of the path can stay as it is.
func (f *follow) begin(p *space.Path) (keep int) {
	for keep < len(f.prefix) && keep < p.Len() && f.marks.of(p.Frame(keep), p.Frame(keep).Taken) == f.prefix[keep] {
		keep++
	}
	return keep
}

// next is the next event of the prefix; not ok when it is at its end.
func (f *follow) next(p *space.Path) (event int, ok bool) {
	if n := p.Len(); n < len(f.prefix) {
		return f.marks.find(p, f.prefix[n]), true
	}
	return 0, false
}

// taken are the first n events of a path.
func (f *follow) taken(p *space.Path, n int) []int32 {
	events := make([]int32, n)
	for i := range events {
		events[i] = f.marks.of(p.Frame(i), p.Frame(i).Taken)
	}
	return events
}

// marks are negative numbers for events that a frame's Enabled does not have when a path first
// comes there (space.Frame.Initial). Workers that share prefixes share them.
type marks struct {
	mu     sync.Mutex
	all    []mark
	number map[mark]int32
}

// mark is an event by the undisturbed one of the frame and the variation of it. With seldom the
// fault of that has another length than it has in any event of the frame (world.Rules.Seldom).
// With late it happens so much later than that one, by no time that the frame has.
type mark struct {
	plain  int
	late   ariadne.Time
	vary   ariadne.Variation
	seldom bool
	fault  ariadne.NodeFault
}

// of is the index of an event of a frame, or its mark.
func (m *marks) of(f *space.Frame, i int) int32 {
	if i < f.Initial {
		return int32(i)
	}
	e := &f.Enabled[i]
	k := mark{vary: e.Varied.Variation()}
	for k.plain < f.Initial && !f.Enabled[k.plain].SameInput(e) {
		k.plain++
	}
	if k.plain == f.Initial && e.Kind == world.Late {
		k.plain = f.OnTime(e)
		k.late = e.At - f.Enabled[k.plain].At
	} else if k.plain == f.Initial {
		plain, _ := e.VariedAs("")
		k.plain, k.seldom, k.fault = plain.IndexOfLength(f.Enabled[:f.Initial]), true, e.Varied.Fault()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.number[k]
	if !ok {
		m.all = append(m.all, k)
		n = -int32(len(m.all))
		m.number[k] = n
	}
	return n
}

// find is where the event of an index or a mark is in the last frame of a path.
func (m *marks) find(p *space.Path, n int32) int {
	if n >= 0 {
		return int(n)
	}
	e, err := m.event(p.System(), p.Last(), n)
	i, ok := p.Find(&e)
	if err != nil || !ok && p.Err() == nil {
		panic("a path cannot be taken again")
	}
	return i
}

// event is the one of a mark in a frame of a system.
func (m *marks) event(y *world.System, f *space.Frame, n int32) (world.Event, error) {
	m.mu.Lock()
	k := m.all[-n-1]
	m.mu.Unlock()
	e := f.Enabled[k.plain]
	if k.late > 0 {
		e, _ = y.Later(&f.State.State, &e, e.At+k.late)
	}
	if k.seldom {
		e = e.WithLength(ariadne.OutageOf(k.fault).For)
	}
	return e.VariedAs(k.vary)
}

func newMarks() *marks { return &marks{number: map[mark]int32{}} }
