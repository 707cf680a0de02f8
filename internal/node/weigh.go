//go:build linux

package node

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"ariadne/internal/machine"

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
func (w *watchdog) weigh() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.runs {
		return
	}
	pid := w.last.PID()
	used := resident(pid)
	if used > small {
		used = ownMemory(pid)
	}
	why := ""
	switch {
	case used > w.memory:
		why = fmt.Sprintf("a process uses more than the %d MiB of memory that its node has: raise memory: in the spec", w.memory>>20)
	case used > small && machine.Available() < machine.Memory()/reserve:
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
