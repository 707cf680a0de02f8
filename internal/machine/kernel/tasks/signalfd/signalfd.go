// Package signalfd is signals read as data (signalfd(2)).
package signalfd

import (
	"encoding/binary"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// InfoSize is the size of struct signalfd_siginfo.
const InfoSize = 128

// File reads signals as if they were data (signalfd(2)). A reader takes its
// own pending signals; poll and epoll look at those of the process that made
// the descriptor.
type File struct {
	Mask signal.Set
	proc *kernel.Process
}

var _ = kernel.DeclareKind[*File]()

// New returns a descriptor's file for the signals of mask.
func New(p *kernel.Process, mask signal.Set) *File {
	return &File{Mask: mask &^ signal.Unblockable, proc: p}
}

// SetMask changes which signals it reads.
func (f *File) SetMask(mask signal.Set) {
	f.Mask = mask &^ signal.Unblockable
	f.proc.Signals.Notify(0)
}

// Ready implements File.
func (f *File) Ready() kernel.Events {
	pending := signal.Pending(f.proc.Pending)
	for _, t := range f.proc.Threads {
		pending |= signal.Pending(t.Pending)
	}
	if pending&f.Mask != 0 {
		return kernel.In
	}
	return 0
}

// Changed implements File.
func (f *File) Changed() *kernel.Queue { return &f.proc.Signals }

// Release implements File.
func (f *File) Release(*kernel.Node) {}

// Read implements Reader: as many whole records as there are signals and room.
func (f *File) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) < InfoSize {
		return 0, unix.EINVAL
	}
	n := 0
	for n+InfoSize <= len(b) {
		info, ok := t.TakeSignal(f.Mask)
		if !ok {
			break
		}
		encode(info, b[n:])
		n += InfoSize
	}
	if n == 0 {
		return 0, unix.EAGAIN
	}
	return n, 0
}

// encode lays i out as struct signalfd_siginfo.
func encode(i signal.Info, b []byte) {
	clear(b[:InfoSize])
	for off, v := range map[int]int{0: i.Signo, 4: i.Errno, 8: i.Code, 12: i.PID, 16: i.UID, 20: i.FD,
		24: i.TimerID, 28: i.Band, 32: i.Overrun, 40: i.Status, 44: int(i.Value)} {
		binary.LittleEndian.PutUint32(b[off:], uint32(v))
	}
	binary.LittleEndian.PutUint64(b[48:], i.Value)
	binary.LittleEndian.PutUint64(b[72:], i.Addr)
}

// Describe implements Describer.
func (f *File) Describe() string { return "anon_inode:[signalfd]" }
