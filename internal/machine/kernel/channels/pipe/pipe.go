// Package pipe is pipes and named pipes (pipe(7), fifo(7)).
//
// Read next: fifo.go.
package pipe

import (
	"fmt"
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

const (
	pageSize = 4096
	// Slots is how many pages a new pipe holds (pipe(7)).
	Slots = 16
)

// Pipe is the buffer between pipe ends. As in Linux it is a ring of page slots,
// not of bytes: a write appends to the last page if it fits there, else it
// starts a new page, so many small writes may fill a pipe below its capacity.
type Pipe struct {
	ID    uint64 // inode number as shown
	slots int
	bufs  []buffer

	readers, writers         int // open ends
	readerOpens, writerOpens int // ends ever opened
	// Waiters in read and write and watchers of each kind of end. Those of ends
	// open for both stand in both.
	read, write, both kernel.Queue
	opening           []fifoOpen
	fifo              inode.Key // of a named pipe
	user              int       // whose slots they are (users)
}

// buffer is one used slot; data begins at off of its page.
type buffer struct {
	off    int
	data   []byte
	packet bool // O_DIRECT: one read takes it, whole or cut
	fixed  bool // a page of another file's: nothing is appended to it
}

// New returns an anonymous pipe's two ends.
func New(t *kernel.Thread, packets bool) (r, w *End, e kernel.Errno) {
	p, e := newPipe(t, inode.Key{})
	if e != 0 {
		return nil, nil, e
	}
	r, w = p.end(true, false), p.end(false, true)
	w.Packets = packets
	return r, w, 0
}

// newPipe returns a pipe of t's user, which nobody has open.
func newPipe(t *kernel.Thread, fifo inode.Key) (*Pipe, kernel.Errno) {
	n := t.Node()
	slots, e := takeSlots(t)
	if e != 0 {
		return nil, e
	}
	return &Pipe{ID: n.Sequence(), slots: slots, fifo: fifo, user: t.Cred.UID.Real}, 0
}

// End is one opening of a pipe, for reading, writing or both (named pipes).
type End struct {
	Pipe        *Pipe
	Reads       bool
	Writes      bool
	Packets     bool // O_DIRECT
	writersSeen int  // writerOpens when this end was opened without a writer
}

var _ = kernel.DeclareKind[*End]()

// end adds an open end and wakes the threads that wait in open for one of its kind.
func (p *Pipe) end(reads, writes bool) *End {
	if reads {
		p.readers++
		p.readerOpens++
	}
	if writes {
		p.writers++
		p.writerOpens++
	}
	if reads && p.readers == 1 || writes && p.writers == 1 {
		p.notifyReaders(0)
	}
	return &End{Pipe: p, Reads: reads, Writes: writes, writersSeen: -1}
}

// Name says which named pipe p is, if it is one.
func (p *Pipe) Name() (inode.Key, bool) { return p.fifo, p.fifo != inode.Key{} }

// Open adds an end to a pipe that is open already, as opening /proc/self/fd/N does. It
// does not wait for the other side.
func (p *Pipe) Open(reads, writes bool) *End { return p.end(reads, writes) }

func (p *Pipe) full() bool { return len(p.bufs) >= p.slots }

// Buffered returns the number of bytes to read.
func (p *Pipe) Buffered() int {
	n := 0
	for _, b := range p.bufs {
		n += len(b.data)
	}
	return n
}

// Ended reports whether nobody has the pipe open for writing.
func (p *Pipe) Ended() bool { return p.writers == 0 }

func (p *Pipe) notifyReaders(ev kernel.Events) { p.read.Notify(ev); p.both.Notify(ev) }
func (p *Pipe) notifyWriters(ev kernel.Events) { p.write.Notify(ev); p.both.Notify(ev) }

// Ready implements File.
func (e *End) Ready() kernel.Events {
	p, ev := e.Pipe, kernel.Events(0)
	if e.Reads {
		if len(p.bufs) > 0 {
			ev |= kernel.In | kernel.RdNorm
		}
		if p.writers == 0 && e.writersSeen != p.writerOpens {
			ev |= kernel.Hup
		}
	}
	if e.Writes {
		if !p.full() {
			ev |= kernel.Out | kernel.WrNorm
		}
		if p.readers == 0 {
			ev |= kernel.Err
		}
	}
	return ev
}

// Changed implements File.
func (e *End) Changed() *kernel.Queue {
	switch {
	case e.Reads && e.Writes:
		return &e.Pipe.both
	case e.Reads:
		return &e.Pipe.read
	}
	return &e.Pipe.write
}

// Release implements File.
func (e *End) Release(n *kernel.Node) {
	p := e.Pipe
	if e.Reads {
		p.readers--
	}
	if e.Writes {
		p.writers--
	}
	if (p.readers == 0) != (p.writers == 0) {
		p.notifyReaders(kernel.In | kernel.RdNorm | kernel.Err | kernel.Hup)
		p.notifyWriters(kernel.Out | kernel.WrNorm | kernel.Err | kernel.Hup)
	}
	forget(n, p)
}

// Read implements Reader.
func (e *End) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	p := e.Pipe
	if len(b) == 0 {
		return 0, 0
	}
	if len(p.bufs) == 0 {
		if p.writers > 0 {
			return 0, unix.EAGAIN
		}
		return 0, 0
	}
	wasFull, total := p.full(), 0
	for len(p.bufs) > 0 && total < len(b) {
		s := &p.bufs[0]
		n := copy(b[total:], s.data)
		total += n
		whole := s.packet || n == len(s.data)
		packet := s.packet
		s.off, s.data = s.off+n, s.data[n:]
		if whole {
			p.bufs = kernel.WithoutFirst(p.bufs)
		}
		if packet {
			break
		}
	}
	if wasFull && !p.full() {
		p.notifyWriters(kernel.Out | kernel.WrNorm)
	}
	return total, 0
}

