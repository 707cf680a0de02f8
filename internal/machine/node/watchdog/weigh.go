//go:build linux

package watchdog

import (
	"bytes"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"

	"github.com/ariadne-mc/ariadne/internal/leaf/host"

	"golang.org/x/sys/unix"
)

// A program may touch more memory than its node has, or than the machine has left,
// without a call that anybody sees. Linux would then kill some process of the host. So
// the process that runs is watched, and is killed here before that. When depends on real
// time: nothing is said of the target then.

const (
	memoryTick = tick / 5
	// small processes are not what fills the machine.
	small = 64 << 20
	// reserve is what is left to the machine, of all that it has.
	reserve = 32 // one part of so many
)

// weigh kills the process that runs when it uses too much memory.
func (w *Watchdog) weigh() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.runs {
		return
	}
	pid := w.last.PID()
	used := host.Resident(pid)
	if used > small {
		used = ownMemory(pid)
	}
	why := ""
	switch {
	case used > w.memory:
		why = fmt.Sprintf("a process uses more than the %d MiB of memory that its node has: raise memory: in the spec", w.memory>>20)
	case used > small && host.Available() < host.Memory()/reserve:
		why = fmt.Sprintf("a process uses %d MiB of memory, and the machine has no more", used>>20)
	default:
		return
	}
	w.swollen.Store(&why)
	_ = w.last.Signal(unix.SIGKILL)
}

// ownMemory is how much memory a process has touched that is no file of the host's, in
// bytes.
func ownMemory(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	sum := int64(0)
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) > 1 && (string(f[0]) == "RssAnon:" || string(f[0]) == "RssShmem:") {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// What the objects of the node's kernel hold lies in Ariadne's own memory, and in shared memory of
// the host's. Nothing counts it as it comes. When either has grown by much since the last time,
// the node weighs its objects: that takes as long as a copy of them, and is exact.

const (
	// KernelShare: objects of the kernel may hold one part of the node's memory in so many.
	KernelShare = 2
	// weighings is how often they are weighed, at most, while they grow to that.
	weighings = 4
)

// gauge is the least that was held since it last grew by much: Ariadne's heap, and the host's
// shared memory.
type gauge [2]int64

// grew reports whether either is larger by so many bytes than it was.
func (g *gauge) grew(by int64) (much bool) {
	for i, now := range [...]int64{heap(), hostShared()} {
		if much = much || now > g[i]+by; now > g[i]+by || now < g[i] {
			g[i] = now
		}
	}
	return much
}

// heap is how many bytes Ariadne's own objects held when garbage was last collected, which is when
// they may hold twice as much as at the time before.
func heap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// hostShared is how much of the host's memory is shared, in segments or files in memory.
func hostShared() int64 {
	var i unix.Sysinfo_t
	if unix.Sysinfo(&i) != nil {
		return 0
	}
	return int64(i.Sharedram) * int64(i.Unit)
}

// Grown reports whether what objects of kernels may hold has grown by much: the node is to weigh its own.
func (w *Watchdog) Grown() bool { return w.grown.Load() }

// TakeGrown is Grown, once for each time.
func (w *Watchdog) TakeGrown() bool { return w.grown.Swap(false) }

// Swollen says why a process that used too much memory was killed; "": none was.
func (w *Watchdog) Swollen() string {
	if why := w.swollen.Load(); why != nil {
		return *why
	}
	return ""
}
