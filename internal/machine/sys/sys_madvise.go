package sys

import (
	"os"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Checkpoints are made by fork, which what a program says of its own forks must not touch. So Linux
// is told something else that it remembers of a range in the same way, through mprotect, mremap,
// munmap and mappings over it, and that means nothing here: of memory that a child does not get,
// that it is read at random; of memory that is wiped in a child, that no core dump shows it. Advice
// of this kind by programs themselves is forgotten. The program's own forks look the marks up
// (internal/machine/node).
const (
	markDontFork   = unix.MADV_RANDOM
	unmarkDontFork = unix.MADV_NORMAL
	markWipe       = unix.MADV_DONTDUMP
	unmarkWipe     = unix.MADV_DODUMP

	// ShownDontFork and ShownWipe are the marks among VmFlags in smaps (proc(5)).
	ShownDontFork = "rr"
	ShownWipe     = "dd"
)

// StopsAdvice lists the advice at which madvise stops.
var StopsAdvice = []uint32{unix.MADV_NORMAL, unix.MADV_RANDOM, unix.MADV_SEQUENTIAL, unix.MADV_DONTFORK,
	unix.MADV_DOFORK,
	unix.MADV_DONTDUMP, unix.MADV_DODUMP, unix.MADV_WIPEONFORK, unix.MADV_KEEPONFORK, unix.MADV_MERGEABLE,
	unix.MADV_UNMERGEABLE}

func sysMadvise(t *kernel.Thread, a Args) kernel.Result {
	if hitsArea(a[0], a[1]) {
		return refuseArea(t)
	}
	a[2] &= 0xffffffff // an int, to Linux
	switch a[2] {
	case unix.MADV_DONTFORK, unix.MADV_WIPEONFORK:
		t.Proc.AdvisedFork = true
		return adviseFork(t, a[0], a[1], a[2])
	case unix.MADV_DOFORK:
		return unmark(t, a, unmarkDontFork)
	case unix.MADV_KEEPONFORK:
		return unmark(t, a, unmarkWipe)
	case unix.MADV_NORMAL, unix.MADV_RANDOM, unix.MADV_SEQUENTIAL, unix.MADV_DONTDUMP, unix.MADV_DODUMP:
		// For the errors: no range is ever to be wiped in Linux's eyes.
		return kernel.Ret(t.M.Syscall(unix.SYS_MADVISE, a[0], a[1], unix.MADV_KEEPONFORK))
	// a kernel that merges no pages: /sys shows none
	case unix.MADV_MERGEABLE, unix.MADV_UNMERGEABLE:
		return kernel.Fail(unix.EINVAL)
	case unix.MADV_DONTNEED, unix.MADV_FREE, unix.MADV_REMOVE, unix.MADV_COLD, unix.MADV_PAGEOUT:
		if t.Proc.LocksMemory() {
			return adviseLocked(t, a)
		}
	}
	return kernel.Native
}

// unmark lets Linux find the errors, then removes a mark from what is mapped.
func unmark(t *kernel.Thread, a Args, advice uint64) kernel.Result {
	r := t.M.Syscall(unix.SYS_MADVISE, a[0], a[1], a[2])
	if r == 0 || r == -int64(unix.ENOMEM) {
		t.M.Syscall(unix.SYS_MADVISE, a[0], a[1], advice)
	}
	return kernel.Ret(r)
}

// adviseFork lets Linux take the advice, for the errors, takes it back and leaves the
// mark. Where the advice is wrong for one of several mappings, those before it have
// taken it: each is then tried by itself.
func adviseFork(t *kernel.Thread, start, length, advice uint64) kernel.Result {
	undo, mark := uint64(unix.MADV_DOFORK), uint64(markDontFork)
	if advice == unix.MADV_WIPEONFORK {
		undo, mark = unix.MADV_KEEPONFORK, markWipe
	}
	r := t.M.Syscall(unix.SYS_MADVISE, start, length, advice)
	t.M.Syscall(unix.SYS_MADVISE, start, length, undo)
	switch kernel.Errno(-r) {
	case 0, unix.ENOMEM:
		t.M.Syscall(unix.SYS_MADVISE, start, length, mark)
	case unix.EINVAL:
		end := start + (length+4095)&^4095
		maps, _ := os.ReadFile(threadPath(t, "maps"))
		for m := range procmaps.All(string(maps)) {
			lo, hi := max(m.Start, start), min(m.End, end)
			if start%4096 != 0 || lo >= hi {
				continue
			}
			if t.M.Syscall(unix.SYS_MADVISE, lo, hi-lo, advice) != 0 {
				break
			}
			t.M.Syscall(unix.SYS_MADVISE, lo, hi-lo, undo)
			t.M.Syscall(unix.SYS_MADVISE, lo, hi-lo, mark)
		}
	}
	return kernel.Ret(r)
}
