package mqueue

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// masked is a thread's machine that knows its signal mask.
type masked struct {
	kernel.Tracee
	mask signal.Set
}

func (m *masked) SigMask() signal.Set     { return m.mask }
func (m *masked) SetSigMask(s signal.Set) { m.mask = s }

func newThread(n *kernel.Node) *kernel.Thread {
	_, t := n.NewProcess(nil)
	t.M = &masked{mask: ^signal.Set(0)}
	return t
}

// open makes a queue for two messages of at most 8 bytes.
func open(t *testing.T, th *kernel.Thread, name string) *File {
	t.Helper()
	f, e := Of(th.Node()).Open(th, name, unix.O_RDWR|unix.O_CREAT, 0o600, &[2]int64{2, 8})
	if e != 0 {
		t.Fatal(e)
	}
	return f
}

// TestOrder: the highest priority comes first, and within one the oldest message.
func TestOrder(t *testing.T) {
	th := newThread(kernel.NewNode(0, "n0", 1))
	q := open(t, th, "q").Queue
	q.MaxMsgs = 5
	for _, m := range []struct {
		prio uint32
		text string
	}{{1, "c"}, {3, "a"}, {1, "d"}, {3, "b"}, {0, "e"}} {
		q.Send(th, m.prio, []byte(m.text))
	}
	if !q.Full() {
		t.Error("five of five messages, and there is room")
	}
	var got []byte
	for !q.Empty() {
		_, data := q.Receive(th)
		got = append(got, data...)
	}
	if string(got) != "abcde" {
		t.Errorf("received %s", got)
	}
}

// TestWaiters: a message goes to the receiver that has waited longest, whatever comes later; a
// sender that waits goes on when there is room. A waiter that has left is passed over.
func TestWaiters(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
	first, second, sender := newThread(n), newThread(n), newThread(n)
	q := open(t, first, "q").Queue
	q.WaitToReceive(first)
	q.WaitToReceive(second)
	q.Send(sender, 7, []byte("x"))
	if prio, data := Received(first); !first.Wait.Woken || prio != 7 || string(data) != "x" || !q.Empty() {
		t.Errorf("the first is woken: %v, with %d %q", first.Wait.Woken, prio, data)
	}
	if second.Wait.Woken {
		t.Error("one message woke two")
	}
	second.Wait.Entry.Leave(second)
	if Waits(second) {
		t.Error("it left, and waits")
	}
	q.Send(sender, 1, []byte("1"))
	q.Send(sender, 2, []byte("2"))
	if _, _, messages := q.Attr(); messages != 2 || !q.Full() {
		t.Fatalf("%d messages: who has left got one", messages)
	}
	q.WaitToSend(sender, 3, []byte("3"))
	if prio, _ := q.Receive(first); prio != 2 || !sender.Wait.Woken || !q.Full() {
		t.Errorf("received priority %d; the sender is woken: %v", prio, sender.Wait.Woken)
	}
	if prio, data := q.Receive(first); prio != 3 || string(data) != "3" {
		t.Errorf("of the sender that had waited: %d %q", prio, data)
	}
}

// cookies is a socket that keeps what it is given.
type cookies [][]byte

func (c *cookies) Push(b []byte) { *c = append(*c, b) }

// TestNotify: a process is told of the message that comes to the empty queue, once, and not when
// somebody waits for it.
func TestNotify(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
	th, other := newThread(n), newThread(n)
	q := open(t, th, "q").Queue
	wish := Notify{Kind: SigevSignal, Signo: int(unix.SIGUSR1), Value: 5}
	if e := q.Notify(th.Proc, wish); e != 0 {
		t.Fatal(e)
	}
	if e := q.Notify(other.Proc, wish); e != unix.EBUSY {
		t.Errorf("a second wish: %v", e)
	}
	q.WaitToReceive(other)
	q.Send(other, 0, []byte("a"))
	if len(th.Proc.Pending) != 0 {
		t.Error("told, although somebody waited for the message")
	}
	other.Wait.Entry.Leave(other)
	q.Send(other, 0, []byte("b"))
	if p := th.Proc.Pending; len(p) != 1 || p[0].Signo != int(unix.SIGUSR1) || p[0].Code != siMesgQ ||
		p[0].Value != 5 || p[0].PID != other.Proc.PID {
		t.Errorf("pending %+v", p)
	}
	q.Receive(th)
	q.Send(other, 0, []byte("c"))
	if len(th.Proc.Pending) != 1 {
		t.Error("told twice")
	}

	q.Receive(th)
	var got cookies
	wish = Notify{Kind: SigevThread, Cookie: bytes.Repeat([]byte{9}, CookieSize), Socket: &got}
	q.Notify(th.Proc, wish)
	q.Send(other, 0, []byte("d"))
	q.Notify(th.Proc, wish)
	q.Unnotify(other.Proc) // it has none
	q.Unnotify(th.Proc)
	if len(got) != 2 || got[0][CookieSize-1] != wokenUp || got[1][CookieSize-1] != removed || got[0][0] != 9 {
		t.Errorf("cookies %v", got)
	}
}

// TestNames: a queue lasts as long as it has a name or is open, and counts against its user's limit
// for as long.
func TestNames(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
	th := newThread(n)
	all := Of(n)
	if _, e := all.Open(th, "q", unix.O_RDWR, 0, nil); e != unix.ENOENT {
		t.Errorf("there is none: %v", e)
	}
	f := open(t, th, "q")
	if _, e := all.Open(th, "q", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600, nil); e != unix.EEXIST {
		t.Errorf("exclusive: %v", e)
	}
	counted := all.bytes[f.Queue.UID]
	if counted != 2*8+4*48 {
		t.Errorf("%d bytes are counted", counted)
	}
	f.Queue.Send(th, 0, []byte("kept"))
	if e := all.Unlink(th, "q"); e != 0 {
		t.Fatal(e)
	}
	if e := all.Unlink(th, "q"); e != unix.ENOENT {
		t.Errorf("unlinked twice: %v", e)
	}
	if again := open(t, th, "q"); again.Queue == f.Queue || !again.Queue.Empty() {
		t.Error("another queue of the name has the old messages")
	}
	if _, data := f.Queue.Receive(th); string(data) != "kept" || !strings.HasSuffix(f.Describe(), "(deleted)") {
		t.Errorf("the open one has %q and is %s", data, f.Describe())
	}
	if f.Release(n); all.bytes[f.Queue.UID] != counted {
		t.Errorf("%d bytes are counted, of one queue", all.bytes[f.Queue.UID])
	}
}

// TestReady: poll(2) sees messages and room.
func TestReady(t *testing.T) {
	th := newThread(kernel.NewNode(0, "n0", 1))
	f := open(t, th, "q")
	for i, want := range []kernel.Events{kernel.Out | kernel.WrNorm,
		kernel.In | kernel.RdNorm | kernel.Out | kernel.WrNorm, kernel.In | kernel.RdNorm} {
		if got := f.Ready(); got != want {
			t.Errorf("with %d messages: %v, want %v", i, got, want)
		}
		if i < 2 {
			f.Queue.Send(th, 0, []byte("m"))
		}
	}
}
