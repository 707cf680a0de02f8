//go:build linux

package node

import (
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A debugger decides, within a step, how the threads of one process go on: up to their next stop
// for the node, or by one instruction. Its breakpoints are not the node's own (breakpoints.go): no
// state and no checkpoint has them. So a node that is debugged is a copy that is given up.

// debugging is a debugger of one of the node's processes.
type debugging struct {
	by     inspect.Debugger
	pid    int
	breaks map[uint64]byte // what was there before, by address
}

// set sets a breakpoint in the memory of th's process. It reports whether there is code.
func (d *debugging) set(th *thread, addr uint64) bool {
	if _, ok := d.breaks[addr]; ok {
		return true
	}
	var was [1]byte
	if th.tr.Peek(addr, was[:]) != 0 || th.tr.Poke(addr, []byte{breakpoint}) != 0 {
		return false
	}
	d.breaks[addr] = was[0]
	return true
}

// hide shows a piece of memory as it is without breakpoints.
func (d *debugging) hide(pid int, addr uint64, b []byte) {
	if d == nil || d.pid != pid {
		return
	}
	for at, was := range d.breaks {
		if at-addr < uint64(len(b)) {
			b[at-addr] = was
		}
	}
}

// forget notes that a process has another program, with memory of its own.
func (d *debugging) forget(pid int) {
	if d != nil && d.pid == pid {
		clear(d.breaks)
	}
}

// goOn lets th run up to its next stop for the node, as the debugger wants it.
func (d *debugging) goOn(th *thread) tracee.Stop {
	if th.k.Proc.PID != d.pid {
		for {
			s := proceed(th, th.tr.Continue)
			if !d.left(th, s) {
				return s
			}
		}
	}
	for why := inspect.Begins; ; {
		step, err := d.by.GoesOn(th.k.TID, why)
		must(err)
		if why == inspect.Begins && !step && d.standsAtBreak(th) {
			why = inspect.AtBreak
			continue
		}
		s, stands := d.run(th, step)
		if stands == 0 {
			return s
		}
		why = stands
	}
}

func (d *debugging) standsAtBreak(th *thread) bool {
	must(th.tr.Refresh())
	_, ok := d.breaks[th.tr.IP()]
	return ok
}

// run lets th run to its next stop. stands is 0 if that is one for the node.
func (d *debugging) run(th *thread, step bool) (s tracee.Stop, stands inspect.Arrival) {
	must(th.tr.Refresh())
	at := th.tr.IP()
	if was, ok := d.breaks[at]; ok { // the instruction itself comes first
		th.tr.Poke(at, []byte{was})
		s = proceed(th, th.tr.Step)
		if _, ok := d.breaks[at]; ok && !th.tr.Gone() {
			th.tr.Poke(at, []byte{breakpoint})
		}
		if stands = d.arrival(th, s); stands != inspect.Stepped || step {
			return s, stands
		}
	}
	if step {
		s = proceed(th, th.tr.Step)
	} else {
		s = proceed(th, th.tr.Continue)
	}
	return s, d.arrival(th, s)
}

// proceed resumes th, and waits for its next stop.
func proceed(th *thread, resume func(unix.Signal) error) tracee.Stop {
	must(resume(0))
	s, err := th.tr.Wait()
	must(err)
	return s
}

// arrival is where th stands if its stop is for the debugger, else 0.
func (d *debugging) arrival(th *thread, s tracee.Stop) (a inspect.Arrival) {
	if s.Kind != tracee.Signal || s.Signal != unix.SIGTRAP {
		return 0
	}
	info, err := th.tr.SigInfoOf()
	must(err)
	must(th.tr.Refresh())
	at := th.tr.IP()
	if info.Int32(codeOfSigInfo) != siKernel {
		a = inspect.Stepped
	} else if _, ok := d.breaks[at-1]; ok {
		at--
		a = inspect.AtBreak
	} else {
		return 0
	}
	if a == inspect.AtBreak {
		must(th.tr.Jump(at))
	} else if _, ok := d.breaks[at]; ok {
		a = inspect.AtBreak
	}
	th.n.keepAction(th, unix.SIGTRAP)
	return a
}

const (
	codeOfSigInfo = 8 // si_code
	// siKernel is SI_KERNEL, the code of a breakpoint; another code says that one instruction was
	// executed
	siKernel = 0x80
)

// left reports whether th, of another process, has come to a breakpoint that it has from the one
// from which it was forked. The breakpoint is taken away.
func (d *debugging) left(th *thread, s tracee.Stop) bool {
	if s.Kind != tracee.Signal || s.Signal != unix.SIGTRAP {
		return false
	}
	must(th.tr.Refresh())
	at := th.tr.IP() - 1
	var b [1]byte
	was, ok := d.breaks[at]
	if !ok || th.tr.Peek(at, b[:]) != 0 || b[0] != breakpoint {
		return false
	}
	th.tr.Poke(at, []byte{was})
	must(th.tr.Jump(at))
	th.n.keepAction(th, unix.SIGTRAP)
	return true
}
