package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// putPoll stores a list for poll(2): descriptor, events, descriptor, ...
func putPoll(a *kernel.Thread, v ...uint64) {
	var b []byte
	for i := 0; i < len(v); i += 2 {
		b = le.AppendUint32(b, uint32(v[i]))
		b = le.AppendUint32(b, uint32(v[i+1]))
	}
	a.M.WriteMem(setAt, b)
}

// revents returns the i-th result of poll.
func revents(a *kernel.Thread, i int) int64 {
	b := make([]byte, 8)
	a.M.ReadMem(setAt+uint64(i)*8, b)
	return int64(le.Uint16(b[6:]))
}

func TestPoll(t *testing.T) {
	d, a, _ := newProcess(t)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	putPoll(a, r, unix.POLLIN, 77, unix.POLLIN, ^uint64(0), unix.POLLIN)
	want(t, "poll", d.Must(a, unix.SYS_POLL, setAt, 3, 0), 1)
	want(t, "closed", revents(a, 1), unix.POLLNVAL)
	want(t, "negative", revents(a, 2), 0)

	putPoll(a, r, unix.POLLIN, w, 0)
	d.Waits(a, unix.SYS_POLL, setAt, 2, ^uint64(0))
	d.Must(b, unix.SYS_WRITE, w, bufAt, 1)
	want(t, "poll", d.Done(a), 1)
	want(t, "readable", revents(a, 0), unix.POLLIN)

	d.Must(a, unix.SYS_READ, r, bufAt, 1)
	d.Waits(a, unix.SYS_POLL, setAt, 1, 5)
	d.Fire()
	want(t, "timeout", d.Done(a), 0)
	want(t, "clock", int64(d.Node.Now), 5e6)

	d.Waits(a, unix.SYS_POLL, setAt, 1, 1000)
	d.Must(b, unix.SYS_CLOSE, w)
	want(t, "poll", d.Done(a), 1)
	want(t, "hung up", revents(a, 0), unix.POLLHUP)
	if tm := d.Node.NextTimer(true); tm != nil {
		t.Errorf("a timer is left: %v", tm)
	}
}

func TestPpollMaskAndRemaining(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	m.Mask = signal.SetOf(10)
	m.Poke(timeAt, le.AppendUint64(le.AppendUint64(nil, 2), 500))
	m.Poke(bufAt, le.AppendUint64(nil, uint64(signal.SetOf(12)|signal.SetOf(9))))
	putPoll(a, r, unix.POLLIN)
	want(t, "bad size of mask", d.Must(a, unix.SYS_PPOLL, setAt, 1, timeAt, bufAt, 4), errno(unix.EINVAL))
	d.Waits(a, unix.SYS_PPOLL, setAt, 1, timeAt, bufAt, 8)
	if m.Mask != signal.SetOf(12) || a.Wait.SavedMask == nil || *a.Wait.SavedMask != signal.SetOf(10) {
		t.Errorf("mask %#x, saved %v", m.Mask, a.Wait.SavedMask)
	}
	d.Node.Now = 500e6
	d.Must(b, unix.SYS_WRITE, w, bufAt, 1)
	want(t, "ppoll", d.Done(a), 1)
	want(t, "seconds left", int64(le.Uint64(m.Peek(timeAt, 8))), 1)
	want(t, "ns left", int64(le.Uint64(m.Peek(timeAt+8, 8))), 500e6+500)
}

func TestSelect(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	const rd, wr = setAt, setAt + 128
	put := func(read, write uint64) {
		m.Poke(rd, le.AppendUint64(nil, read))
		m.Poke(wr, le.AppendUint64(nil, write))
	}
	get := func(at uint64) int64 { return int64(le.Uint64(m.Peek(at, 8))) }
	put(1<<r, 1<<w)
	want(t, "select", d.Must(a, unix.SYS_SELECT, 64, rd, wr, 0, 0), 1)
	want(t, "read set", get(rd), 0)
	want(t, "write set", get(wr), 1<<w)
	put(1<<40, 0)
	want(t, "closed", d.Must(a, unix.SYS_SELECT, 64, rd, wr, 0, 0), errno(unix.EBADF))
	want(t, "negative", d.Must(a, unix.SYS_SELECT, ^uint64(0), rd, wr, 0, 0), errno(unix.EINVAL))

	put(1<<r, 0)
	m.Poke(timeAt, le.AppendUint64(le.AppendUint64(nil, 0), 2500000))
	d.Waits(a, unix.SYS_SELECT, 64, rd, wr, 0, timeAt)
	d.Node.Now = 1e9
	d.Must(b, unix.SYS_WRITE, w, bufAt, 1)
	want(t, "select", d.Done(a), 1)
	want(t, "seconds left", get(timeAt), 1)
	want(t, "µs left", get(timeAt+8), 500000)

	d.Must(a, unix.SYS_READ, r, bufAt, 1)
	d.Waits(a, unix.SYS_SELECT, 64, rd, 0, 0, timeAt)
	d.Fire()
	want(t, "timeout", d.Done(a), 0)
	want(t, "read set", get(rd), 0)
}
