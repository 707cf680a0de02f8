package ipc

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Flags of msgrcv that package unix has no names for.
const (
	MsgNoError = 0o10000
	MsgExcept  = 0o20000
	MsgCopy    = 0o40000
)

// MsgQueues are the node's System V message queues.
type MsgQueues struct{ table[*MsgQueue] }

var msgQueues = kernel.NewSlot[*kernel.Node, MsgQueues]()

// MsgQueuesOf returns the node's message queues.
func MsgQueuesOf(n *kernel.Node) *MsgQueues { return msgQueues.Of(n) }

// MsgQueue is one queue.
type MsgQueue struct {
	Perm
	Msgs                     []Msg
	Bytes, MaxBytes          int
	Sent, Received           int64 // ns of CLOCK_REALTIME; 0 never
	LastSender, LastReceiver int
	Removed                  bool
	Room                     kernel.Queue // notified when there may be room, and at removal

	receivers []*msgReceiver // in order of arrival
}

// Msg is one message.
type Msg struct {
	Type int64
	Data []byte
}

// msgReceiver is a thread that waits in msgrcv.
type msgReceiver struct {
	t     *kernel.Thread
	queue *MsgQueue
	want  MsgWant
	got   Msg
}

var _ = kernel.DeclareKind[*msgReceiver]()

// MsgWant says which message msgrcv takes.
type MsgWant struct {
	Type  int64
	Size  int
	Flags int
}

func (q *MsgQueue) perm() *Perm { return &q.Perm }

// Open is msgget.
func (s *MsgQueues) Open(t *kernel.Thread, key int, flags uint32) (*MsgQueue, kernel.Errno) {
	q, fresh, e := s.findObject(t, key, flags)
	if e != 0 || !fresh {
		return q, e
	}
	if len(s.objects) >= int(msgMni.Of(t.Node())) {
		return nil, unix.ENOSPC
	}
	q = &MsgQueue{Perm: NewPerm(t, key, flags), MaxBytes: int(msgMnb.Of(t.Node()))}
	s.add(t.Node(), msgNxt, q)
	return q, 0
}

// Get returns the queue with that id, or nil.
func (s *MsgQueues) Get(id int) *MsgQueue {
	q, _ := s.get(id)
	return q
}

// Remove is IPC_RMID: whoever waits fails with EIDRM.
func (s *MsgQueues) Remove(q *MsgQueue) {
	s.remove(q)
	q.Removed = true
	for len(q.receivers) > 0 {
		q.receivers[0].finish(unix.EIDRM)
	}
	q.Room.Notify(kernel.Out)
}

// The settings of message queues: bytes in a message, bytes in a queue at first, queues.
var (
	msgMax = kernel.NewSetting("kernel/msgmax", 0, math.MaxInt32, 8192)
	msgMnb = kernel.NewSetting("kernel/msgmnb", 0, math.MaxInt32, 16384)
	msgMni = kernel.NewSetting("kernel/msgmni", 0, 32768, 32000)
	msgNxt = kernel.NewSetting("kernel/msg_next_id", 0, math.MaxInt32, -1)
)

// MsgLimits are these.
func MsgLimits(n *kernel.Node) (message, queue, queues int) {
	return int(msgMax.Of(n)), int(msgMnb.Of(n)), int(msgMni.Of(n))
}

// Full reports whether size more bytes have no room.
func (q *MsgQueue) Full(size int) bool {
	return q.Bytes+size > q.MaxBytes || len(q.Msgs) >= q.MaxBytes
}

// Send gives the message to the receiver that has waited longest for its kind,
// or appends it.
func (q *MsgQueue) Send(t *kernel.Thread, m Msg) {
	q.Sent, q.LastSender = t.Node().RealNow(), t.Proc.PID
	for _, r := range append([]*msgReceiver(nil), q.receivers...) {
		if !r.want.matches(m.Type) {
			continue
		}
		if r.want.tooBig(m) {
			r.finish(unix.E2BIG)
			continue
		}
		r.got = m
		q.Received, q.LastReceiver = q.Sent, r.t.Proc.PID
		r.finish(0)
		return
	}
	q.Msgs = append(q.Msgs, m)
	q.Bytes += len(m.Data)
}

func (w MsgWant) matches(kind int64) bool {
	switch {
	case w.Type == 0:
		return true
	case w.Type < 0:
		return kind <= -w.Type
	case w.Flags&MsgExcept != 0:
		return kind != w.Type
	}
	return kind == w.Type
}

func (w MsgWant) tooBig(m Msg) bool { return len(m.Data) > w.Size && w.Flags&MsgNoError == 0 }

// Receive takes the message that w asks for: the first that matches or, by a
// negative type, the first of the lowest type. ENOMSG when there is none.
func (q *MsgQueue) Receive(t *kernel.Thread, w MsgWant) (Msg, kernel.Errno) {
	best := -1
	for i, m := range q.Msgs {
		if w.matches(m.Type) && (best < 0 || w.Type < 0 && m.Type < q.Msgs[best].Type) {
			best = i
		}
	}
	if best < 0 {
		return Msg{}, unix.ENOMSG
	}
	m := q.Msgs[best]
	if w.tooBig(m) {
		return Msg{}, unix.E2BIG
	}
	q.Msgs = append(q.Msgs[:best:best], q.Msgs[best+1:]...)
	q.Bytes -= len(m.Data)
	q.Received, q.LastReceiver = t.Node().RealNow(), t.Proc.PID
	q.Room.Notify(kernel.Out)
	return m, 0
}

// Copy returns the message that stands at w.Type, which stays.
func (q *MsgQueue) Copy(w MsgWant) (Msg, kernel.Errno) {
	if w.Type < 0 || w.Type >= int64(len(q.Msgs)) {
		return Msg{}, unix.ENOMSG
	}
	m := q.Msgs[w.Type]
	switch {
	case w.tooBig(m):
		return Msg{}, unix.E2BIG
	case len(m.Data) > w.Size:
		return Msg{}, unix.EINVAL
	}
	return m, 0
}

// Wait enters t as a receiver.
func (q *MsgQueue) Wait(t *kernel.Thread, w MsgWant) {
	r := &msgReceiver{t: t, queue: q, want: w}
	t.Wait.Entry = r
	q.receivers = append(q.receivers, r)
}

// WaitsForMsg reports whether t is entered as a receiver. Once it is woken, Got
// returns its message, or the error of its wait.
func WaitsForMsg(t *kernel.Thread) bool { _, ok := t.Wait.Entry.(*msgReceiver); return ok }
func Got(t *kernel.Thread) (Msg, kernel.Errno) {
	return t.Wait.Entry.(*msgReceiver).got, kernel.Errno(t.Wait.Aux[0])
}

// finish ends r's wait; the message or error is kept until the call ends.
func (r *msgReceiver) finish(e kernel.Errno) {
	r.leave()
	r.t.Wait.Woken, r.t.Wait.Aux[0] = true, uint64(e)
	r.t.Unpark()
}

func (r *msgReceiver) leave() {
	q := r.queue
	for i, x := range q.receivers {
		if x == r {
			q.receivers = append(q.receivers[:i:i], q.receivers[i+1:]...)
			return
		}
	}
}

// Leave implements WaitEntry: it ends r's wait.
func (r *msgReceiver) Leave(t *kernel.Thread) {
	r.leave()
	t.Wait.Entry = nil
}
