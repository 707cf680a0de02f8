//go:build linux

package node

import (
	"slices"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
)

// Where several threads of the node are ready, another one than that whose turn it is may go first,
// within the spec's budget. There are such places at the entry of a call or of a lock function
// (locks.go), behind a call by which a thread has become ready, and where the thread that ran
// waits, ends or yields, so that it is the turn of another. Whose turn it was is late then: it goes
// on when no other thread can. That is a thread which Linux has put off: one deviation, however
// many others go by.
//
// Every order of threads is within some budget, since each ready thread is an alternative at
// each place; and who is late need not be put off again for each that is to go before it.

// scheduling is who is to go on in a step.
type scheduling struct {
	first        *kernel.Thread   // goes first although it is another's turn
	others       []*kernel.Thread // who was ready at the last place where one could be late,
	alternatives []string         // and what that place had for it
}

// nextTurn takes the thread out of the run queue that is to go on; nil: there is none.
func (n *Node) nextTurn() *kernel.Thread {
	if t := n.step.first; t != nil {
		n.step.first = nil
		n.k.TakeReady(t)
		return t
	}
	n.endNap()
	t := n.k.NextReady()
	if t == nil || !n.letsNow() {
		return t
	}
	if first := n.otherThread(t, "turn", ""); first != nil {
		n.k.MakeLate(t)
		n.k.TakeReady(first)
		return first
	}
	return t
}

// shortNap is how long Go's runtime sleeps at most while it looks for work that another thread may
// do itself at once.
const shortNap = ariadne.Time(10e3)

// endNap ends the nap of a thread of Go's runtime while only threads are ready that are late. Such
// a thread is about to take a goroutine from a late one, which is put off for longer than the nap.
func (n *Node) endNap() {
	if t := n.k.NextSilent(); t != nil && n.k.OnlyLate() && t.When <= n.k.Now+shortNap {
		n.k.Now = max(n.k.Now, t.When)
		n.k.FireTimer(t)
	}
}

// overtaken reports whether another thread goes before th makes the call at whose entry it stands.
// Calls whose order with others does not matter are no places, nor is asking again what was
// asked in vain before.
func (n *Node) overtaken(th *thread) bool {
	if !n.letsNow() {
		return false
	}
	row := sys.Of(th.k.Call.NR)
	if row.Alone || row.Asks != sys.NoQuestion && th.k.Vain > 1 {
		return false
	}
	if !n.late(th, callName(th.k.Call.NR), "") {
		return false
	}
	th.k.Wait.Preempted = true
	return true
}

// overtakenBehind reports whether another thread goes before th goes on behind a call by which
// some thread has become ready: on another processor it might be faster.
func (n *Node) overtakenBehind(th *thread) bool {
	return n.letsNow() && !th.k.Native && n.late(th, callName(th.k.Call.NR), "made")
}

// overtakenAtLock reports whether another thread goes before th, which stands at the breakpoint at
// the entry of a lock function. th comes there again when it goes on, because the instruction there
// may be the one that takes the lock.
func (n *Node) overtakenAtLock(th *thread, function string, addr uint64) bool {
	n.watch.Called() // a stop takes as long as that of a call
	was := th.k.Overtaken
	th.k.Overtaken = 0
	if was == addr || !n.letsNow() || !n.late(th, function+"()", "") {
		return false
	}
	th.k.Overtaken = addr
	must(th.tr.Jump(addr))
	return true
}

// late enters a place at which th would go on, and reports whether another goes first.
func (n *Node) late(th *thread, call, what string) bool {
	n.step.first = n.otherThread(th.k, call, what)
	if n.step.first == nil {
		return false
	}
	th.k.State = kernel.Runnable
	n.k.MakeLate(th.k)
	return true
}

// otherThread enters a place at which t would go on, if other threads are ready, and says which of
// them goes first; nil: t does.
func (n *Node) otherThread(t *kernel.Thread, where, what string) *kernel.Thread {
	if dialog.Spared(n.k) {
		return nil
	}
	s := &n.step
	before := len(s.others)
	s.others = n.k.Ready(s.others)
	if len(s.others) == before {
		return nil
	}
	// Most places have the same alternatives as the one before, which then share them.
	if !slices.Equal(s.others[:before], s.others[before:]) {
		s.alternatives = nil
		for _, o := range s.others[before:] {
			s.alternatives = append(s.alternatives, ariadne.ThreadLate+":"+strconv.Itoa(o.TID))
		}
	}
	s.others = slices.Delete(s.others, 0, before)
	taken := s.course.At(t.TID, where, what, s.alternatives)
	if taken == "" {
		return nil
	}
	return s.others[slices.Index(s.alternatives, taken)]
}

// letsNow reports whether a thread may be late.
func (n *Node) letsNow() bool { return n.cfg.Faults.Late && n.isPrecededFor(ariadne.ThreadLate) }
