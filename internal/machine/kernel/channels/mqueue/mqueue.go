// Package mqueue is POSIX message queues (mq_overview(7)).
package mqueue

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Limits of POSIX message queues (mq_overview(7)).
const (
	PrioMax = 32768

	maxQueues  = 256 // but for the privileged
	maxMsgs    = 10
	maxSize    = 8192
	hardMsgs   = 65536
	hardSize   = 16 << 20
	perMessage = 96 // what Linux counts for one besides its bytes
)

// Queues are the node's POSIX message queues that have a name.
type Queues struct {
	queues []*Queue
	bytes  map[int]int // counted against RLIMIT_MSGQUEUE, by user
}

var queuesOf = kernel.NewSlot[*kernel.Node, Queues]()

// Of returns the node's queues.
func Of(n *kernel.Node) *Queues { return queuesOf.Of(n) }

func init() { kernel.Register("mqueue", kernel.Hooks{DescriptorClosed: flush}) }

// Queue is one queue. It lasts as long as it has a name or is open.
type Queue struct {
	Name             string
	MaxMsgs, MsgSize int
	ipc.Perm
	msgs               []message // in the order in which they are received
	opens              int
	named              bool
	senders, receivers []*waiter // in order of arrival
	notify             Notify
	notified           *kernel.Process // whom notify is for, or nil
	changed            kernel.Queue
}

type message struct {
	prio uint32
	data []byte
}

// waiter is a thread that waits to send msg, or to receive one.
type waiter struct {
	t     *kernel.Thread
	queue *Queue
	msg   message
}

var _ = kernel.DeclareKind[*waiter]()

// Notify says how mq_notify(3) tells of a message.
type Notify struct {
	Kind   int // SIGEV_*
	Signo  int
	Value  uint64
	Cookie []byte   // SIGEV_THREAD: what goes to
	Socket Receiver // which libc reads
}

// Receiver is a socket that is given a cookie.
type Receiver interface{ Push(datagram []byte) }

// Kinds of Notify, and what the end of a cookie says.
const (
	SigevSignal, SigevNone, SigevThread = 0, 1, 2
	CookieSize                          = 32
	wokenUp, removed                    = 1, 2
	siMesgQ                             = -3
)

// File is an open queue.
type File struct {
	Queue *Queue
	pos   int
}

var _ = kernel.DeclareKind[*File]()

// Open is mq_open(2). size is what mq_maxmsg and mq_msgsize are to be, or nil.
func (s *Queues) Open(t *kernel.Thread, name string, flags int, mode uint32, size *[2]int64) (*File, kernel.Errno) {
	acc := flags & unix.O_ACCMODE
	for _, q := range s.queues {
		if q.Name != name {
			continue
		}
		rights := map[int]uint32{unix.O_RDONLY: 4, unix.O_WRONLY: 2, unix.O_RDWR: 6}[acc]
		switch {
		case flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
			return nil, unix.EEXIST
		case rights == 0:
			return nil, unix.EINVAL
		case !q.permits(t, rights):
			return nil, unix.EACCES
		}
		q.opens++
		return &File{Queue: q}, 0
	}
	if flags&unix.O_CREAT == 0 {
		return nil, unix.ENOENT
	}
	q, e := s.create(t, name, mode, size)
	if e != 0 {
		return nil, e
	}
	q.opens++
	return &File{Queue: q}, 0
}

// permits checks the mode as that of a file.
func (q *Queue) permits(t *kernel.Thread, rights uint32) bool {
	c, granted := &t.Cred, q.Mode
	if c.UID.FS == q.UID {
		granted >>= 6
	} else if c.GID.FS == q.GID || slices.Contains(c.Groups, q.GID) {
		granted >>= 3
	}
	return rights&^granted&7 == 0 || t.Capable(unix.CAP_DAC_OVERRIDE)
}

func (s *Queues) create(t *kernel.Thread, name string, mode uint32, size *[2]int64) (*Queue, kernel.Errno) {
	privileged := t.Capable(unix.CAP_SYS_RESOURCE)
	if len(s.queues) >= maxQueues && !privileged {
		return nil, unix.ENOSPC
	}
	msgs, bytes := int64(maxMsgs), int64(maxSize)
	if size != nil {
		msgs, bytes = size[0], size[1]
		mostMsgs, mostBytes := int64(maxMsgs), int64(maxSize)
		if privileged {
			mostMsgs, mostBytes = hardMsgs, hardSize
		}
		if msgs <= 0 || bytes <= 0 || msgs > mostMsgs || bytes > mostBytes {
			return nil, unix.EINVAL
		}
	}
	q := &Queue{Name: name, MaxMsgs: int(msgs), MsgSize: int(bytes), named: true,
		Perm: ipc.NewPerm(t, 0, mode&^uint32(t.Proc.Umask))}
	q.UID, q.GID = t.Cred.UID.FS, t.Cred.GID.FS
	if s.bytes == nil {
		s.bytes = map[int]int{}
	}
	if soft, _ := t.Proc.Rlimit(unix.RLIMIT_MSGQUEUE); uint64(s.bytes[q.UID]+q.counted()) > soft {
		return nil, unix.EMFILE
	}
	s.bytes[q.UID] += q.counted()
	s.queues = append(s.queues, q)
	return q, 0
}

