// Package signal is what signals are made of: sets, siginfo_t, dispositions and their defaults
// (signal(7)). The kernel holds the queues, and decides which thread takes which signal.
package signal

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Set is a set of signals; bit s-1 is signal s.
type Set uint64

// Has reports whether signal s is in the set; programs may ask with any number.
func (m Set) Has(s int) bool { return s > 0 && s <= Max && m>>(s-1)&1 != 0 }

// SetOf returns the set of some signals.
func SetOf(signals ...int) Set {
	var m Set
	for _, s := range signals {
		m |= 1 << (s - 1)
	}
	return m
}

// Numbers of signals that package unix has no names for.
const (
	Max   = 64
	RTMin = 32 // first real-time signal as the kernel counts them
)

// Sets with a meaning of their own.
var (
	Unblockable = SetOf(int(unix.SIGKILL), int(unix.SIGSTOP))
	Stops       = SetOf(int(unix.SIGSTOP), int(unix.SIGTSTP), int(unix.SIGTTIN), int(unix.SIGTTOU))
	Synchronous = SetOf(int(unix.SIGSEGV), int(unix.SIGBUS), int(unix.SIGILL), int(unix.SIGTRAP), int(unix.SIGFPE),
		int(unix.SIGSYS))
)

// Values of si_code (sigaction(2)).
const (
	SIUser   = 0
	SIKernel = 0x80
	SIQueue  = -1
	SITimer  = -2
	SIMesgq  = -3
	SIAsync  = -4
	SITkill  = -6

	lastPoll = 6 // POLL_HUP, the last si_code of SIGIO

	CLDExited    = 1
	CLDKilled    = 2
	CLDDumped    = 3
	CLDStopped   = 5
	CLDContinued = 6
)

// Info is a queued signal with the parts of siginfo_t that are meant.
type Info struct {
	Signo, Code, Errno int
	PID, UID           int    // sender, or the child with SIGCHLD
	Value              uint64 // sigqueue, timers; of a call, its number and architecture
	Status             int    // SIGCHLD
	// how often the timer had been set, which tells signals of its earlier settings
	TimerSet         int
	TimerID, Overrun int    // SI_TIMER
	Band, FD         int    // SIGIO
	Addr             uint64 // faults, calls
}

// InfoSize is the size of siginfo_t.
const InfoSize = 128

// Encode lays i out as siginfo_t.
func (i Info) Encode() []byte {
	b := make([]byte, InfoSize)
	put32 := func(off int, v int) { binary.LittleEndian.PutUint32(b[off:], uint32(v)) }
	put64 := func(off int, v uint64) { binary.LittleEndian.PutUint64(b[off:], v) }
	put32(0, i.Signo)
	put32(4, i.Errno)
	put32(8, i.Code)
	switch i.layout() {
	case layoutTimer:
		put32(16, i.TimerID)
		put32(20, i.Overrun)
		put64(24, i.Value)
	case layoutChild:
		put32(16, i.PID)
		put32(20, i.UID)
		put32(24, i.Status)
	case layoutFault:
		put64(16, i.Addr)
	case layoutCall:
		put64(16, i.Addr)
		put64(24, i.Value)
	case layoutPoll:
		put64(16, uint64(i.Band))
		put32(24, i.FD)
	default:
		put32(16, i.PID)
		put32(20, i.UID)
		put64(24, i.Value)
	}
	return b
}

