package kernel_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"

	"golang.org/x/sys/unix"
)

// The tests in this file do the same random operations on our objects and on
// Linux's own, and compare every answer.

// rig has objects twice: here and in Linux, under the same index.
type rig struct {
	t    *testing.T
	node *kernel.Node
	by   *kernel.Thread // who makes ours
	rand kernel.Rand
	ours []*kernel.OpenFile
	real []int
	log  []string
}

func newRig(t *testing.T, seed uint64) *rig {
	n := kernel.NewNode(0, "n0", 1)
	p, by := n.NewProcess(nil)
	p.SetUser(0, 0)
	return &rig{t: t, node: n, by: by, rand: kernel.NewRand(seed)}
}

// end closes Linux's objects.
func (r *rig) end() {
	for _, fd := range r.real {
		unix.Close(fd)
	}
}

func (r *rig) n(max int) int { return int(r.rand.Uint64() % uint64(max)) }

func (r *rig) add(f kernel.File, flags, fd int) {
	r.ours = append(r.ours, &kernel.OpenFile{File: f, Flags: flags, Refs: 1})
	r.real = append(r.real, fd)
}

func (r *rig) pipe(packets bool) {
	flags := unix.O_NONBLOCK | unix.O_CLOEXEC
	if packets {
		flags |= unix.O_DIRECT
	}
	var p [2]int
	if err := unix.Pipe2(p[:], flags); err != nil {
		r.t.Fatal(err)
	}
	a, b, e := pipe.New(r.by, packets)
	if e != 0 {
		r.t.Fatal(e)
	}
	r.add(a, unix.O_RDONLY, p[0])
	r.add(b, unix.O_WRONLY, p[1])
}

func (r *rig) eventfd() {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		r.t.Fatal(err)
	}
	r.add(&eventfd.File{}, unix.O_RDWR, fd)
}

func (r *rig) epoll() {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		r.t.Fatal(err)
	}
	r.add(epoll.New(r.by), unix.O_RDWR, fd)
}

// same records an operation and compares its two answers.
func (r *rig) same(op string, ours, real any) {
	r.t.Helper()
	r.log = append(r.log, fmt.Sprintf("%s = %v", op, ours))
	if !reflect.DeepEqual(ours, real) {
		for _, l := range r.log {
			r.t.Log(l)
		}
		r.t.Fatalf("%s: %v, Linux %v", op, ours, real)
	}
}

// answer is a count, or an errno.
func answer(n int, err error) string {
	if e, ok := err.(unix.Errno); ok && e != 0 {
		return unix.ErrnoName(e)
	}
	return fmt.Sprint(n)
}

func (r *rig) read(i, size int) {
	a, b := make([]byte, size), make([]byte, size)
	n, e := r.ours[i].File.(kernel.Reader).Read(nil, a)
	m, err := unix.Read(r.real[i], b)
	op := fmt.Sprintf("read(%d, %d)", i, size)
	r.same(op, answer(n, e), answer(m, err))
	if !bytes.Equal(a, b) {
		r.t.Fatalf("%s: other bytes", op)
	}
}

func (r *rig) write(i int, data []byte) {
	n, e := r.ours[i].File.(kernel.Writer).Write(nil, data)
	m, err := unix.Write(r.real[i], data)
	r.same(fmt.Sprintf("write(%d, %d)", i, len(data)), answer(n, e), answer(m, err))
}

func (r *rig) poll(i int) {
	const all = kernel.In | kernel.Out | kernel.Pri | kernel.RdHup | kernel.RdNorm | kernel.WrNorm
	p := []unix.PollFd{{Fd: int32(r.real[i]), Events: int16(all)}}
	unix.Poll(p, 0)
	r.same(fmt.Sprintf("poll(%d)", i), r.ours[i].File.Ready(), kernel.Events(p[0].Revents))
}

// close closes both and leaves the index unused.
func (r *rig) close(i int) {
	r.same(fmt.Sprintf("close(%d)", i), answer(0, nil), answer(0, unix.Close(r.real[i])))
	r.ours[i].Drop(r.node)
	r.ours[i], r.real[i] = nil, -1
}

func TestPipeAsLinux(t *testing.T) {
	for seed := uint64(0); seed < 200; seed++ {
		r := newRig(t, seed)
		packets := seed%4 == 3
		r.pipe(packets)
		sizes := []int{1, 7, 100, 3000, 4096, 5000, 20000, 70000}
		fill := byte(0)
		for step := 0; step < 60; step++ {
			size := sizes[r.n(len(sizes))]
			switch k := r.n(20); {
			case k < 9:
				data := make([]byte, size)
				for j := range data {
					fill++
					data[j] = fill
				}
				r.write(1, data)
			case k < 17:
				r.read(0, size)
			case k == 17 && seed%2 == 0:
				pages := 1 << r.n(6)
				got, e := r.ours[0].File.(*pipe.End).Pipe.Resize(r.by, uint64(pages*4096))
				real, err := unix.FcntlInt(uintptr(r.real[0]), unix.F_SETPIPE_SZ, pages*4096)
				r.same(fmt.Sprintf("resize %d", pages), answer(got, e), answer(real, err))
			}
			r.poll(0)
			r.poll(1)
			real, _ := unix.IoctlGetInt(r.real[0], unix.TIOCINQ)
			r.same("FIONREAD", r.ours[0].File.(*pipe.End).Pipe.Buffered(), real)
		}
		last := r.n(2)
		r.close(last)
		r.poll(1 - last)
		if last == 1 {
			r.read(0, 10)
		}
		r.end()
	}
}

