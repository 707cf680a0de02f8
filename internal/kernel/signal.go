package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// SigSet is a set of signals; bit s-1 is signal s.
type SigSet uint64

// Has reports whether signal s is in the set; programs may ask with any number.
func (m SigSet) Has(s int) bool { return s > 0 && s <= NumSignals && m>>(s-1)&1 != 0 }

// Sig returns the set of some signals.
func Sig(signals ...int) SigSet {
	var m SigSet
	for _, s := range signals {
		m |= 1 << (s - 1)
	}
	return m
}

// Numbers of signals that package unix has no names for.
const (
	NumSignals = 64
	RTMin      = 32 // first real-time signal as the kernel counts them
)

// Sets with a meaning of their own.
var (
	unblockable = Sig(int(unix.SIGKILL), int(unix.SIGSTOP))
	stopSignals = Sig(int(unix.SIGSTOP), int(unix.SIGTSTP), int(unix.SIGTTIN), int(unix.SIGTTOU))
	synchronous = Sig(int(unix.SIGSEGV), int(unix.SIGBUS), int(unix.SIGILL), int(unix.SIGTRAP), int(unix.SIGFPE), int(unix.SIGSYS))
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

// SigInfo is a queued signal with the parts of siginfo_t that are meant.
type SigInfo struct {
	Signo, Code, Errno int
	PID, UID           int    // sender, or the child with SIGCHLD
	Value              uint64 // sigqueue, timers
	Status             int    // SIGCHLD
	TimerID, Overrun   int    // SI_TIMER
	Band, FD           int    // SIGIO
	Addr               uint64 // faults
}

// SigInfoSize is the size of siginfo_t.
const SigInfoSize = 128

// Encode lays i out as siginfo_t.
func (i SigInfo) Encode() []byte {
	b := make([]byte, SigInfoSize)
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

// DecodeSigInfo reads a siginfo_t of SigInfoSize bytes.
func DecodeSigInfo(b []byte) SigInfo {
	get32 := func(off int) int { return int(int32(binary.LittleEndian.Uint32(b[off:]))) }
	get64 := func(off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	i := SigInfo{Signo: get32(0), Errno: get32(4), Code: get32(8)}
	switch i.layout() {
	case layoutTimer:
		i.TimerID, i.Overrun, i.Value = get32(16), get32(20), get64(24)
	case layoutChild:
		i.PID, i.UID, i.Status = get32(16), get32(20), get32(24)
	case layoutFault:
		i.Addr = get64(16)
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
)

func (i SigInfo) layout() infoLayout {
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
	case synchronous.Has(i.Signo):
		return layoutFault
	case i.Code <= lastPoll: // F_SETSIG
		return layoutPoll
	}
	return layoutSender
}

// SigAction is a disposition as rt_sigaction(2) has it.
type SigAction struct {
	Handler  uint64 // SIG_DFL 0, SIG_IGN 1
	Flags    uint64 // SA_*
	Restorer uint64
	Mask     SigSet
}

const (
	SigDfl = 0
	SigIgn = 1
)

// Flags of a disposition that package unix has no names for.
const (
	SANoCldStop = 1
	SANoCldWait = 2
	SARestart   = 0x10000000
	SANoDefer   = 0x40000000
	SAResetHand = 0x80000000
)

// Actions are the dispositions by signal number: shared by the threads of a
// process, and between processes by CLONE_SIGHAND.
type Actions [NumSignals + 1]SigAction

// exec resets what had a handler; what was ignored stays ignored.
func (a *Actions) exec() *Actions {
	var c Actions
	for s := range a {
		if a[s].Handler == SigIgn {
			c[s].Handler = SigIgn
		}
	}
	return &c
}

// fork returns a copy.
func (a *Actions) fork() *Actions { c := *a; return &c }

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

// Ignores reports whether the process's disposition of s is to do nothing.
func (p *Process) Ignores(s int) bool {
	switch p.Actions[s].Handler {
	case SigIgn:
		return !unblockable.Has(s)
	case SigDfl:
		d := Default(s)
		return d == ActIgnore || d == ActContinue
	}
	return false
}

// Catch returns the disposition with which a handler is about to be called for
// s, and resets it when it has SA_RESETHAND.
func (p *Process) Catch(s int) SigAction {
	a := p.Actions[s]
	if a.Flags&SAResetHand != 0 {
		p.Actions[s].Handler = SigDfl
	}
	return a
}

// SetAction changes the disposition of s. What is pending and now ignored is
// dropped, blocked or not (POSIX 3.3.1.3; Linux's do_sigaction).
func (p *Process) SetAction(s int, a SigAction) {
	a.Mask &^= unblockable
	p.Actions[s] = a
	if !p.Ignores(s) {
		p.rearmIgnored(s)
		return
	}
	p.flush(Sig(s))
}

// flush takes the signals of set out of all queues of the process.
func (p *Process) flush(set SigSet) {
	p.Pending = dropSignals(p.Pending, set)
	for _, t := range p.Threads {
		t.Pending = dropSignals(t.Pending, set)
	}
}

func dropSignals(q []SigInfo, set SigSet) []SigInfo {
	var kept []SigInfo
	for _, i := range q {
		if !set.Has(i.Signo) {
			kept = append(kept, i)
		}
	}
	return kept
}
