package strategy

import (
	"math"
	"sync"

	"ariadne"
	"ariadne/internal/space"
)

// moments are those of a path at which a fault is worth more than at others: where a node has
// written a line that it has not written on this path before, as when it becomes the leader, and
// among these where nobody has in this search. Lines that differ in numbers only are the same.
//
// What was seen in the search depends on all paths so far, so who must be able to make a path again
// without the others has no Lines.
type moments struct {
	lines *Lines // or nil
	said  map[line]bool
	steps int // of the path that were read
	now   moment
	count int  // of the path so far
	most  int  // as many as a path before had; 0: nobody knows
	news  int  // new to the search on the path so far
	dull  bool // there were none on the path before
}

// moment is what the last step of a path was.
type moment struct {
	fresh bool // its node has written a line for the first time on the path
	novel bool // or anybody in the search
	node  ariadne.NodeID
}

// line is one of a node's, without its numbers.
type line struct {
	node ariadne.NodeID
	text uint64
}

// Lines are those that a search has seen, of all its workers. The zero value has seen none.
type Lines struct {
	mu   sync.Mutex
	seen map[uint64]bool
}

// maxLines is how many are remembered. None is new when there are as many.
const maxLines = 1 << 16

// add reports whether a line is new, and remembers it.
func (l *Lines) add(text uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[text] || len(l.seen) >= maxLines {
		return false
	}
	if l.seen == nil {
		l.seen = map[uint64]bool{}
	}
	l.seen[text] = true
	return true
}

// begin begins a path, whose first steps are not looked at. learns: the paths before may matter to it.
func (m *moments) begin(lines *Lines, learns bool, from int) {
	if m.most = max(m.most, m.count); !learns {
		m.most = 0
	}
	m.lines, m.count = lines, 0
	m.dull, m.news = m.steps > 0 && m.news == 0, 0
	if m.said == nil {
		m.said = map[line]bool{}
	}
	clear(m.said)
	m.steps, m.now = from, moment{}
}

// read reads the steps of the path that are new to it. Of one that was cut, what it has said before
// counts as said. Where there are several they are from before it was asked, and none is a moment: which of
// them is the last may be a matter of the order of independent steps.
func (m *moments) read(p *space.Path) {
	from, to := min(m.steps, p.Len())+1, p.Len()
	m.now, m.steps = moment{}, to
	if p.Space().Restart != nil {
		from = max(from, to) // the others are gone
	}
	for i := from; i <= to; i++ {
		now := m.of(p.Event(i).Node, p.Frame(i).By.Output.Logs)
		if now.fresh {
			m.count++
		}
		if now.novel {
			m.news++
		}
		if from == to {
			m.now = now
		}
	}
}

// of is the moment of a step in which a node has written lines.
func (m *moments) of(node ariadne.NodeID, logs []ariadne.LogLine) moment {
	now := moment{node: node}
	for i := range logs {
		l := line{node, masked(logs[i].Text)}
		if m.said[l] {
			continue
		}
		m.said[l], now.fresh = true, true
		if m.lines != nil && m.lines.add(l.text) {
			now.novel = true
		}
	}
	return now
}

// masked is a hash of a line without its numbers (FNV-1a).
func masked(text string) uint64 {
	h, number := uint64(0xcbf29ce484222325), false
	for i := range len(text) {
		c := text[i]
		digit := '0' <= c && c <= '9'
		if digit && number {
			continue
		}
		if number = digit; digit {
			c = '0'
		}
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}

// wait is what goes by before a fault is counted down: a number of moments, or the steps up to one.
// The zero value is over.
type wait struct {
	moments int  // that are still to come; 0: it is over
	novel   bool // of those that are new to the search
	last    int  // step at which it is over at the latest; 0: none
	// alone: the fault is to hit the node of the last moment, if it hits a node.
	alone bool
	node  ariadne.NodeID
}

// Orders of magnitude, of 2, of the moments that a fault waits for, and of what goes by behind them.
const (
	momentOrders = 6
	closeOrders  = 5
)

// draw draws one on a path whose like has had length steps in all; 0: nobody knows. A
// quarter each are over at once, at any of the steps that are left, at a moment, and at one that
// is new to the search, as long as paths come to such.
func (m *moments) draw(d *draw, length int) (w wait) {
	rest, how := length-m.steps, d.below(4)
	switch {
	case how < 2 && (how == 0 || rest <= 0):
		return wait{}
	case how == 1:
		return wait{moments: math.MaxInt, last: m.steps + 1 + d.below(rest)}
	case how == 2 || m.lines == nil || m.dull && d.below(4) > 0:
		if w.moments = 1 + d.below(1<<d.below(momentOrders)); m.most > m.count {
			w.moments = 1 + d.below(m.most-m.count)
		}
	default:
		w = wait{moments: 1, novel: true}
	}
	// There may be none.
	if w.last = m.steps + 1<<(leastSteps+1+d.below(stepOrders)); rest > 1 {
		w.last = length - d.below(rest/2+1)
	}
	w.alone = d.below(2) == 0
	return w
}

// over counts the last step that was read, and reports whether the wait is over.
func (w *wait) over(m *moments) bool {
	switch {
	case w.moments == 0:
	case w.last > 0 && m.steps >= w.last:
		w.moments, w.alone = 0, false
	case m.now.novel || m.now.fresh && !w.novel:
		w.moments--
		w.node = m.now.node
	}
	return w.moments == 0
}

// hits reports whether the fault may be one at a node.
func (w *wait) hits(id ariadne.NodeID) bool { return !w.alone || w.node == id }
