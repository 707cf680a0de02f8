package kernel

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// Expirer is what a timer ends: a thread's wait, a timerfd, an alarm.
type Expirer interface{ Expire(*Timer) }

// Timer is one pending deadline of the node.
type Timer struct {
	When ariadne.Time
	Seq  uint64 // ties: in order of setting
	Exp  Expirer
	// Silent: it merely keeps a language runtime alive (Go's sysmon). It is run
	// through when the node next runs and is never a choice of the search.
	Silent bool
	// Housekeeping is not 0 when a language runtime looks after itself by it: how long
	// it may do so and nothing else before nothing more can come of it.
	Housekeeping ariadne.Time
	index        int // in the heap, -1 when not pending
}

// before reports whether t expires before u.
func (t *Timer) before(u *Timer) bool { return t.When < u.When || t.When == u.When && t.Seq < u.Seq }

type timerHeap []*Timer

// first is the earliest, or nil.
func (h timerHeap) first() *Timer {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].before(h[j]) }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }
func (h *timerHeap) Push(x any)        { t := x.(*Timer); t.index = len(*h); *h = append(*h, t) }
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

// AddTimer sets a timer for the absolute time when.
func (n *Node) AddTimer(when ariadne.Time, e Expirer) *Timer {
	t := &Timer{When: when, Seq: n.Sequence(), Exp: e}
	if th, ok := e.(*Thread); ok {
		t.Silent, t.Housekeeping = th.keepsRuntimeAlive(), th.housekeeping()
	}
	heap.Push(n.heapOf(t), t)
	return t
}

// StopTimer cancels t; it may have expired already.
func (n *Node) StopTimer(t *Timer) {
	if t.index >= 0 {
		heap.Remove(n.heapOf(t), t.index)
	}
}

// Timers are all that are pending, by when they are due.
func (n *Node) Timers() []*Timer {
	return slices.SortedFunc(slices.Values(slices.Concat(n.timers, n.silent)), func(t, u *Timer) int {
		return cmp.Or(cmp.Compare(t.When, u.When), cmp.Compare(t.Seq, u.Seq))
	})
}

// heapOf is the heap in which t is.
func (n *Node) heapOf(t *Timer) *timerHeap {
	if t.Silent {
		return &n.silent
	}
	return &n.timers
}

// NextTimer returns the earliest pending timer, or nil. With silent false it
// passes over the silent ones.
func (n *Node) NextTimer(silent bool) *Timer {
	t, s := n.timers.first(), n.silent.first()
	if silent && s != nil && (t == nil || s.before(t)) {
		return s
	}
	return t
}

// NextSilent returns the earliest pending silent timer, or nil.
func (n *Node) NextSilent() *Timer { return n.silent.first() }

// Housekeeping returns the greatest Timer.Housekeeping; 0 when there is a timer that is
// neither that nor silent, or none at all.
func (n *Node) Housekeeping() ariadne.Time {
	longest := ariadne.Time(0)
	for _, t := range n.timers {
		if t.Housekeeping == 0 {
			return 0
		}
		longest = max(longest, t.Housekeeping)
	}
	return longest
}

// FireTimer takes t off and expires it.
func (n *Node) FireTimer(t *Timer) {
	n.StopTimer(t)
	t.Exp.Expire(t)
}