// TestEpollAsLinux: an epoll set over everything that can be watched, another set included.
func TestEpollAsLinux(t *testing.T) {
	modes := []uint32{0, 0, unix.EPOLLET, unix.EPOLLONESHOT, unix.EPOLLET | unix.EPOLLONESHOT, unix.EPOLLEXCLUSIVE,
		unix.EPOLLEXCLUSIVE | unix.EPOLLET}
	wants := []kernel.Events{kernel.In, kernel.Out, kernel.In | kernel.Out, kernel.In | kernel.RdHup, 0,
		kernel.In | kernel.RdNorm}
	for seed := uint64(0); seed < 400; seed++ {
		r := newRig(t, seed)
		r.epoll()
		r.epoll()
		r.pipe(false)
		r.pipe(false)
		r.eventfd()
		for step := 0; step < 120; step++ {
			set, i := r.n(2), r.n(len(r.ours))
			if r.ours[i] == nil || r.ours[set] == nil {
				continue
			}
			switch k := r.n(12); {
			case k < 4:
				ev := epoll.Event{Events: uint32(wants[r.n(len(wants))]) | modes[r.n(len(modes))], Data: uint64(step)}
				r.ctl(set, i, 1+r.n(3), ev)
			case k < 7:
				r.wait(set, 1+r.n(4))
			case k < 9:
				r.someRead(i)
			case k < 11:
				r.someWrite(i)
			case r.n(8) == 0:
				r.close(i)
			default:
				r.poll(i)
			}
		}
		r.end()
	}
}

func (r *rig) someRead(i int) {
	if _, ok := r.ours[i].File.(kernel.Reader); ok && r.ours[i].Flags != unix.O_WRONLY {
		r.read(i, []int{8, 300, 70000}[r.n(3)])
	}
}

func (r *rig) someWrite(i int) {
	if _, ok := r.ours[i].File.(kernel.Writer); !ok || r.ours[i].Flags == unix.O_RDONLY {
		return
	}
	size := []int{8, 300, 70000}[r.n(3)]
	if _, ok := r.ours[i].File.(*eventfd.File); ok {
		size = 8 // newer kernels insist, older ones take more
	}
	data := make([]byte, size)
	data[0] = 1
	r.write(i, data)
}

func (r *rig) ctl(set, i, op int, ev epoll.Event) {
	if set == i {
		return
	}
	ep := r.ours[set].File.(*epoll.Set)
	var e kernel.Errno
	switch op {
	case unix.EPOLL_CTL_ADD:
		e = ep.Add(r.node, r.ours[i], r.real[i], ev)
	case unix.EPOLL_CTL_MOD:
		e = ep.Modify(r.ours[i], r.real[i], ev)
	case unix.EPOLL_CTL_DEL:
		e = ep.Delete(r.ours[i], r.real[i])
	}
	err := unix.EpollCtl(r.real[set], op, r.real[i], &unix.EpollEvent{Events: ev.Events, Fd: int32(ev.Data)})
	r.same(fmt.Sprintf("epoll_ctl(%d, op %d, %d, %#x)", set, op, i, ev.Events), answer(0, e), answer(0, err))
}

func (r *rig) wait(set, max int) {
	ours := r.ours[set].File.(*epoll.Set).Collect(max)
	buf := make([]unix.EpollEvent, max)
	n, err := unix.EpollWait(r.real[set], buf, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var real []epoll.Event
	for _, e := range buf[:n] {
		real = append(real, epoll.Event{Events: e.Events, Data: uint64(e.Fd)})
	}
	r.same(fmt.Sprintf("epoll_wait(%d, %d)", set, max), ours, real)
}

func TestEpollNesting(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		r := newRig(t, 1)
		for i := 0; i < 8; i++ {
			r.epoll()
		}
		for i := 0; i < 7; i++ {
			k := i
			if reverse {
				k = 6 - i
			}
			r.ctl(k, k+1, unix.EPOLL_CTL_ADD, epoll.Event{Events: uint32(kernel.In), Data: 0})
		}
		r.ctl(2, 0, unix.EPOLL_CTL_ADD, epoll.Event{Events: uint32(kernel.In), Data: 0})
		r.end()
	}
}
