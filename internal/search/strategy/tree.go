package strategy

import "ariadne/internal/space"

// tree holds the prefixes of paths that are to be explored later, eight bytes each.
// Place 0 is the path without steps.
type tree struct{ nodes []treeNode }

type treeNode struct{ parent, event int32 }

// treeBytes is about what a prefix takes in a tree, which is moved when it grows.
const treeBytes = 2 * 8

// add returns the place of the prefix that goes on from another by an event.
func (t *tree) add(parent int32, event int) int32 {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, treeNode{-1, 0})
	}
	t.nodes = append(t.nodes, treeNode{parent, int32(event)})
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

// follow leads a path along a prefix.
type follow struct{ prefix []int32 }

// begin is how much of the path can stay as it is.
func (f *follow) begin(p *space.Path) (keep int) {
	for keep < len(f.prefix) && keep < p.Len() && p.Frame(keep).Taken == int(f.prefix[keep]) {
		keep++
	}
	return keep
}

// next is the next event of the prefix; not ok when it is at its end.
func (f *follow) next(p *space.Path) (event int, ok bool) {
	if n := p.Len(); n < len(f.prefix) {
		return int(f.prefix[n]), true
	}
	return 0, false
}

// taken are the first n events of a path.
func taken(p *space.Path, n int) []int32 {
	events := make([]int32, n)
	for i := range events {
		events[i] = int32(p.Frame(i).Taken)
	}
	return events
}
