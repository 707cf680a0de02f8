//go:build linux

package node

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// A node's clock goes on by what the node does, and it may pass a deadline of the
// node's own in the midst of a step. Nobody may see a timer that is due and has not
// expired, so the step then expires it, and whoever waited for it has a turn.
//
// But calls and reads cost time only so that loops end. A deadline that comes near
// because of that is none yet: the clock stands just below it for as many calls and
// reads as no step makes that does not wait for the clock. So a step ends before the
// timer fires, and what else may come first is the search's choice.

const (
	// patience is how many calls and clock reads the clock stands just below a deadline.
	patience = 4096
	// oversleep is how late a silent timer may expire: who naps is not punctual.
	oversleep = time.Millisecond
	// turn is how long a thread may read the clock while others could run.
	turn = slice * kernel.CallCost
)

// pace is how the clock stands in a step.
type pace struct {
	below ariadne.Time // the deadline at which it last came to stand
	stood int          // calls and reads for which it has
	lent  int          // reads for which it may, while a thread runs
	spun  ariadne.Time // computed without a call, not yet on the clock
	// how many reads the clock's page counts for those that were trapped
	trapped uint64
}

// spendTime lets th use up d of the node's time.
func (n *Node) spendTime(th *thread, d ariadne.Time) {
	th.k.CPUTime += d
	n.passTime(th, d)
}

// passTime lets time pass while th is in a step, of which th uses none up.
func (n *Node) passTime(th *thread, d ariadne.Time) {
	now := n.k.Now + d
	if t := n.k.NextTimer(false); t != nil && now >= t.When && n.room(t) > 0 {
		n.step.stood++
		now = max(n.k.Now, t.When-1)
	}
	n.k.Now = now
	n.expirePassed(th)
	th.k.ExpireCPU()
}

// room is how many times more the clock may stand below a timer.
func (n *Node) room(t *kernel.Timer) int {
	if n.step.below != t.When {
		n.step.below, n.step.stood = t.When, 0
	}
	return patience - n.step.stood
}

// expirePassed expires what the clock has passed. Others that can run then have their turn
// before th goes on, as they would on another processor.
func (n *Node) expirePassed(th *thread) {
	if !n.hasDueTimer() {
		return
	}
	n.fireDue(n.k.Now)
	if n.k.HasReady() {
		th.used = max(th.used, slice)
	}
}

// hasDueTimer reports whether the clock has passed a timer.
func (n *Node) hasDueTimer() bool {
	t, s := n.k.NextTimer(false), n.k.NextSilent()
	return t != nil && t.When <= n.k.Now || s != nil && s.When.Add(oversleep) <= n.k.Now
}

// lendClock sets the page from which th reads the clock until it stops again.
func (n *Node) lendClock(th *thread) {
	if n.home.used {
		n.home.clearScratch()
	}
	limit, room := ariadne.Never, 0
	if t := n.k.NextTimer(false); t != nil {
		limit, room = t.When, n.room(t)
	}
	if s := n.k.NextSilent(); s != nil && s.When.Add(oversleep) < limit {
		limit, room = s.When.Add(oversleep), 0
	}
	if n.k.HasReady() && th.began+turn < limit {
		limit, room = max(th.began+turn, n.k.Now+1), 0
	}
	if left := th.k.CPULeft(); left < limit-n.k.Now {
		limit, room = n.k.Now+left, 0
	}
	if n.stopsAtReads() {
		limit, room = 0, 0 // each read makes a call
	}
	n.step.lent = room
	n.home.clock.Set(uint64(n.k.Now), uint64(n.k.MonoBase), uint64(n.k.RealBase), uint64(kernel.ClockCost))
	n.home.clock.SetLimit(uint64(limit), room)
}

// stopsAtReads reports whether each read of the clock makes a call.
func (n *Node) stopsAtReads() bool { return n.reads != nil || n.cfg.Faults.PausesAtReads }

// asksEarly reports whether a read of th has made a call only because reads are noted. Otherwise th
// would have read on, and others would not have had their turn.
func (n *Node) asksEarly(th *thread) bool { return n.reads != nil && n.k.Now < th.began+turn }

// resetReads begins again to count clock reads.
func (n *Node) resetReads() {
	n.home.clock.ResetReads()
	n.step.trapped = 0
}

// passTrapped lets th use up the time of a read that has to be trapped.
func (n *Node) passTrapped(th *thread) {
	was := n.home.clock.Reads()
	n.spendTime(th, kernel.ClockCost<<n.home.clock.Trapped())
	n.step.trapped += n.home.clock.Reads() - was
}

// loaderRoom is more than the dynamic loader takes of a process's memory.
const loaderRoom = 1 << 20

// inLoader reports whether a thread executes code of the C library's dynamic loader. That measures
// for each program how long it takes, which steers nothing.
func (th *thread) inLoader() bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", th.tr.TID))
	must(err)
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == atBase {
			base := binary.LittleEndian.Uint64(b[8:])
			return base != 0 && th.tr.IP()-base < loaderRoom
		}
	}
	return false
}

// farthest is how far one stretch without a stop can take the clock.
const farthest = 1 << 60

// takeClock takes the clock back from th. A program may have written to the page where
// it read: what cannot have come from reading means nothing.
func (n *Node) takeClock(th *thread) {
	now, room := n.home.clock.Now(), n.home.clock.Room()
	if now > min(uint64(n.k.Now)+farthest, uint64(ariadne.Never)) || room < 0 || room > n.step.lent {
		n.k.Refuse(th.k, "writing into Ariadne's pages", fmt.Sprintf("clock of %#x", now), false)
		return
	}
	th.k.CPUTime += max(ariadne.Time(now)-n.k.Now, 0)
	n.k.Now = max(n.k.Now, ariadne.Time(now))
	n.step.stood += n.step.lent - room
	n.step.lent = room
	if n.home.clock.Reads() > 0 {
		n.step.looksAtClock()
	}
	if n.home.clock.Reads() > n.step.trapped {
		n.k.TellTime()
	}
}