// Write implements Writer.
func (e *End) Write(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	p := e.Pipe
	if len(b) == 0 {
		return 0, 0
	}
	if p.readers == 0 {
		return 0, unix.EPIPE
	}
	n := p.merge(b)
	for n < len(b) && !p.full() {
		k := min(len(b)-n, pageSize)
		p.bufs = append(p.bufs, buffer{data: append([]byte(nil), b[n:n+k]...), packet: e.Packets})
		n += k
	}
	// Linux announces data to edge-triggered watchers on every write, even on
	// one that found no room.
	p.notifyReaders(kernel.In | kernel.RdNorm)
	if n == 0 {
		return 0, unix.EAGAIN
	}
	return n, 0
}

// Splice adds pages of another file, as splice does: one slot for each, never joined.
// The first begins at offset off of its page. It adds what there is room for.
func (e *End) Splice(b []byte, off int) int {
	p, n := e.Pipe, 0
	for n < len(b) && !p.full() {
		k := min(len(b)-n, pageSize-off%pageSize)
		p.bufs = append(p.bufs, buffer{off: off % pageSize, data: append([]byte(nil), b[n:n+k]...), fixed: true})
		n, off = n+k, 0
	}
	p.notifyReaders(kernel.In | kernel.RdNorm)
	return n
}

// merge appends the part of b that is no whole page to the last used page, if
// there is room for all of it, and returns how much that is.
func (p *Pipe) merge(b []byte) int {
	k := len(b) % pageSize
	if k == 0 || len(p.bufs) == 0 {
		return 0
	}
	last := &p.bufs[len(p.bufs)-1]
	if last.packet || last.fixed || last.off+len(last.data)+k > pageSize {
		return 0
	}
	last.data = append(last.data, b[:k]...)
	return k
}

// Size is the capacity in bytes (F_GETPIPE_SZ).
func (p *Pipe) Size() int { return p.slots * pageSize }

// maxSize is the most that F_SETPIPE_SZ gives to those without privileges.
var maxSize = kernel.NewSetting("fs/pipe-max-size", pageSize, math.MaxInt32, 1048576)

// Resize implements F_SETPIPE_SZ.
func (p *Pipe) Resize(t *kernel.Thread, bytes uint64) (int, kernel.Errno) {
	n := t.Node()
	if bytes > 1<<31 {
		return 0, unix.EINVAL
	}
	slots := 1
	for uint64(slots*pageSize) < bytes {
		slots *= 2
	}
	if slots > p.slots && int64(slots*pageSize) > maxSize.Of(n) && !t.Capable(unix.CAP_SYS_RESOURCE) {
		return 0, unix.EPERM
	}
	if slots > p.slots && p.tooMany(t, slots) {
		return 0, unix.EPERM
	}
	if slots < len(p.bufs) {
		return 0, unix.EBUSY
	}
	usersOf.Of(n).add(p.user, slots-p.slots)
	p.slots = slots
	p.notifyWriters(kernel.Out | kernel.WrNorm)
	return p.Size(), 0
}

// Peek returns a copy of at most max bytes from the front, without taking them
// (splice, tee); to them packets are nothing special.
func (p *Pipe) Peek(max int) []byte {
	var out []byte
	for _, s := range p.bufs {
		out = append(out, s.data[:min(len(s.data), max-len(out))]...)
		if len(out) == max {
			break
		}
	}
	return out
}

// Take takes n bytes from the front that Peek returned.
func (p *Pipe) Take(n int) {
	wasFull := p.full()
	for n > 0 {
		s := &p.bufs[0]
		k := min(n, len(s.data))
		s.off, s.data = s.off+k, s.data[k:]
		if n -= k; len(s.data) == 0 {
			p.bufs = kernel.WithoutFirst(p.bufs)
		}
	}
	if wasFull && !p.full() {
		p.notifyWriters(kernel.Out | kernel.WrNorm)
	}
}

// Room returns how many bytes of whole pages can be written now.
func (p *Pipe) Room() int { return (p.slots - len(p.bufs)) * pageSize }

// Buffered implements Sized.
func (e *End) Buffered() int { return e.Pipe.Buffered() }

// Ioctl implements Ioctler.
func (e *End) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	if cmd != unix.TIOCINQ {
		return 0, unix.ENOTTY
	}
	return 0, t.StoreInt(arg, e.Pipe.Buffered())
}

// SignalsIO implements IOSignaler.
func (e *End) SignalsIO() {}

// NamedBy implements kernel.Named.
func (e *End) NamedBy() (inode.Key, bool) { return e.Pipe.Name() }

// Describe implements Describer.
func (e *End) Describe() string {
	if e.Pipe.fifo != (inode.Key{}) {
		return "fifo"
	}
	return fmt.Sprintf("pipe:[%d]", e.Pipe.ID)
}

// StatMode is st_mode.
func (e *End) StatMode() uint32 { return unix.S_IFIFO | 0o600 }
