package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// addEpoll puts fd into an epoll set, with its number as data.
func addEpoll(t *testing.T, a *kernel.Thread, ep, op, fd, events uint64) int64 {
	t.Helper()
	a.M.WriteMem(setAt, le.AppendUint64(le.AppendUint32(nil, uint32(events)), fd))
	a.Call = kernel.Call{NR: unix.SYS_EPOLL_CTL, Args: Args{ep, op, fd, setAt}}
	return Handle(a).Value
}

func TestEpollWait(t *testing.T) {
	d, a, m := newProcess(t)
	ep := uint64(d.Must(a, unix.SYS_EPOLL_CREATE1, unix.EPOLL_CLOEXEC))
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	want(t, "add", addEpoll(t, a, ep, unix.EPOLL_CTL_ADD, r, unix.EPOLLIN), 0)
	want(t, "add twice", addEpoll(t, a, ep, unix.EPOLL_CTL_ADD, r, unix.EPOLLIN), errno(unix.EEXIST))
	want(t, "itself", addEpoll(t, a, ep, unix.EPOLL_CTL_ADD, ep, unix.EPOLLIN), errno(unix.EINVAL))
	want(t, "closed", addEpoll(t, a, ep, unix.EPOLL_CTL_ADD, 99, unix.EPOLLIN), errno(unix.EBADF))
	want(t, "no set", addEpoll(t, a, r, unix.EPOLL_CTL_ADD, w, unix.EPOLLIN), errno(unix.EINVAL))
	want(t, "unknown operation", addEpoll(t, a, ep, 9, w, unix.EPOLLIN), errno(unix.EINVAL))
	want(t, "no events", d.Must(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 0, 0), errno(unix.EINVAL))

	d.Waits(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, ^uint64(0))
	want(t, "write", d.Must(b, unix.SYS_WRITE, w, bufAt+500, 1), 1)
	want(t, "epoll_wait", d.Done(a), 1)
	want(t, "events", int64(le.Uint32(m.Peek(bufAt, 4))), unix.EPOLLIN)
	want(t, "data", int64(le.Uint64(m.Peek(bufAt+4, 8))), int64(r))

	d.Must(a, unix.SYS_READ, r, bufAt, 1)
	want(t, "no wait", d.Must(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, 0), 0)
	d.Waits(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, 7)
	d.Fire()
	want(t, "timeout", d.Done(a), 0)
	want(t, "clock", int64(d.Node.Now), 7e6)

	d.Waits(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, ^uint64(0))
	a.Wait.Interrupted = true
	a.Unpark()
	d.Settle()
	res, _ := d.Result(a)
	if res.Value != errno(unix.EINTR) || res.Restart != kernel.RestartNever {
		t.Errorf("interrupted: %+v", res)
	}

	// Closing the last descriptor takes it out of the set.
	d.Must(a, unix.SYS_WRITE, w, bufAt, 1)
	d.Must(a, unix.SYS_CLOSE, r)
	want(t, "after close", d.Must(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, 0), 0)
}

// TestEpollEdgeForOneThread: two threads wait for one edge: one gets it, the other goes on waiting.
func TestEpollEdgeForOneThread(t *testing.T) {
	d, a, _ := newProcess(t)
	ep := uint64(d.Must(a, unix.SYS_EPOLL_CREATE1, 0))
	r, w := pipeOf(d, a, 0)
	addEpoll(t, a, ep, unix.EPOLL_CTL_ADD, r, unix.EPOLLIN|unix.EPOLLET)
	b, _ := d.Thread(a)
	c, _ := d.Thread(a)
	d.Waits(a, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, ^uint64(0))
	d.Waits(b, unix.SYS_EPOLL_WAIT, ep, bufAt, 10, ^uint64(0))
	d.Must(c, unix.SYS_WRITE, w, bufAt, 1)
	want(t, "first", d.Done(a), 1)
	if _, ok := d.Result(b); ok {
		t.Error("the second returned too")
	}
}

func TestEpollRefusesRegularFiles(t *testing.T) {
	d, a, m := newProcess(t)
	ep := uint64(d.Must(a, unix.SYS_EPOLL_CREATE, 1))
	want(t, "epoll_create(0)", d.Must(a, unix.SYS_EPOLL_CREATE, 0), errno(unix.EINVAL))
	fd := m.Open(a, tempFile(t, ""), unix.O_RDWR)
	want(t, "add", addEpoll(t, a, ep, unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN), errno(unix.EPERM))
}
