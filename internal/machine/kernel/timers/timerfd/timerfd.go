// Package timerfd is timers with a descriptor (timerfd_create(2)).
package timerfd

import (
	"encoding/binary"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// File is a timer with a descriptor (timerfd_create(2)), after Linux's
// fs/timerfd.c: an interval timer that has expired is not set again until
// someone reads it or asks for its setting; the expirations that were due
// meanwhile are counted then.
type File struct {
	Clock    int // CLOCK_*
	node     *kernel.Node
	when     ariadne.Time // of the next expiry; valid when timer is set or expired
	interval ariadne.Time
	ticks    uint64
	expired  bool
	timer    *kernel.Timer
	changed  kernel.Queue
	// cancels: it was set to be cancelled when the clock is set; cancelled: it was, and
	// nobody was told yet.
	cancels, cancelled bool
}

var _ = kernel.DeclareKind[*File]()

// real are the timers of a node that were set to a time of CLOCK_REALTIME, in this order.
var real = kernel.NewSlot[*kernel.Node, []*File]()

func init() { kernel.Register("timerfd", kernel.Hooks{RealSet: realSet}) }

func realSet(n *kernel.Node, by ariadne.Time) {
	for _, f := range *real.Of(n) {
		if f.when != ariadne.Never {
			f.when = kernel.RealComes(f.when, by)
		}
		if f.timer != nil {
			n.StopTimer(f.timer)
			f.timer = n.AddTimer(f.when, f)
		}
		if f.cancels {
			f.cancelled = true
			f.ticks++
			f.changed.Notify(kernel.In)
		}
	}
}

// New returns a timer that is not set.
func New(n *kernel.Node, clock int) *File { return &File{Clock: clock, node: n} }

// Ready implements File.
func (f *File) Ready() kernel.Events {
	if f.ticks > 0 {
		return kernel.In
	}
	return 0
}

// Changed implements File.
func (f *File) Changed() *kernel.Queue { return &f.changed }

// Release implements File.
func (f *File) Release(*kernel.Node) { f.cancel() }

// Expire implements Expirer.
func (f *File) Expire(*kernel.Timer) {
	f.timer, f.expired = nil, true
	f.ticks++
	f.changed.Notify(kernel.In)
}

// Read implements Reader: the number of expirations since the last read.
func (f *File) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) < 8 {
		return 0, unix.EINVAL
	}
	if f.ticks == 0 {
		return 0, unix.EAGAIN
	}
	if f.Cancelled() {
		f.ticks, f.expired = 0, false
		return 0, unix.ECANCELED
	}
	if f.interval > 0 { // their number tells how long ago the first one was
		f.node.TellTime()
	}
	f.catchUp()
	binary.LittleEndian.PutUint64(b, f.ticks)
	f.ticks, f.expired = 0, false
	return 8, 0
}

// catchUp counts the expirations of an interval timer since its first and sets
// it for the next.
func (f *File) catchUp() {
	if !f.expired || f.interval == 0 {
		return
	}
	f.expired = false
	missed := (f.node.Now - f.when) / f.interval
	f.ticks += uint64(missed)
	f.when += (missed + 1) * f.interval
	f.timer = f.node.AddTimer(f.when, f)
}

// Get returns the time to the next expiry, 0 when there is none, and the
// interval.
func (f *File) Get() (left, interval ariadne.Time) {
	f.catchUp()
	if f.timer != nil {
		left = max(0, f.when-f.node.Now)
	}
	return left, f.interval
}

// Cancelled reports, once, whether the clock was set under a timer that is cancelled by that.
func (f *File) Cancelled() bool {
	was := f.cancelled && f.cancels
	f.cancelled = f.cancelled && !was
	return was
}

// Waits reports whether it is set and has not expired.
func (f *File) Waits() bool { return f.timer != nil }

// SetReal arms it for a time of CLOCK_REALTIME, at which the node's time is when. cancels: it
// ends when that clock is set.
func (f *File) SetReal(when, interval ariadne.Time, cancels bool) {
	f.Set(when, interval)
	f.cancels = cancels
	list := real.Of(f.node)
	*list = append(slices.Clip(*list), f)
}

// Set arms the timer for the absolute node time when. With Never it is disarmed.
func (f *File) Set(when, interval ariadne.Time) {
	f.cancel()
	f.ticks, f.expired = 0, false
	f.when, f.interval = when, interval
	switch {
	case when == ariadne.Never:
	case when <= f.node.Now:
		f.Expire(nil)
	default:
		f.timer = f.node.AddTimer(when, f)
	}
}

func (f *File) cancel() {
	if list := real.Peek(f.node); list != nil {
		*list = slices.DeleteFunc(slices.Clone(*list), func(g *File) bool { return g == f })
	}
	f.cancels = false
	if f.timer != nil {
		f.node.StopTimer(f.timer)
		f.timer = nil
	}
}

// Describe implements Describer.
func (f *File) Describe() string { return "anon_inode:[timerfd]" }