// counted is what the queue takes of RLIMIT_MSGQUEUE.
func (q *Queue) counted() int {
	const tree = perMessage / 2
	return q.MaxMsgs*(tree+q.MsgSize) + min(q.MaxMsgs, PrioMax)*tree
}

// Unlink is mq_unlink(2).
func (s *Queues) Unlink(t *kernel.Thread, name string) kernel.Errno {
	for i, q := range s.queues {
		if q.Name != name {
			continue
		}
		if uid := t.Cred.UID.FS; uid != q.UID && uid != 0 && !t.Capable(unix.CAP_FOWNER) {
			return unix.EPERM
		}
		s.queues = slices.Delete(s.queues, i, i+1)
		q.named = false
		s.forget(q)
		return 0
	}
	return unix.ENOENT
}

func (s *Queues) forget(q *Queue) {
	if !q.named && q.opens == 0 {
		s.bytes[q.UID] -= q.counted()
	}
}

// Ready implements File.
func (d *File) Ready() kernel.Events {
	var ev kernel.Events
	if len(d.Queue.msgs) > 0 {
		ev = kernel.In | kernel.RdNorm
	}
	if len(d.Queue.msgs) < d.Queue.MaxMsgs {
		ev |= kernel.Out | kernel.WrNorm
	}
	return ev
}

// Changed implements File.
func (d *File) Changed() *kernel.Queue { return &d.Queue.changed }

// Release implements File.
func (d *File) Release(n *kernel.Node) {
	d.Queue.opens--
	queuesOf.Of(n).forget(d.Queue)
}

// Describe implements Describer; StatMode Moder.
func (d *File) Describe() string {
	if !d.Queue.named {
		return "/dev/mqueue/" + d.Queue.Name + " (deleted)"
	}
	return "/dev/mqueue/" + d.Queue.Name
}
func (d *File) StatMode() uint32 { return unix.S_IFREG | d.Queue.Mode }

// Read implements Reader: what /dev/mqueue shows of the queue.
func (d *File) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	q, bytes, pid, kind, signo := d.Queue, 0, 0, 0, 0
	for _, m := range q.msgs {
		bytes += len(m.data)
	}
	if q.notified != nil {
		pid, kind = q.notified.PID, q.notify.Kind
		if kind == SigevSignal {
			signo = q.notify.Signo
		}
	}
	text := fmt.Sprintf("QSIZE:%-10d NOTIFY:%-5d SIGNO:%-5d NOTIFY_PID:%-6d\n", bytes, kind, signo, pid)
	n := copy(b, text[min(d.pos, len(text)):])
	d.pos += n
	return n, 0
}

// shownSize is how large a queue appears to be.
const shownSize = 80

// Seek is lseek(2): it moves where Read goes on.
func (d *File) Seek(by int64, whence int) (at int64, e kernel.Errno) {
	switch whence {
	case unix.SEEK_CUR:
		by += int64(d.pos)
	case unix.SEEK_END:
		by += shownSize
	case unix.SEEK_DATA, unix.SEEK_HOLE:
		if by >= shownSize {
			return 0, unix.ENXIO
		}
		if whence == unix.SEEK_HOLE {
			by = shownSize
		}
	}
	if by < 0 {
		return 0, unix.EINVAL
	}
	d.pos = int(by)
	return by, 0
}

// Attr is struct mq_attr, but for the flags.
func (q *Queue) Attr() (maxMsgs, msgSize, messages int) { return q.MaxMsgs, q.MsgSize, len(q.msgs) }

// Full and Empty say that a sender or a receiver has to wait.
func (q *Queue) Full() bool  { return len(q.msgs) == q.MaxMsgs }
func (q *Queue) Empty() bool { return len(q.msgs) == 0 }

// insert puts a message behind those of its priority.
func (q *Queue) insert(m message) {
	at := len(q.msgs)
	for at > 0 && q.msgs[at-1].prio < m.prio {
		at--
	}
	q.msgs = slices.Insert(q.msgs, at, m)
}

