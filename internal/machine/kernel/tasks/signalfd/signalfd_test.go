package signalfd

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// signals are two that exist once, and two that are queued. The last one is in no mask.
var signals = []int{int(unix.SIGUSR1), int(unix.SIGUSR2), 40, 41, 42}

// TestLikeLinux: a thread's blocked signals are read in Linux's order and bytes, for masks that
// change, and the descriptor is ready when Linux's is.
func TestLikeLinux(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and its mask with it
	all := signal.SetOf(signals...)
	blocked := unix.Sigset_t{Val: [16]uint64{uint64(all)}}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, nil); err != nil {
		t.Fatal(err)
	}
	read := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 30))
		th := kerneltest.Caller(kerneltest.Network(1)[0])
		th.M.SetSigMask(all)
		mask := drawMask(r)
		f := New(th.Proc, mask)
		fd := newSignalFD(t, -1, mask)
		var did []string
		for range 40 {
			switch r.IntN(4) {
			case 0, 1:
				s, v := signals[r.IntN(len(signals))], r.Uint64()
				did = append(did, fmt.Sprintf("send %d", s))
				if e := th.Send(signal.Info{Signo: s, Code: -1, PID: os.Getpid(), UID: 7, Value: v}); e != 0 {
					t.Fatal(e)
				}
				sendToThread(t, s, v)
			case 2:
				mask = drawMask(r)
				did = append(did, fmt.Sprintf("mask %#x", mask))
				f.SetMask(mask)
				newSignalFD(t, fd, mask)
			case 3:
				size := []int{0, InfoSize - 1, InfoSize, 2*InfoSize + 5, 8 * InfoSize}[r.IntN(5)]
				did = append(did, fmt.Sprintf("read %d", size))
				a, b := make([]byte, size), make([]byte, size)
				n, e := f.Read(th, a)
				m, err := unix.Read(fd, b)
				if ours, linux := result(n, e, a), result(m, err, b); ours != linux {
					t.Fatalf("seed %d: read\n%s, Linux\n%s\n%v", seed, ours, linux, did)
				}
				read += max(n, 0) / InfoSize
			}
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT}}
			if _, err := unix.Poll(poll, 0); err != nil {
				t.Fatal(err)
			}
			if real := kernel.Events(uint16(poll[0].Revents)); real != f.Ready() {
				t.Fatalf("seed %d: ready for %#x, in Linux for %#x\n%v", seed, f.Ready(), real, did)
			}
		}
		newSignalFD(t, fd, all)
		for _, err := unix.Read(fd, make([]byte, 64*InfoSize)); err == nil; {
			_, err = unix.Read(fd, make([]byte, 64*InfoSize))
		}
		unix.Close(fd)
	}
	if read < 500 {
		t.Errorf("only %d signals were read", read)
	}
}

// drawMask draws some of the signals but the last. SIGKILL, which nobody can block, is ignored.
func drawMask(r *rand.Rand) (s signal.Set) {
	for _, n := range signals[:len(signals)-1] {
		if r.IntN(2) == 0 {
			s |= signal.SetOf(n)
		}
	}
	if r.IntN(2) == 0 {
		s |= signal.SetOf(int(unix.SIGKILL))
	}
	return s
}

func newSignalFD(t *testing.T, fd int, mask signal.Set) int {
	t.Helper()
	fd, err := unix.Signalfd(fd, &unix.Sigset_t{Val: [16]uint64{uint64(mask)}}, unix.SFD_NONBLOCK|unix.SFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// sendToThread queues a signal for the calling thread, as sigqueue does for a process.
func sendToThread(t *testing.T, signo int, value uint64) {
	t.Helper()
	info := signal.Info{Signo: signo, Code: -1, PID: os.Getpid(), UID: 7, Value: value}.Encode()
	_, _, e := unix.Syscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(os.Getpid()), uintptr(unix.Gettid()), uintptr(signo),
		uintptr(unsafe.Pointer(&info[0])), 0, 0)
	if e != 0 {
		t.Fatal(e)
	}
}

// result is that of a read in words, with the bytes.
func result(n int, err error, b []byte) string {
	if e, ok := err.(unix.Errno); ok && e != 0 {
		return unix.ErrnoName(e)
	}
	return hex.Dump(b[:n])
}

// TestWhoReads: poll looks at the process that made the descriptor, and a reader takes its own
// signals.
func TestWhoReads(t *testing.T) {
	n := kerneltest.Network(1)[0]
	maker, child := kerneltest.Caller(n), kerneltest.Caller(n)
	set := signal.SetOf(int(unix.SIGUSR1))
	for _, th := range []*kernel.Thread{maker, child} {
		th.M.SetSigMask(set)
	}
	f := New(maker.Proc, set)
	b := make([]byte, InfoSize)
	child.Send(signal.Info{Signo: int(unix.SIGUSR1)})
	if f.Ready() != 0 {
		t.Error("ready for the signal of another process")
	}
	if _, e := f.Read(maker, b); e != unix.EAGAIN {
		t.Errorf("the maker reads the child's signal: %v", e)
	}
	if k, e := f.Read(child, b); k != InfoSize || e != 0 {
		t.Errorf("the child reads %d bytes, %v", k, e)
	}
	maker.Proc.Node.Kill(maker.Proc, signal.Info{Signo: int(unix.SIGUSR1)})
	if f.Ready() != kernel.In {
		t.Error("not ready for a signal of the process")
	}
}
