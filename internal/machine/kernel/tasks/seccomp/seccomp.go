// Package seccomp is the filters that programs put on their own system calls (seccomp(2)): which
// programs of classic BPF are taken, and what they answer. Other packages know which process has
// which filter, and what an answer leads to (internal/machine/sys, internal/machine/node).
package seccomp

import "slices"

// Instruction is one of classic BPF, as struct sock_filter has it.
type Instruction struct {
	Code   uint16
	JT, JF uint8
	K      uint32
}

// Limits of Linux.
const (
	MaxProgram = 4096    // instructions of one filter
	maxPath    = 1 << 15 // of all that a thread has
	overhead   = 4       // that each filter but the newest counts besides
)

// Mode is what a thread's calls are held to.
type Mode uint8

const (
	None   Mode = iota
	Strict      // read, write, exit and rt_sigreturn are left
	ByFilter
)

// Filter is one program. It never changes once it is in force, and threads share it.
type Filter struct {
	Program []Instruction
	Older   *Filter // what was in force before, and still is
}

// State is what a thread has in force.
type State struct {
	Mode   Mode
	Newest *Filter
}

// Count is how many filters there are.
func (s State) Count() (n int) {
	for f := s.Newest; f != nil; f = f.Older {
		n++
	}
	return n
}

// Fits reports whether Linux would put one more filter of so many instructions in force.
func (s State) Fits(instructions int) bool {
	for f := s.Newest; f != nil; f = f.Older {
		instructions += len(f.Program) + overhead
	}
	return instructions <= maxPath
}

// CanBecome reports whether a thread may have the filters of another one instead of its own: they
// are among these.
func (s State) CanBecome(other State) bool {
	if s.Mode != ByFilter {
		return s.Mode == None
	}
	for f := other.Newest; f != nil; f = f.Older {
		if f == s.Newest {
			return true
		}
	}
	return false
}

// Answers in the order of Linux: of several filters' the least one counts, and of equal ones that
// of the newest. KillProcess is the least of all.
const (
	KillProcess = 0x80000000
	KillThread  = 0x00000000
	Trap        = 0x00030000
	Errno       = 0x00050000
	UserNotify  = 0x7fc00000
	Trace       = 0x7ff00000
	Log         = 0x7ffc0000
	Allow       = 0x7fff0000

	action = 0xffff0000
)

// Actions are the answers that have a meaning, as /proc/sys/kernel/seccomp lists them.
var Actions = []uint32{KillProcess, KillThread, Trap, Errno, UserNotify, Trace, Log, Allow}

// Answer is what filters say of a call.
type Answer uint32

// Action is one of Actions; what has no meaning is KillProcess, as in Linux.
func (a Answer) Action() uint32 {
	if v := uint32(a) & action; slices.Contains(Actions, v) {
		return v
	}
	return KillProcess
}

// Data is what goes with it: an error number, say.
func (a Answer) Data() int { return int(a & 0xffff) }

// Call is struct seccomp_data.
type Call struct {
	NR   int32
	Arch uint32 // AUDIT_ARCH_*
	IP   uint64 // behind the instruction that entered it
	Args [6]uint64
}

// callSize is its size in bytes.
const callSize = 64

// words are its 32-bit words in order.
func (c *Call) words() (w [callSize / 4]uint32) {
	w[0], w[1], w[2], w[3] = uint32(c.NR), c.Arch, uint32(c.IP), uint32(c.IP>>32)
	for i, a := range c.Args {
		w[4+2*i], w[5+2*i] = uint32(a), uint32(a>>32)
	}
	return w
}

// Ask asks all filters about a call.
func (s State) Ask(c Call) Answer {
	least, words := Answer(Allow), c.words()
	for f := s.Newest; f != nil; f = f.Older {
		if a := Answer(f.run(&words)); int32(a&action) < int32(least&action) {
			least = a
		}
	}
	return least
}