// Send gives a message to the receiver that has waited longest, or appends it. There is room.
func (q *Queue) Send(t *kernel.Thread, prio uint32, data []byte) {
	m := message{prio, data}
	if len(q.receivers) > 0 {
		w := q.receivers[0]
		q.receivers = q.receivers[1:]
		w.msg = m
		w.wake()
		return
	}
	q.insert(m)
	q.notifyArrival(t)
	q.changed.Notify(kernel.In)
}

// Receive takes the oldest message of the highest priority, and lets the sender that has
// waited longest go on. There is one.
func (q *Queue) Receive(t *kernel.Thread) (prio uint32, data []byte) {
	m := q.msgs[0]
	q.msgs = q.msgs[1:]
	if len(q.senders) > 0 {
		w := q.senders[0]
		q.senders = q.senders[1:]
		q.insert(w.msg)
		w.wake()
		q.notifyArrival(w.t) // not if there are others
	}
	q.changed.Notify(kernel.Out)
	return m.prio, m.data
}

func (w *waiter) wake() {
	w.t.Wait.Woken = true
	w.t.Unpark()
}

// WaitToSend and WaitToReceive enter t as one who waits. Once it is woken its message
// has gone, or Received returns the one it got.
func (q *Queue) WaitToSend(t *kernel.Thread, prio uint32, data []byte) {
	w := &waiter{t, q, message{prio, data}}
	t.Wait.Entry = w
	q.senders = append(q.senders, w)
}

func (q *Queue) WaitToReceive(t *kernel.Thread) {
	w := &waiter{t: t, queue: q}
	t.Wait.Entry = w
	q.receivers = append(q.receivers, w)
}

// Waits reports whether t is entered.
func Waits(t *kernel.Thread) bool { _, ok := t.Wait.Entry.(*waiter); return ok }

// Received is the message that a woken receiver got.
func Received(t *kernel.Thread) (prio uint32, data []byte) {
	m := t.Wait.Entry.(*waiter).msg
	return m.prio, m.data
}

// Leave implements WaitEntry: it ends w's wait.
func (w *waiter) Leave(t *kernel.Thread) {
	other := func(x *waiter) bool { return x == w }
	q := w.queue
	q.senders, q.receivers = slices.DeleteFunc(q.senders, other), slices.DeleteFunc(q.receivers, other)
	t.Wait.Entry = nil
}

// Notify is mq_notify(2): p is told of the next message that comes to the empty queue.
func (q *Queue) Notify(p *kernel.Process, how Notify) kernel.Errno {
	if q.notified != nil {
		return unix.EBUSY
	}
	q.notified, q.notify = p, how
	return 0
}

// Unnotify removes the registration of p.
func (q *Queue) Unnotify(p *kernel.Process) {
	if q.notified == p {
		q.notify.wake(removed)
		q.notified, q.notify = nil, Notify{}
	}
}

// notifyArrival notifies the process that registered for it that the queue is no longer empty. t
// sent the message.
func (q *Queue) notifyArrival(t *kernel.Thread) {
	if q.notified == nil || len(q.msgs) != 1 {
		return
	}
	p, how := q.notified, q.notify
	q.notified, q.notify = nil, Notify{}
	switch how.Kind {
	case SigevSignal:
		if how.Signo != 0 {
			t.Node().Kill(p,
				signal.Info{Signo: how.Signo, Code: siMesgQ, PID: t.Proc.PID, UID: t.Cred.UID.Real, Value: how.Value})
		}
	case SigevThread:
		how.wake(wokenUp)
	}
}

// wake sends the cookie of SIGEV_THREAD, with the reason as its last byte.
func (how *Notify) wake(reason byte) {
	if how.Kind == SigevThread && how.Socket != nil {
		c := slices.Clone(how.Cookie)
		c[CookieSize-1] = reason
		how.Socket.Push(c)
	}
}

// flush is called when a process closes a descriptor: its wish to be told is gone.
func flush(_ *kernel.Node, table *kernel.FDTable, of *kernel.OpenFile) {
	d, ok := of.File.(*File)
	if !ok {
		return
	}
	if p := d.Queue.notified; p != nil && p.FDs == table {
		d.Queue.Unnotify(p)
	}
}

// ValidName is what Linux says of a name without its leading slash.
func ValidName(name string) kernel.Errno {
	switch {
	case name == "":
		return unix.ENOENT
	case len(name) > 255:
		return unix.ENAMETOOLONG
	case name == "." || name == ".." || strings.Contains(name, "/"):
		return unix.EACCES
	}
	return 0
}

// words is a structure of longs, such as struct mq_attr.
func words(v ...int) []byte {
	b := make([]byte, 0, 64)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return append(b, make([]byte, 64-len(b))...)
}

// EncodeAttr lays the queue's attributes out as struct mq_attr.
func (q *Queue) EncodeAttr(flags int) []byte {
	return words(flags, q.MaxMsgs, q.MsgSize, len(q.msgs))
}
