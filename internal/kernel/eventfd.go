package kernel

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"
)

// EventFD is a counter (eventfd(2)).
type EventFD struct {
	Count     uint64
	Semaphore bool
	changed   Queue
}

// Ready implements File.
func (f *EventFD) Ready() Events {
	var ev Events
	if f.Count > 0 {
		ev |= In
	}
	if f.Count < math.MaxUint64-1 {
		ev |= Out
	}
	if f.Count == math.MaxUint64 {
		ev |= Err
	}
	return ev
}

// Changed implements File.
func (f *EventFD) Changed() *Queue { return &f.changed }

// Release implements File.
func (f *EventFD) Release(*Node) {}

// Read implements Reader.
func (f *EventFD) Read(_ *Thread, b []byte) (int, Errno) {
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
	f.changed.Notify(Out)
	return 8, 0
}

// Write implements Writer.
func (f *EventFD) Write(_ *Thread, b []byte) (int, Errno) {
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
	f.changed.Notify(In)
	return 8, 0
}

// Signal adds one without waiting, as the kernel itself does (AIO).
func (f *EventFD) Signal() {
	if f.Count < math.MaxUint64 {
		f.Count++
	}
	f.changed.Notify(In)
}

// Describe implements Describer.
func (f *EventFD) Describe() string { return "anon_inode:[eventfd]" }
