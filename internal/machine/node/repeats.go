//go:build linux

package node

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A thread that computes for long may be at work, or in a loop without end. It is in a loop if it
// comes to a place again with the same registers and the same memory, and if nothing else can
// change these: no other thread and process of the node, no signal, and no instruction that reads
// anything but registers and memory. Messages change nothing, since the program makes no call. That
// is proved one instruction after the other. So a loop with a counter in it is not proved before
// the counter overflows, and such a step stays inconclusive.

const (
	// repeatsWithin is how many instructions the thread may take until it stands as before.
	repeatsWithin = 1 << 15
	// repeatsTries is how often registers may be the same where memory is not.
	repeatsTries = 3
	// repeatsMemory is how much writable memory a process may have for that.
	repeatsMemory = 512 << 20
)

// repeats says that th is in a loop without end, if that can be proved.
func (n *Node) repeats(th *thread) (why string, ok bool) {
	if th.tr.InCall() || !n.isAlone(th) {
		return "", false
	}
	for range repeatsTries {
		period := th.findPeriod()
		if period == 0 {
			return "", false
		}
		before, err := th.tr.Save()
		if err != nil {
			return "", false
		}
		memory, ok := th.sumMemory()
		if !ok || !th.takePeriod(period) {
			return "", false
		}
		after, err := th.tr.Save()
		if err != nil {
			return "", false
		}
		again, ok := th.sumMemory()
		if ok && memory == again && tracee.StandsAs(before.Current(), after.Current()) &&
			bytes.Equal(before.Extended(), after.Extended()) {
			return fmt.Sprintf("%s computes without end: it makes no call, and comes to the same state again and again",
				path.Base(th.k.Proc.Exe)), true
		}
	}
	return "", false
}

// isAlone reports whether nothing but th can change what th does.
func (n *Node) isAlone(th *thread) bool {
	alive := 0
	for _, p := range n.k.Procs {
		if !p.Dead {
			alive += len(p.Threads)
		}
	}
	actions := th.k.Proc.Actions
	return alive == 1 && len(n.k.Timers()) == 0 && len(th.k.Proc.Pending) == 0 && len(th.k.Pending) == 0 &&
		!th.k.Proc.HasCPUTimers() && !actions.Handles(int(unix.SIGIO)) && !actions.Handles(int(unix.SIGURG))
}

// step takes one instruction. Not ok: something else came.
func (th *thread) step() bool {
	for range 3 {
		s := proceed(th, th.tr.Step)
		switch {
		case s.Kind == tracee.Signal && s.Signal == unix.SIGTRAP:
			return true
		case s.Kind != tracee.Signal || s.Signal != unix.SIGSTOP: // which the watchdog sends
			return false
		}
	}
	return false
}

// findPeriod is after how many instructions the thread has the same general registers again, by the
// method of Brent (An improved Monte Carlo factorization algorithm, 1980); 0: it was not found.
func (th *thread) findPeriod() (period int) {
	at, err := th.tr.Stand()
	if err != nil {
		return 0
	}
	for taken, power := 0, 1; taken < repeatsWithin; taken++ {
		if !th.step() {
			return 0
		}
		now, err := th.tr.Stand()
		if err != nil {
			return 0
		}
		if period++; tracee.StandsAs(&at, &now) {
			return period
		}
		if period == power {
			at, power, period = now, 2*power, 0
		}
	}
	return 0
}

// takePeriod takes so many instructions. Not ok: one of them is no function of registers and
// memory.
func (th *thread) takePeriod(period int) bool {
	for range period {
		if !th.tr.IsFunction() || !th.step() {
			return false
		}
	}
	return true
}

// sumMemory is a digest of the memory that the thread can write. Not ok: others share some, or
// there is too much.
func (th *thread) sumMemory() (sum [sha256.Size]byte, ok bool) {
	h, left := sha256.New(), repeatsMemory
	b := make([]byte, 1<<20)
	for m := range procmaps.All(th.maps()) {
		switch {
		case !m.Writable():
			continue
		case m.Shared() && (m.Start < area.Base || m.End > area.Base+area.Size):
			return sum, false // Ariadne's own pages count the reads of the clock
		}
		fmt.Fprintln(h, m.Start, m.End)
		if left -= int(m.End - m.Start); left < 0 {
			return sum, false
		}
		for at := m.Start; at < m.End; {
			part := b[:min(uint64(len(b)), m.End-at)]
			if th.tr.Peek(at, part) != 0 {
				return sum, false
			}
			h.Write(part)
			at += uint64(len(part))
		}
	}
	h.Sum(sum[:0])
	return sum, true
}
