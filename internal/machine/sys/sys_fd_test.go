package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

func TestFcntl(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, unix.O_CLOEXEC)
	f := m.Open(a, tempFile(t, ""), unix.O_RDWR)
	fcntl := func(fd uint64, cmd, arg uint64) int64 { return d.Must(a, unix.SYS_FCNTL, fd, cmd, arg) }
	want(t, "F_GETFD", fcntl(r, unix.F_GETFD, 0), unix.FD_CLOEXEC)
	fcntl(r, unix.F_SETFD, 0)
	want(t, "F_GETFD", fcntl(r, unix.F_GETFD, 0), 0)
	want(t, "F_GETFL", fcntl(w, unix.F_GETFL, 0), unix.O_WRONLY)
	want(t, "F_SETFL", fcntl(w, unix.F_SETFL, unix.O_NONBLOCK|unix.O_RDWR), 0)
	want(t, "F_GETFL", fcntl(w, unix.F_GETFL, 0), unix.O_WRONLY|unix.O_NONBLOCK)
	want(t, "F_GETPIPE_SZ", fcntl(r, unix.F_GETPIPE_SZ, 0), 65536)
	want(t, "F_SETPIPE_SZ", fcntl(r, unix.F_SETPIPE_SZ, 5000), 8192)
	want(t, "F_GETPIPE_SZ of a file", fcntl(f, unix.F_GETPIPE_SZ, 0), errno(unix.EBADF))
	me := int64(a.Proc.PID)
	want(t, "F_SETOWN", fcntl(r, unix.F_SETOWN, uint64(-me)), 0)
	want(t, "F_GETOWN", fcntl(r, unix.F_GETOWN, 0), -me)
	want(t, "F_GETOWN_EX", fcntl(r, fGetOwnEx, timeAt), 0)
	want(t, "type", int64(le.Uint32(m.Peek(timeAt, 4))), ownerGroup)
	want(t, "group", int64(le.Uint32(m.Peek(timeAt+4, 4))), me)
	want(t, "F_SETOWN of nobody", fcntl(r, unix.F_SETOWN, 5555), errno(unix.ESRCH))
	want(t, "closed", fcntl(99, unix.F_GETFD, 0), errno(unix.EBADF))
	want(t, "unknown", fcntl(r, 12345, 0), errno(unix.EINVAL))
	if d.Refused("fcntl 12345") == nil {
		t.Error("the unknown command was not reported")
	}
}

func TestIoctl(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	f := m.Open(a, tempFile(t, ""), unix.O_RDWR)
	ioctl := func(fd, cmd uint64) int64 { return d.Must(a, unix.SYS_IOCTL, fd, cmd, timeAt) }
	d.Must(a, unix.SYS_WRITE, w, bufAt, 77)
	want(t, "FIONREAD", ioctl(r, fionread), 0)
	want(t, "bytes", int64(le.Uint32(m.Peek(timeAt, 4))), 77)
	want(t, "FIONBIO", ioctl(r, fionbio), 0)
	want(t, "F_GETFL", d.Must(a, unix.SYS_FCNTL, r, unix.F_GETFL, 0), unix.O_NONBLOCK)
	want(t, "isatty", ioctl(r, unix.TCGETS), errno(unix.ENOTTY))
	want(t, "FICLONE", ioctl(f, ficlone), errno(unix.EOPNOTSUPP))
	if len(d.Node.Refusals) != 0 {
		t.Errorf("refusals: %v", d.Node.Refusals)
	}
	want(t, "unknown", ioctl(r, 0x12345), errno(unix.ENOTTY))
	if d.Refused("ioctl 0x12345") == nil {
		t.Error("the unknown request was not reported")
	}
}

// slow is a socket with time-outs on which nothing ever happens.
type slow struct {
	changed  kernel.Queue
	rcv, snd ariadne.Time
}

func (s *slow) Ready() kernel.Events                            { return 0 }
func (s *slow) Changed() *kernel.Queue                          { return &s.changed }
func (s *slow) Release(*kernel.Node)                            {}
func (s *slow) Read(*kernel.Thread, []byte) (int, kernel.Errno) { return 0, unix.EAGAIN }
func (s *slow) Write(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	return min(len(b), 3), unix.EAGAIN
}
func (s *slow) Timeouts() (rcv, snd ariadne.Time) { return s.rcv, s.snd }

func TestTimeoutsOfSockets(t *testing.T) {
	d, a, _ := newProcess(t)
	n, _ := a.NewFD(&slow{rcv: 20, snd: 30}, unix.O_RDWR)
	fd := uint64(n)
	d.Waits(a, unix.SYS_READ, fd, bufAt, 10)
	d.Fire()
	want(t, "read", d.Done(a), errno(unix.EAGAIN))
	want(t, "clock", int64(d.Node.Now), 20)
	d.Waits(a, unix.SYS_WRITE, fd, bufAt, 10)
	d.Fire()
	want(t, "write", d.Done(a), 6)
	want(t, "clock", int64(d.Node.Now), 50)
}

func TestMemfd(t *testing.T) {
	d, a, m := newProcess(t)
	m.Poke(bufAt, []byte("shm\x00"))
	m.Answer[unix.SYS_MEMFD_CREATE] = func([]uint64) int64 {
		n := m.Open(a, tempFile(t, ""), unix.O_RDWR)
		a.FDs().Close(d.Node, int(n))
		return int64(n)
	}
	fd := d.Must(a, unix.SYS_MEMFD_CREATE, bufAt, unix.MFD_CLOEXEC)
	h, ok := a.FDs().Get(int(fd)).File.(*kernel.HostFile)
	if !ok || h.Path != "/memfd:shm (deleted)" || h.Ino == 0 || !a.FDs().CloseOnExec(int(fd)) {
		t.Errorf("%+v", h)
	}
}
