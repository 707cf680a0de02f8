package eventfd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// counts are values near the bounds of a counter, and small ones.
var counts = []uint64{0, 1, 2, 7, math.MaxUint32, math.MaxUint64/2 + 1, math.MaxUint64 - 2, math.MaxUint64 - 1,
	math.MaxUint64}

// TestLikeLinux: random reads and writes of a counter return what Linux returns, and leave it as
// ready as Linux does.
func TestLikeLinux(t *testing.T) {
	const rounds, calls = 200, 60
	waits := 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 30))
		f := &File{Count: uint64(r.IntN(3)), Semaphore: r.IntN(2) == 0}
		flags := unix.EFD_NONBLOCK | unix.EFD_CLOEXEC
		if f.Semaphore {
			flags |= unix.EFD_SEMAPHORE
		}
		fd, err := unix.Eventfd(uint(f.Count), flags)
		if err != nil {
			t.Fatal(err)
		}
		var did []string
		for range calls {
			var ours, linux string
			if r.IntN(2) == 0 {
				size := []int{0, 7, 8, 8, 8, 9}[r.IntN(6)]
				did = append(did, fmt.Sprintf("read %d", size))
				ours, linux = readBoth(f, fd, size)
			} else {
				size, v := []int{7, 8, 8, 8, 9}[r.IntN(5)], counts[r.IntN(len(counts))]
				did = append(did, fmt.Sprintf("write %d bytes of %d", size, v))
				b := append(binary.LittleEndian.AppendUint64(nil, v), 0)[:size]
				n, e := f.Write(nil, b)
				m, err := unix.Write(fd, b)
				ours, linux = result(n, e), result(m, err)
			}
			if ours == "EAGAIN" {
				waits++
			}
			if ours != linux {
				t.Fatalf("seed %d: %s, Linux %s\n%v", seed, ours, linux, did)
			}
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT}}
			if _, err := unix.Poll(poll, 0); err != nil {
				t.Fatal(err)
			}
			if real := kernel.Events(uint16(poll[0].Revents)); real != f.Ready() {
				t.Fatalf("seed %d: ready for %#x, in Linux for %#x\n%v", seed, f.Ready(), real, did)
			}
		}
		unix.Close(fd)
	}
	if waits < rounds {
		t.Errorf("only %d of %d calls would wait", waits, rounds*calls)
	}
}

func readBoth(f *File, fd, size int) (ours, linux string) {
	a, b := make([]byte, size), make([]byte, size)
	n, e := f.Read(nil, a)
	m, err := unix.Read(fd, b)
	return result(n, e) + fmt.Sprint(a), result(m, err) + fmt.Sprint(b)
}

// result is that of a call in words.
func result(n int, err error) string {
	if e, ok := err.(unix.Errno); ok && e != 0 {
		return unix.ErrnoName(e)
	}
	return fmt.Sprint(n)
}

// waiter notes what it is told.
type waiter struct{ told []kernel.Events }

func (w *waiter) Notify(ev kernel.Events) { w.told = append(w.told, ev) }

// TestWaitersAreTold: a write tells readers, a read tells writers, and a call that fails tells
// nobody.
func TestWaitersAreTold(t *testing.T) {
	f, w := &File{}, &waiter{}
	f.Changed().AddWatcher(w, false)
	b := make([]byte, 8)
	f.Read(nil, b)
	f.Write(nil, binary.LittleEndian.AppendUint64(nil, math.MaxUint64))
	if len(w.told) > 0 {
		t.Errorf("failed calls told %v", w.told)
	}
	f.Write(nil, binary.LittleEndian.AppendUint64(nil, 3))
	f.Read(nil, b)
	if !slices.Equal(w.told, []kernel.Events{kernel.In, kernel.Out}) {
		t.Errorf("told %v", w.told)
	}
}

// TestSignal: the kernel's own additions go up to the greatest count, which no write reaches, and
// stop there.
func TestSignal(t *testing.T) {
	f, w := &File{Count: math.MaxUint64 - 2}, &waiter{}
	f.Changed().AddWatcher(w, false)
	var ready []kernel.Events
	for range 3 {
		f.Signal()
		ready = append(ready, f.Ready())
	}
	want := []kernel.Events{kernel.In, kernel.In | kernel.Err, kernel.In | kernel.Err}
	if f.Count != math.MaxUint64 || !slices.Equal(ready, want) {
		t.Errorf("count %d, ready for %v, want %v", f.Count, ready, want)
	}
	if !slices.Equal(w.told, []kernel.Events{kernel.In, kernel.In, kernel.In}) {
		t.Errorf("told %v", w.told)
	}
}
