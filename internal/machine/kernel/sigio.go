package kernel

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// asyncFile sends signals about a file with O_ASYNC (fcntl(2), "Managing
// signals"). It stands in the file's queue like an epoll item.
type asyncFile struct {
	node *Node
	file *OpenFile
	fd   int // by which it was switched on
}

// Reasons of SIGIO, as si_code.
const (
	pollIn  = 1
	pollOut = 2
)

// Async reports whether the file signals.
func (f *OpenFile) Async() bool { return f.async != nil }

// SetAsync switches the signals of a file on or off; false: it has none. fd is
// what si_fd says.
func (f *OpenFile) SetAsync(n *Node, fd int, on bool) bool {
	if _, ok := f.File.(IOSignaler); !ok {
		return false
	}
	switch {
	case on && f.async == nil:
		f.async = &asyncFile{n, f, fd}
		f.File.Changed().AddWatcher(f.async, false)
		f.Flags |= unix.O_ASYNC
	case !on && f.async != nil:
		f.File.Changed().Remove(f.async)
		f.async = nil
		f.Flags &^= unix.O_ASYNC
	}
	return true
}

// Notify implements Waiter.
func (a *asyncFile) Notify(ev Events) {
	if ev == 0 {
		ev = a.file.File.Ready()
	}
	switch {
	case ev&(In|Hup|Err) != 0:
		a.file.Signal(a.node, a.fd, pollIn, In|RdNorm)
	case ev&Out != 0:
		a.file.Signal(a.node, a.fd, pollOut, Out|WrNorm|WrBand)
	}
}

// Signal tells the owner of the file; reason is an si_code. Only a signal chosen by F_SETSIG says
// what for.
func (f *OpenFile) Signal(n *Node, fd, reason int, band Events) {
	info := signal.Info{Signo: int(unix.SIGIO), Code: signal.SIKernel}
	if f.Sig != 0 {
		info = signal.Info{Signo: f.Sig, Code: reason, Band: int(band), FD: fd}
	}
	for _, p := range f.signalOwners(n) {
		if n.Kill(p, info) != 0 { // too many are queued: the plain one at least
			n.Kill(p, signal.Info{Signo: int(unix.SIGIO), Code: signal.SIKernel})
		}
	}
}

// signalOwners are the processes that F_SETOWN named and that are still there.
func (f *OpenFile) signalOwners(n *Node) []*Process {
	switch who := f.Owner; {
	case who < 0:
		return n.Group(-who)
	case n.Procs[who] != nil:
		return []*Process{n.Procs[who]}
	default:
		if t := n.Thread(who); t != nil {
			return []*Process{t.Proc}
		}
	}
	return nil
}