// DecodeInfo reads a siginfo_t of InfoSize bytes.
func DecodeInfo(b []byte) Info {
	get32 := func(off int) int { return int(int32(binary.LittleEndian.Uint32(b[off:]))) }
	get64 := func(off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	i := Info{Signo: get32(0), Errno: get32(4), Code: get32(8)}
	switch i.layout() {
	case layoutTimer:
		i.TimerID, i.Overrun, i.Value = get32(16), get32(20), get64(24)
	case layoutChild:
		i.PID, i.UID, i.Status = get32(16), get32(20), get32(24)
	case layoutFault:
		i.Addr = get64(16)
	case layoutCall:
		i.Addr, i.Value = get64(16), get64(24)
	case layoutPoll:
		i.Band, i.FD = int(get64(16)), get32(24)
	default:
		i.PID, i.UID, i.Value = get32(16), get32(20), get64(24)
	}
	return i
}

// infoLayout is which member of siginfo_t's union is meant.
type infoLayout uint8

const (
	layoutSender infoLayout = iota
	layoutTimer
	layoutChild
	layoutFault
	layoutPoll
	layoutCall
)

func (i Info) layout() infoLayout {
	if i.Code == SITimer {
		return layoutTimer
	}
	if i.Code <= 0 || i.Code == SIKernel {
		return layoutSender
	}
	switch {
	case i.Signo == int(unix.SIGCHLD):
		return layoutChild
	case i.Signo == int(unix.SIGIO):
		return layoutPoll
	case i.Signo == int(unix.SIGSYS):
		return layoutCall
	case Synchronous.Has(i.Signo):
		return layoutFault
	case i.Code <= lastPoll: // F_SETSIG
		return layoutPoll
	}
	return layoutSender
}

// Action is a disposition as rt_sigaction(2) has it.
type Action struct {
	Handler  uint64 // SIG_DFL 0, SIG_IGN 1
	Flags    uint64 // SA_*
	Restorer uint64
	Mask     Set
}

const (
	Dfl = 0
	Ign = 1
)

// TellsInfo reports whether a program looks at the siginfo_t of a signal that it takes: a handler
// with SA_SIGINFO does, and so does a call that waits for signals without a handler.
func (a *Action) TellsInfo() bool {
	return a.Handler == Dfl || a.Handler == Ign || a.Flags&SASigInfo != 0
}

// Flags of a disposition that package unix has no names for.
const (
	SANoCldStop = 1
	SANoCldWait = 2
	SASigInfo   = 0x4
	SARestart   = 0x10000000
	SANoDefer   = 0x40000000
	SAResetHand = 0x80000000
)

// Actions are the dispositions by signal number: shared by the threads of a
// process, and between processes by CLONE_SIGHAND.
type Actions [Max + 1]Action

// Handles reports whether the process has a handler for a signal.
func (a *Actions) Handles(sig int) bool { return a[sig].Handler != Dfl && a[sig].Handler != Ign }

// Exec resets what had a handler; what was ignored stays ignored.
func (a *Actions) Exec() *Actions {
	var c Actions
	for s := range a {
		if a[s].Handler == Ign {
			c[s].Handler = Ign
		}
	}
	return &c
}

// Fork returns a copy.
func (a *Actions) Fork() *Actions { c := *a; return &c }

// DefaultAction is what SIG_DFL does.
type DefaultAction uint8

const (
	ActTerminate DefaultAction = iota
	ActIgnore
	ActCore
	ActStop
	ActContinue
)

// Default returns what SIG_DFL means for signal s (signal(7)).
func Default(s int) DefaultAction {
	switch unix.Signal(s) {
	case unix.SIGCHLD, unix.SIGURG, unix.SIGWINCH:
		return ActIgnore
	case unix.SIGCONT:
		return ActContinue
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return ActStop
	case unix.SIGQUIT, unix.SIGILL, unix.SIGABRT, unix.SIGFPE, unix.SIGSEGV, unix.SIGBUS,
		unix.SIGSYS, unix.SIGTRAP, unix.SIGXCPU, unix.SIGXFSZ:
		return ActCore
	}
	return ActTerminate
}

// Drop returns what is queued less the signals of set.
func Drop(q []Info, set Set) []Info {
	var kept []Info
	for _, i := range q {
		if !set.Has(i.Signo) {
			kept = append(kept, i)
		}
	}
	return kept
}

// Pending are the signals that are queued.
func Pending(q []Info) Set {
	var m Set
	for _, i := range q {
		m |= SetOf(i.Signo)
	}
	return m
}
