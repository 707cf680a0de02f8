package live

import (
	"cmp"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// event is a change of what a property reads, at one node.
type event struct {
	*Record
	place uint64 // of the node's events, from 1
	stamp Stamp
	// got is a lower bound of the node's positions when the event happened, and sent an upper one;
	// nil: none is known.
	got, sent *Positions
	away      bool         // with Down: not the node, but its agent is known to be gone
	next      ariadne.Time // At of the node's next event, or ariadne.Never

	stage   stage
	came    uint64   // its place among the events of all nodes as they came, from 1
	senders *senders // it is one of them as long as it waits; or nil
	// divided is how many events had come when all that waited were known to be after this one
	divided uint64
}

// stage says where an order has an event.
type stage uint8

const (
	over   stage = iota // nowhere
	waits               // it is to be judged
	recent              // it was judged, and may have happened at the time of those that wait
)

// order has the events that wait to be judged, and recent ones, and says what is known of their
// order. Events of a node are in the order of their numbers, if they are of one channel or none.
// Otherwise, and at different nodes, one is before another one if it was over, by the clocks, when
// the other one could begin. It also is if the other one's node had then read more of a stream than
// its own node had sent when it was over (heard).
//
// A question costs about as much whether few events wait or many: after a pause, all that has come
// meanwhile waits.
type order struct {
	// clockError is by how much clocks of two agents differ at most.
	clockError ariadne.Time
	waiting    int
	byAt       heap[*event] // that wait, and some that do no longer
	lanes      [][]*lane    // of each node, by class
	came       uint64       // events
	senders    []senderIndex
	sent       uint64     // how often senders have changed
	deaf       []deafness // of each node
	path       []*event
}

// deafness are positions of a node by which it had read nothing that was sent after an event that
// waited, when senders had changed so often.
type deafness struct {
	got  *Positions
	sent uint64
}

// lane has the events of one class of a node. They are in the order of their places.
type lane struct {
	waiting []*event     // that wait, and behind the first one some that do no longer
	byAfter heap[*event] // likewise
	recent  heap[*event] // the least At first
	latest  *event       // of recent, by At; or nil
	last    uint64       // the greatest place of recent, or of what was forgotten since settle
	stale   bool         // last is of what was forgotten
}

// The classes of a node's events. Those of each channel follow.
const (
	classOther = iota
	classLost
	classShow
)

func classOf(r *Record) int {
	switch r.Kind {
	case Show:
		return classShow + int(r.Channel)
	case Lost:
		return classLost
	}
	return classOther
}

// ordered reports whether events of two classes of a node are in the order of their places.
func ordered(a, b int) bool { return a == b || a < classShow || b < classShow }

func newOrder(nodes int, clockError ariadne.Time) order {
	o := order{clockError: clockError, byAt: heap[*event]{less: earlier}, lanes: make([][]*lane, nodes),
		senders: make([]senderIndex, nodes), deaf: make([]deafness, nodes)}
	for i := range o.senders {
		o.senders[i].streams = map[sentStream]*sentHeap{}
	}
	return o
}

// lane is that of an event.
func (o *order) lane(e *event) *lane {
	of, class := &o.lanes[e.Node], classOf(e.Record)
	for len(*of) <= class {
		*of = append(*of, &lane{byAfter: heap[*event]{less: func(a, b *event) bool { return a.After < b.After }},
			recent: heap[*event]{less: func(a, b *event) bool { return a.At < b.At }}})
	}
	return (*of)[class]
}

// add enters an event that waits.
func (o *order) add(e *event) {
	o.waiting++
	o.came++
	e.stage, e.came = waits, o.came
	l := o.lane(e)
	l.waiting = append(l.waiting, e)
	l.byAfter.push(e)
	o.byAt.push(e)
	if e.sent != nil {
		o.sent++
		o.senders[e.Node].add(e)
	}
}

// know notes what a node had sent when events were over.
func (o *order) know(all []*event, sent *Positions) {
	for _, e := range all {
		if e.sent = sent; e.stage == waits {
			o.sent++
			o.senders[e.Node].add(e)
		}
	}
}

// take removes an event that waits.
func (o *order) take(e *event) {
	o.waiting--
	e.stage = over
	if e.senders != nil {
		o.senders[e.Node].take(e.senders)
		e.senders = nil
	}
}

// keep enters an event that was judged.
func (o *order) keep(e *event) {
	e.stage = recent
	l := o.lane(e)
	l.recent.push(e)
	if l.latest == nil || e.At >= l.latest.At {
		l.latest = e
	}
	if e.place >= l.last {
		l.last, l.stale = e.place, false
	}
}

// forget drops recent events that were over before a time, at which those that wait can begin
// first. Those to come must not begin before it: until settle the places of what was dropped count.
func (o *order) forget(begin ariadne.Time) {
	for _, of := range o.lanes {
		for _, l := range of {
			for l.latest != nil && l.recent.all[0].At+o.clockError < begin {
				e := l.recent.all[0]
				l.recent.pop()
				e.stage = over
				l.stale = l.stale || e.place == l.last
				if len(l.recent.all) == 0 {
					l.latest = nil
				}
			}
		}
	}
}

// settle ends that the places of what was forgotten count.
func (o *order) settle() {
	for _, of := range o.lanes {
		for _, l := range of {
			if !l.stale {
				continue
			}
			l.last, l.stale = 0, false
			for _, e := range l.recent.all {
				l.last = max(l.last, e.place)
			}
		}
	}
}

// first returns the first event of a lane that waits, or nil.
func (l *lane) first() *event {
	for len(l.waiting) > 0 {
		if e := l.waiting[0]; e.stage == waits {
			return e
		}
		l.waiting = l.waiting[1:]
	}
	return nil
}

// least returns the event of a lane that waits and can begin first, or nil.
func (l *lane) least() *event {
	l.byAfter.drop((*event).isDone)
	if len(l.byAfter.all) == 0 {
		return nil
	}
	return l.byAfter.all[0]
}

func (e *event) isDone() bool { return e.stage != waits }

// least returns the event of a node that waits and can begin first, or nil.
func (o *order) least(node int) (least *event) {
	for _, l := range o.lanes[node] {
		if e := l.least(); e != nil && (least == nil || e.After < least.After) {
			least = e
		}
	}
	return least
}

// latest returns the recent event of a node that was over last, or nil.
func (o *order) latest(node int) (latest *event) {
	for _, l := range o.lanes[node] {
		if e := l.latest; e != nil && (latest == nil || e.At > latest.At) {
			latest = e
		}
	}
	return latest
}

// begin is the first time at which an event that waits may have happened, but not later than until.
func (o *order) begin(until ariadne.Time) ariadne.Time {
	for node := range o.lanes {
		if e := o.least(node); e != nil {
			until = min(until, e.After)
		}
	}
	return until
}

// heard reports whether b's node had read, before b, something that a's node sent after a.
func heard(a, b *event) bool {
	if a.sent == nil || b.got == nil || a.sent.Counted != b.got.Counted {
		return false
	}
	for s, got := range b.got.Got {
		if sent, ok := a.sent.Sent[s]; ok && ahead(got, sent) {
			return true
		}
	}
	return false
}

// divides reports whether all recent events have certainly happened before all that wait: then
// there was a moment between them. A lost event may have happened before an event of the same node
// that was told earlier.
func (o *order) divides() bool {
	near := false
	for i := range o.lanes {
		if !o.dividesNode(i) {
			return false
		}
		a := o.latest(i)
		if a == nil {
			continue
		}
		for j := range o.lanes {
			if j == i {
				continue
			}
			if b := o.least(j); b != nil && a.At+o.clockError >= b.After {
				if !heard(a, b) {
					return false
				}
				near = true
			}
		}
	}
	return !near || o.dividesNear()
}

// dividesNode is divides for the events of one node.
func (o *order) dividesNode(node int) bool {
	for x, early := range o.lanes[node] {
		if early.last == 0 && early.latest == nil {
			continue
		}
		for y, late := range o.lanes[node] {
			b := late.first()
			switch {
			case b == nil:
			case ordered(x, y) && early.last > b.place:
				return false
			case early.latest != nil && (y == classLost && early.latest.At > late.least().After ||
				!ordered(x, y) && early.latest.At >= late.least().After):
				return false
			}
		}
	}
	return true
}

// dividesNear is divides for events of different nodes, which the clocks do not order.
func (o *order) dividesNear() bool {
	for i, of := range o.lanes {
		for _, l := range of {
			for _, a := range l.recent.all {
				if a.divided == o.came {
					continue
				}
				for j, others := range o.lanes {
					for _, l := range others {
						if j != i && !o.isBefore(a, l) {
							return false
						}
					}
				}
				a.divided = o.came
			}
		}
	}
	return true
}

// isBefore reports whether an event has certainly happened before all events of another node's lane
// that wait. It does not look at those that were known to be after it.
func (o *order) isBefore(a *event, l *lane) bool {
	is := true
	l.byAfter.walk(0, func(b *event) bool {
		if !is || a.At+o.clockError < b.After {
			return false
		}
		is = b.stage != waits || b.came <= a.divided || heard(a, b)
		return is
	})
	return is
}

// inversion is a message that was read before it was sent, by the clocks: the event after which it
// was sent is later than the one before which it was read.
type inversion struct{ sent, read *event }

// first returns an event that can come first of those that wait: none of the others is certainly
// before it. It is the earliest by the clocks, unless messages say that another one was before it.
// Then inverted, if it is not nil, says by how much the clocks are wrong at least.
func (o *order) first() (e *event, inverted *inversion) {
	e = o.earliest()
	o.path = append(o.path[:0], e)
	for len(o.path) <= o.waiting { // no event is before itself, however often that is followed
		f := o.predecessor(e)
		if f == nil {
			break
		}
		if by := f.After - e.At; f.Node != e.Node && by > 0 &&
			(inverted == nil || by > inverted.sent.After-inverted.read.At) {
			inverted = &inversion{f, e}
		}
		e = f
		if k := slices.Index(o.path, e); k >= 0 { // from here on, it goes round
			return o.path[k+(o.waiting-k)%(len(o.path)-k)], inverted
		}
		o.path = append(o.path, e)
	}
	return e, inverted
}

// earliest returns the earliest event that waits, by the clocks.
func (o *order) earliest() *event {
	o.byAt.drop((*event).isDone)
	return o.byAt.all[0]
}

// predecessor returns the event, of those that wait, that came first of those that are certainly
// before another one whatever the clocks of other nodes are; nil: there is none.
func (o *order) predecessor(e *event) (found *event) {
	class := classOf(e.Record)
	for y, l := range o.lanes[e.Node] {
		f := l.first()
		switch {
		case f == nil:
		case ordered(class, y):
			if f.place < e.place {
				found = sooner(found, f)
			}
		case o.earliest().At < e.After:
			if k := slices.IndexFunc(l.waiting, func(f *event) bool {
				return f.stage == waits && f.At < e.After
			}); k >= 0 {
				found = sooner(found, l.waiting[k])
			}
		}
	}
	if e.got == nil || o.deaf[e.Node] == (deafness{e.got, o.sent}) {
		return found
	}
	heard := false
	for i := range o.senders {
		if i == int(e.Node) {
			continue
		}
		if f := o.senders[i].heard(e.got); f != nil {
			found, heard = sooner(found, f), true
		}
	}
	if !heard {
		o.deaf[e.Node] = deafness{e.got, o.sent}
	}
	return found
}

// sooner returns the one of two events that came first. The first one may be nil.
func sooner(a, b *event) *event {
	if a == nil || b.came < a.came {
		return b
	}
	return a
}

func earlier(a, b *event) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	return a.Node < b.Node || a.Node == b.Node && a.place < b.place
}

// waitingEvents are the events that wait, as they came.
func (o *order) waitingEvents() (all []*event) {
	for _, of := range o.lanes {
		for _, l := range of {
			for _, e := range l.waiting {
				if e.stage == waits {
					all = append(all, e)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *event) int { return cmp.Compare(a.came, b.came) })
	return all
}

// recentEvents are the recent events, as they were judged.
func (o *order) recentEvents() (all []*event) {
	for _, of := range o.lanes {
		for _, l := range of {
			all = append(all, l.recent.all...)
		}
	}
	slices.SortFunc(all, func(a, b *event) int {
		if a.stamp.Before(b.stamp) {
			return -1
		}
		return 1
	})
	return all
}
