package strategy

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// frontier is for searches that have an order: prefixes of paths that are to be
// explored, of which those with the least priority come first, and of these those
// that were entered first.
type frontier struct {
	crew
	tree  tree
	queue queue
	most  int            // prefixes in the tree
	full  bool           // something was left out
	turns map[uint64]int // calls of turn, by site
}

// newFrontier returns that of a search by so many workers, with the path without
// steps in it. It takes about so much memory at most; 0: no bound.
func newFrontier(workers int, q queue, bytes int64) *frontier {
	f := &frontier{queue: q, most: math.MaxInt32}
	if bytes > 0 {
		f.most = int(min(bytes/(treeBytes+q.bytes()), math.MaxInt32))
	}
	q.put(0, 0)
	f.begin(workers)
	return f
}

// take appends to batch some prefixes that are to be explored now, at least one.
func (f *frontier) take(batch []int32) (_ []int32, priority float64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.await(func() bool { return f.queue.first() != nowhere }) {
		return nil, 0, false
	}
	priority = f.queue.priority()
	return f.queue.take(batch, f.workers), priority, true
}

// add enters the prefixes that go on from another by the events from first to
// before.
func (f *frontier) add(priority float64, parent int32, first, before int) {
	if first >= before {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := first; i < before; i++ {
		f.enter(priority, parent, int32(i))
	}
	f.wakeWaiting()
}

// addOne enters a prefix likewise, of which the event has a mark.
func (f *frontier) addOne(priority float64, parent, event int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.enter(priority, parent, event)
	f.wakeWaiting()
}

// turn counts how often it was called before for a site.
func (f *frontier) turn(site uint64) (before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known := f.turns[site]
	if !known && len(f.turns) >= maxSites {
		return math.MaxInt32
	}
	if f.turns == nil {
		f.turns = map[uint64]int{}
	}
	f.turns[site]++
	return before
}

// choose enters the prefixes that go on from another by the events of choices. When
// one of them is what comes next of all, it is taken.
func (f *frontier) choose(parent int32, choices []Choice) (place int32, event int, priority float64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range choices {
		f.enter(c.Priority, parent, int32(c.Event))
	}
	if place = f.queue.first(); place != nowhere && f.tree.nodes[place].parent == parent &&
		f.tree.nodes[place].event >= 0 {
		priority = f.queue.priority()
		f.queue.take(nil, 1)
		event, ok = int(f.tree.nodes[place].event), true
	}
	f.wakeWaiting()
	return place, event, priority, ok
}

// enter enters a prefix, if there is room. mu is held.
func (f *frontier) enter(priority float64, parent, event int32) {
	if place := f.child(parent, event); place != nowhere {
		f.queue.put(place, priority)
	}
}

// wakeWaiting wakes the workers that wait for a beginning. mu is held.
func (f *frontier) wakeWaiting() {
	if f.waiting > 0 {
		f.some.Broadcast()
	}
}

// ancestor is the place of the prefix without its last n events.
func (f *frontier) ancestor(place int32, n int) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ; n > 0 && place != nowhere; n-- {
		place = f.tree.nodes[place].parent
	}
	return place
}

// own returns the place of a prefix that nobody else is to take.
func (f *frontier) own(parent, event int32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.child(parent, event)
}

// child enters a prefix into the tree, if there is room. mu is held.
func (f *frontier) child(parent, event int32) int32 {
	if parent == nowhere || len(f.tree.nodes) >= f.most {
		f.full = true
		return nowhere
	}
	return f.tree.add(parent, event)
}

// nowhere is the place of a prefix for which there was no room.
const nowhere = -1

// events appends the events of a prefix to the given ones.
func (f *frontier) events(place int32, to []int32) []int32 {
	f.mu.Lock()
	t := f.tree // what is in it does not change
	f.mu.Unlock()
	return t.events(place, to)
}

// missed says what nobody did.
func (f *frontier) missed() string {
	f.mu.Lock()
	full := f.full
	f.mu.Unlock()
	if full {
		return "the memory for paths still to be tried was full"
	}
	return f.crew.missed()
}

// frontal is an explorer that takes prefixes from a frontier.
type frontal struct {
	frontier *frontier
	batch    []int32 // prefixes to try
	now      int32   // the one that is being tried
	priority float64 // with which it was entered
	asked    int     // steps of the path whose choices are in the frontier
	follow
}

// divided are n explorers that share a frontier.
func divided(n int, f *frontier, each func(frontal) Explorer) []Explorer {
	var all []Explorer
	m := newMarks()
	for range n {
		all = append(all, each(frontal{frontier: f, follow: follow{marks: m}}))
	}
	return all
}

// alone is that of who works alone.
func alone(f *frontier) frontal { return frontal{frontier: f, follow: follow{marks: newMarks()}} }

// begin begins the next path.
func (f *frontal) begin(p *space.Path) (keep int, ok bool) {
	if len(f.batch) == 0 {
		if f.batch, f.priority, ok = f.frontier.take(f.batch[:0]); !ok {
			return 0, false
		}
	}
	f.now, f.batch = f.batch[0], f.batch[1:]
	f.prefix = f.frontier.events(f.now, f.prefix[:0])
	f.asked = max(len(f.prefix)-1, 0) // all but its last step were taken before
	return f.follow.begin(p), true
}

// branch enters what the steps that nobody has taken before can be varied to by one more choice.
func (f *frontal) branch(p *space.Path, priority func(depth, event int) float64) {
	for ; f.asked < p.Len(); f.asked++ {
		from, to := p.StepVariations(f.asked)
		if from == to {
			continue
		}
		parent := f.frontier.ancestor(f.now, len(f.prefix)-f.asked)
		for i := from; i < to; i++ {
			f.frontier.addOne(priority(f.asked, i), parent, f.marks.of(p.Frame(f.asked), i))
		}
	}
}

// Leave implements Leaver.
func (f *frontal) Leave() {
	if f.frontier != nil {
		f.frontier.leave()
	}
}

// Missed implements Exhaustive.
func (f *frontal) Missed() string { return f.frontier.missed() }
