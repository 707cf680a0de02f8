//go:build linux

package watchdog

import (
	"bytes"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"sync/atomic"

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
// the host's. Nothing counts it as it comes. The node weighs its objects when Ariadne has allocated
// as much since the last time as they may still grow: no garbage and no collection hides their
// growth then. To weigh takes as long as a copy of them, and is exact.

// growth is how much they grow at least before they are weighed again: one part of the node's
// memory in so many.
const growth = 8

// gauge says when objects of the kernel are to be weighed.
type gauge struct {
	room      atomic.Int64 // how many bytes are allocated before that
	allocated atomic.Int64 // by Ariadne until it began
	// the least of the host's memory that was shared since it last grew by much
	shared int64
}

// full reports whether the objects may have grown by what the gauge has room for, or the host's
// shared memory by least.
func (g *gauge) full(least int64) (much bool) {
	now := hostShared()
	if much = now > g.shared+least; much || now < g.shared {
		g.shared = now
	}
	return much || allocated() > g.allocated.Load()+max(g.room.Load(), least)
}

// allocated is how many bytes Ariadne has allocated for its own objects so far.
func allocated() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
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

// Grown reports whether what objects of kernels may hold has grown by much: the node is to weigh
// its own.
func (w *Watchdog) Grown() bool { return w.grown.Load() }

// Weighed says that the node has weighed its objects, and how many bytes they may still grow.
func (w *Watchdog) Weighed(room int64) {
	w.held.room.Store(room)
	w.held.allocated.Store(allocated())
	w.grown.Store(false)
}

// Swollen says why a process that used too much memory was killed; "": none was.
func (w *Watchdog) Swollen() string {
	if why := w.swollen.Load(); why != nil {
		return *why
	}
	return ""
}
