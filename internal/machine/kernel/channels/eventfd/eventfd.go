// Package eventfd is counters with a descriptor (eventfd(2)).
package eventfd

import (
	"encoding/binary"
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// File is a counter (eventfd(2)).
type File struct {
	Count     uint64
	Semaphore bool
	changed   kernel.Queue
}

var _ = kernel.DeclareKind[*File]()

// Ready implements File.
func (f *File) Ready() kernel.Events {
	var ev kernel.Events
	if f.Count > 0 {
		ev |= kernel.In
	}
	if f.Count < math.MaxUint64-1 {
		ev |= kernel.Out
	}
	if f.Count == math.MaxUint64 {
		ev |= kernel.Err
	}
	return ev
}

// Changed implements File.
func (f *File) Changed() *kernel.Queue { return &f.changed }

// Release implements File.
func (f *File) Release(*kernel.Node) {}

// Read implements Reader.
func (f *File) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) < 8 {
		return 0, unix.EINVAL
	}
	if f.Count == 0 {
		return 0, unix.EAGAIN
	}
	v := f.Count
	if f.Semaphore {
		v = 1
	}
	f.Count -= v
	binary.LittleEndian.PutUint64(b, v)
	f.changed.Notify(kernel.Out)
	return 8, 0
}

// Write implements Writer.
func (f *File) Write(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) != 8 {
		return 0, unix.EINVAL
	}
	v := binary.LittleEndian.Uint64(b)
	if v == math.MaxUint64 {
		return 0, unix.EINVAL
	}
	if f.Count > math.MaxUint64-1-v {
		return 0, unix.EAGAIN
	}
	f.Count += v
	f.changed.Notify(kernel.In)
	return 8, 0
}

// Signal adds one without waiting, as the kernel itself does (AIO).
func (f *File) Signal() {
	if f.Count < math.MaxUint64 {
		f.Count++
	}
	f.changed.Notify(kernel.In)
}

// Describe implements Describer.
func (f *File) Describe() string { return "anon_inode:[eventfd]" }
