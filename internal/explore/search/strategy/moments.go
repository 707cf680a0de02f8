package strategy

import (
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// moments are those of a path at which a fault is worth more than at others: where a node has done
// something that it has not done on this path before, as when it becomes the leader, and among
// these where nobody has in this search; where a node has sent something to a client, which relies
// on it from then on; and where somebody relies on what a node has done and not synced. Features
// tell what a node does.
//
// The features seen in a search depend on all paths so far. So an explorer whose paths can be
// repeated without the others has no Features.
type moments struct {
	search *Features // or nil
	path   features
	steps  int // of the path that were read
	now    moment
	// Of the path so far, and the most that a path before had.
	had, most counts
	news      int        // new to the search on the path so far
	learns    bool       // the paths before may matter
	longest   int        // with it, steps of the longest path so far
	dull      bool       // there were none on the path before
	sent      []int      // messages on the path, by node
	disks     []unsynced // by node
	placed    placed
	// evenly: no fault of the path waits for a moment. How many steps or places go by before one is
	// drawn over the orders of magnitude. This is decided for a path and not for a fault, or hardly
	// any path would have two such faults.
	evenly bool

	scratch, fresh []uint64
}

// counts are how many steps of a path were moments of a kind.
type counts struct {
	fresh, replies int
	relied         int
	others         int // that did not repeat others
	files          int // that have places at calls on files
}

// moment is what the last step of a path was.
type moment struct {
	fresh bool // its node has done something for the first time on the path
	novel bool // or anybody in the search
	reply bool // it has sent something to a client
	// it has something not synced on which somebody relies from now on, or another node that is
	// told has
	relied bool
	repeat bool // it has done nothing but what it has often done on the path
	ended  bool // a fault at its node is over: the node has started, or a slow sync has ended
	healed bool // a partition is over
	node   ariadne.NodeID
	relies ariadne.NodeID // with relied, the node
}

// unsynced is what is not durable on a node's disks.
type unsynced struct {
	some bool // there is something
	sent bool // the node has sent something since
	// and somebody relies on it: a client has heard something, or the node has shown something
	relied bool
}

// begin begins a path, whose first steps are not looked at. learns: the paths before may matter to
// it.
func (m *moments) begin(search *Features, learns bool, from int) {
	m.most = counts{max(m.most.fresh, m.had.fresh), max(m.most.replies, m.had.replies),
		max(m.most.relied, m.had.relied), max(m.most.others, m.had.others), max(m.most.files, m.had.files)}
	if !learns {
		m.most = counts{}
	}
	if !learns {
		m.longest = 0
	}
	m.learns = learns
	m.search, m.had = search, counts{}
	m.dull, m.news = m.steps > 0 && m.news == 0, 0
	m.path.forget()
	clear(m.placed)
	clear(m.sent)
	clear(m.disks)
	m.steps, m.now = from, moment{}
}

// read reads the steps of the path that are new to it. Of one that was cut, what it has said before
// counts as said. Where there are several they are from before it was asked, and none is a moment:
// which of them is the last may be a matter of the order of independent steps.
func (m *moments) read(p *space.Path) {
	from, to := min(m.steps, p.Len())+1, p.Len()
	m.now, m.steps = moment{}, to
	if m.learns {
		m.longest = max(m.longest, to+1) // who asks takes one more
	}
	if p.Space().Restart != nil {
		from = max(from, to) // the others are gone
	}
	for i := from; i <= to; i++ {
		now := m.of(p.System(), p.Event(i).Node, p.Frame(i).By)
		if now.fresh {
			m.had.fresh++
		}
		if now.novel {
			m.news++
		}
		if now.reply {
			m.had.replies++
		}
		if now.relied {
			m.had.relied++
		}
		if !now.repeat {
			m.had.others++
		}
		if slices.ContainsFunc(p.Frame(i).By.Output.Places, func(at ariadne.Place) bool {
			return ariadne.FileOf(at.Name) != ""
		}) {
			m.had.files++
		}
		if from == to {
			m.now = now
			kind := world.KindOf(p.Event(i).Kind)
			m.now.ended, m.now.healed = kind.Ends && !kind.World, kind.Ends && kind.World
		}
	}
}

// of is the moment of a step of a node.
func (m *moments) of(y *world.System, node ariadne.NodeID, by *memo.Transition) moment {
	now := moment{node: node, repeat: true, reply: replies(y, node, by)}
	fresh := m.fresh[:0]
	for _, f := range m.features(node, by) {
		n := m.path.count(f)
		if now.repeat = now.repeat && often(n); n == 1 {
			fresh = append(fresh, f)
		}
	}
	m.fresh, now.fresh = fresh, len(fresh) > 0
	if m.search != nil && !m.search.without.Sites {
		if m.placed == nil {
			m.placed = placed{}
		}
		m.search.sites.see(m.placed, by)
	}
	for int(node) >= len(m.sent) {
		m.sent = append(m.sent, 0)
	}
	m.sent[node] += len(by.Effect.Packets)
	now.relies, now.relied = m.rely(y, node, by, now.reply)
	now.novel = now.fresh && m.search != nil && m.search.any(fresh)
	return now
}

// rely enters what a step of a node has not synced, and who relies on what. It returns a node on
// which somebody relies from now on and has not before. Not ok: there is none.
func (m *moments) rely(y *world.System, node ariadne.NodeID, by *memo.Transition, reply bool) (id ariadne.NodeID,
	ok bool) {
	for len(m.disks) < len(y.Nodes()) {
		m.disks = append(m.disks, unsynced{})
	}
	d := &m.disks[node]
	if !by.Output.Unsynced {
		*d = unsynced{}
	} else {
		d.some = true
		d.sent = d.sent ||
			slices.ContainsFunc(by.Effect.Packets, func(p *world.Packet) bool {
				return p.To != node && len(p.Data) > 0
			})
		if !d.relied && shows(by) {
			d.relied, id, ok = true, node, true
		}
	}
	if !reply {
		return id, ok
	}
	for i := range m.disks { // what others have sent may be why the client was told
		if d := &m.disks[i]; d.sent && !d.relied {
			if d.relied = true; !ok || ariadne.NodeID(i) == node {
				id, ok = ariadne.NodeID(i), true
			}
		}
	}
	return id, ok
}

// shows reports whether a node has shown in a step what properties read, or a line for which faults
// wait.
func shows(by *memo.Transition) bool {
	found := by.Found.Load()
	return by.Effect.Said != 0 || found != nil && !found.None()
}

// relied are those of some events that hit a node on which somebody relies for what it has not
// synced, or if there are none, one that has not synced something.
func (m *moments) relied(f *space.Frame, all []int) (of []int) {
	for _, is := range []func(*unsynced) bool{func(d *unsynced) bool { return d.relied }, func(d *unsynced) bool {
		return d.some
	}} {
		for _, i := range all {
			if id := int(f.Enabled[i].Node); id < len(m.disks) && is(&m.disks[id]) {
				of = append(of, i)
			}
		}
		if len(of) > 0 {
			return of
		}
	}
	return nil
}

// reliesOn reports whether somebody relies on what a node has not synced.
func (m *moments) reliesOn(id ariadne.NodeID) bool {
	return int(id) < len(m.disks) && m.disks[id].relied
}

// repeats reports whether a step that is not taken yet would do nothing but what its node has often
// done on the path.
func (m *moments) repeats(node ariadne.NodeID, by *memo.Transition) bool {
	for _, f := range m.features(node, by) {
		if !often(m.path.met[f] + 1) {
			return false
		}
	}
	return true
}

// left is how many steps of the path that do not repeat others are still to come, judging by those
// before; 0: nobody knows.
func (m *moments) left() int { return max(m.most.others-m.had.others, 0) }

// without are the parts that the search does without.
func (m *moments) without() Without {
	if m.search == nil {
		return Without{}
	}
	return m.search.without
}

// sentBy is how many messages a node has sent on the path.
func (m *moments) sentBy(id ariadne.NodeID) int {
	if int(id) >= len(m.sent) {
		return 0
	}
	return m.sent[id]
}

// features are those of a step of a node. The search, if there is one, decides which messages are
// of one kind.
func (m *moments) features(node ariadne.NodeID, by *memo.Transition) []uint64 {
	if m.search == nil {
		m.scratch = m.path.of(m.scratch[:0], node, by)
		return m.scratch
	}
	return m.search.ofStep(node, by)
}

// often reports whether the n-th time of something is like those before: beyond the first few every
// doubling is not.
func often(n int) bool { return n > 4 && n&(n-1) != 0 }

// replies reports whether a step of a node sends something to a client, which is another node.
func replies(y *world.System, node ariadne.NodeID, by *memo.Transition) bool {
	for _, p := range by.Effect.Packets {
		if p.To != node && y.Nodes()[p.To].Client && len(p.Data) > 0 {
			return true
		}
	}
	return false
}

// wait is what goes by before a fault is counted down: a number of moments, or the steps up to one.
// The zero value is over.
type wait struct {
	moments int  // that are still to come; 0: it is over
	novel   bool // of those that are new to the search
	reply   bool // of those at which something was sent to a client
	ends    bool // of those at which a fault at node ends, or a partition
	relied  bool // of those at which somebody begins to rely on what is not synced
	last    int  // step at which it is over at the latest; 0: none
	// alone: the fault is to hit the node of the last moment, if it hits a node.
	alone bool
	node  ariadne.NodeID
}

// Orders of magnitude, of 2, of the moments that a fault waits for, and of what goes by behind
// them.
const (
	momentOrders = 6
	closeOrders  = 5
)

// draw draws one on a path whose like has had length steps in all; 0: nobody knows. A fifth each
// are over at once, at any of the steps that are left, when something was sent to a client, at a
// moment that is new to the path, and at one that is new to the search, as long as paths come to
// such.
func (m *moments) draw(d *draw, length int) (w wait) {
	if m.longest > 0 {
		length = min(length, m.longest)
	}
	rest, how := length-m.steps, d.below(5)
	if m.without().Moments {
		how %= 2
	}
	if m.evenly {
		how = 0
	}
	switch {
	// behind the last step no fault can be
	case how < 2 && (how == 0 || rest <= 0), length > 0 && rest == 1:
		return wait{}
	case how == 1:
		return wait{moments: math.MaxInt, last: m.steps + 1 + d.below(rest)}
	case how == 2 && (length == 0 || m.most.replies > m.had.replies):
		w = wait{moments: soon(d, m.most.replies-m.had.replies), reply: true}
	case how <= 3 || m.search == nil || m.dull && d.below(4) > 0:
		w.moments = soon(d, m.most.fresh-m.had.fresh)
	default:
		w = wait{moments: 1, novel: true}
	}
	w.last = m.end(d, length)
	w.alone = d.below(2) == 0
	return w
}

// drawLoss draws one for a loss of power: until somebody relies on what is not synced.
func (m *moments) drawLoss(d *draw, length int) wait {
	return wait{moments: soon(d, m.most.relied-m.had.relied), relied: true, alone: true, last: m.end(d, length)}
}

// drawEnd draws whether a fault that follows one at w.node waits until that has ended.
func (m *moments) drawEnd(d *draw, w *wait, length int) {
	if d.below(2) == 0 {
		w.ends, w.moments, w.last = true, 1, m.end(d, length)
	}
}

// end draws a step at which a wait is over in any case: there may be no such moment.
func (m *moments) end(d *draw, length int) int {
	if rest := length - m.steps; rest > 1 {
		return length - d.below(rest/2+1)
	}
	return m.steps + 1<<(leastSteps+1+d.below(stepOrders))
}

// soon draws a number of moments, of which so many are still to come; 0 or less: nobody knows.
func soon(d *draw, left int) int {
	if n := 1 + d.below(1<<d.below(momentOrders)); left <= 0 {
		return n
	}
	return 1 + d.below(left)
}

// over counts the last step that was read, and reports whether the wait is over.
func (w *wait) over(m *moments) bool {
	switch {
	case w.moments == 0:
	case w.last > 0 && m.steps >= w.last:
		w.moments, w.alone, w.relied = 0, w.alone && w.ends, false
	case w.ends:
		if m.now.healed || m.now.ended && m.now.node == w.node {
			w.moments--
		}
	case w.relied:
		if m.now.relied {
			w.moments--
			w.node = m.now.relies
		}
	case w.reply && m.now.reply, !w.reply && (m.now.novel || m.now.fresh && !w.novel):
		w.moments--
		w.node = m.now.node
	}
	return w.moments == 0
}

// hits reports whether the fault may be one at a node.
func (w *wait) hits(id ariadne.NodeID) bool { return !w.alone || w.node == id }
