//go:build linux

package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// A program may wait for others without ever waiting in a call: it asks again and
// again whether something has come. Its node would not come to rest, and what it has
// sent would never leave. So a step ends when all threads that could run do nothing
// but ask in vain: the node rests as if it had a timer, and goes on by that timer or
// by whatever comes before.
//
// Who asks is counted, not timed, so that a step always ends at the same call.

const (
	// vainLimit is how many times in a row a thread asks in vain before its node may
	// rest, and vainAgain how many times more before it may rest again.
	vainLimit = 1024
	vainAgain = 256
	// vainCalls is how many calls a node that polls makes while nothing comes. It then
	// waits like one whose threads all wait in calls, unless it looks at the clock:
	// it may then stop by itself at some time.
	vainCalls = 1 << 20
)

// countAsking counts what a thread's call has asked in vain; v is its result.
func (n *Node) countAsking(k *kernel.Thread, v int64) {
	q := sys.Of(k.Call.NR).Asks
	again := v == -int64(unix.EAGAIN) || v == -int64(unix.EALREADY)
	switch {
	case q == sys.NoQuestion:
	case k.Wait.Runs > 0 || q == sys.Take && !again: // it waited, or something has come
		n.step.answered = n.step.answered || k.Vain > 0
		k.Vain = 0
	case q == sys.IsReady || again:
		k.Vain++
		n.step.vain.add(k.Call.NR)
		if v > 0 {
			n.step.ready++
		}
	}
}

// turnEnds reports whether the turn of a thread ends that is about to ask once more after
// it has asked in vain for long; with it ends the step when nobody has anything else
// to do. The thread stands at the entry of its call, so that it can be copied.
func (n *Node) turnEnds(th *thread) bool {
	if sys.Of(th.k.Call.NR).Asks == sys.NoQuestion || th.k.Vain < vainLimit && !th.overdue(0) {
		return false
	}
	if th.k.Vain >= vainLimit {
		th.k.Vain = vainLimit - vainAgain
		n.step.polling = !n.k.AnyReady(func(t *kernel.Thread) bool { return t.Vain < vainLimit-vainAgain })
	}
	th.k.Wait.Preempted = true
	n.requeue(th)
	return true
}

// overdue reports whether th has used its slice, and some more calls if it polls.
func (th *thread) overdue(more int) bool {
	if th.k.Vain == 0 {
		more = 0
	}
	return th.used >= slice+more
}

// asking is what a step has asked in vain.
type asking struct {
	vain      callCounts
	ready     int  // of the calls, those by which something was ready
	answered  bool // a thread that had asked in vain got something, or waited
	readClock bool // some thread has read the clock
	disturbed bool // it was switched on, got a message, or a timer fired
	polling   bool // it ended because all that could run only polled
}

// polls reports whether all that can run only polls.
func (a *asking) polls() bool { return a.polling }

// resume has the step go on although all that could run only polled.
func (a *asking) resume() { a.polling = false }

// disturb notes that something has come from outside.
func (a *asking) disturb() { a.disturbed = true }

// looksAtClock notes that some thread reads the clock.
func (a *asking) looksAtClock() { a.readClock = true }

// tellPolling has the output of a step that ends say what the node asks, and when it asks again.
func (n *Node) tellPolling(out *ariadne.Output) {
	if !n.step.polling {
		return
	}
	out.Polling, out.Unheeded = n.polled.String(), n.polled.ignoresReady()
	if at := n.polled.next(n.k.Now, n.cfg.Limits.Calls); at < out.Deadline {
		out.Deadline, out.Timer = at, "polling"
	}
}

// polling is what a node remembers of the last steps, those that ended because it did
// nothing but poll.
type polling struct {
	since ariadne.Time // its clock when it began to ask what it still asks
	// Since something else than its own asking has come:
	calls int  // all its calls
	ready int  // by which it found something ready, and did not take it
	clock bool // some thread has read the clock
	vain  callCounts
}

// count enters the step that ends, which began at time at.
func (p *polling) count(s *step, at ariadne.Time) {
	if !s.polling {
		*p = polling{}
		return
	}
	if s.answered || p.calls == 0 {
		p.since = at
	}
	if s.answered || s.disturbed {
		*p = polling{since: p.since} // it may have read the clock before it began to ask
	} else {
		p.clock = p.clock || s.readClock
	}
	p.calls += s.made()
	p.ready += s.ready
	for nr, c := range s.vain {
		p.vain[nr] += c
	}
}

// next is when a node that polls, and whose clock stands at now, asks again if nothing
// comes. The longer it has asked, the less often: what it asks for comes by itself.
func (p *polling) next(now ariadne.Time, limit int) ariadne.Time {
	if !p.clock && (p.calls >= vainCalls || limit > 0 && p.calls >= limit) {
		return ariadne.Never
	}
	return now.Add(time.Duration(now-p.since) / 2)
}

// String says what it asks.
func (p *polling) String() string { return fmt.Sprintf("%s (%d calls)", p.vain.names(), p.calls) }

// ignoresReady reports whether most polls found something ready, which the program does not take.
func (p *polling) ignoresReady() bool { return p.ready > p.calls/4 }

// callCounts counts calls by their number.
type callCounts [len(sys.Table)]int32

func (c *callCounts) add(nr int) {
	if nr >= 0 && nr < len(c) {
		c[nr]++
	}
}

// names lists the calls that were made most often, the first of them first.
func (c *callCounts) names() string {
	const most = 3
	var nrs []int
	total := int32(0)
	for nr, n := range c {
		if n > 0 {
			nrs = append(nrs, nr)
			total += n
		}
	}
	slices.SortStableFunc(nrs, func(a, b int) int { return cmp.Compare(c[b], c[a]) })
	var names []string
	for _, nr := range nrs[:min(most, len(nrs))] {
		if c[nr] >= total/10 {
			names = append(names, callName(nr))
		}
	}
	return strings.Join(names, ", ")
}
