package kernel

import "golang.org/x/sys/unix"

// SigSet is a set of signals; bit s-1 is signal s.
type SigSet uint64

// Has reports whether signal s is in the set.
func (m SigSet) Has(s int) bool { return m>>(s-1)&1 != 0 }

// Sig returns the set of one signal.
func Sig(s int) SigSet { return 1 << (s - 1) }

// SigInfo is a queued signal with the parts of siginfo_t that are meant.
type SigInfo struct {
	Signo, Code, Errno int
	PID, UID           int    // sender, or the child with SIGCHLD
	Value              uint64 // sigqueue, timers
	Status             int    // SIGCHLD
	TimerID, Overrun   int    // SI_TIMER
	Band, FD           int    // SIGIO
}

// SigAction is a disposition as rt_sigaction(2) has it.
type SigAction struct {
	Handler  uint64 // SIG_DFL 0, SIG_IGN 1
	Flags    uint64
	Restorer uint64
	Mask     SigSet
}

const (
	SigDfl = 0
	SigIgn = 1
)

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
