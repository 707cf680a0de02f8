package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

const locked = "counted and shown; nothing is ever swapped out"

func sysMlock(t *kernel.Thread, a Args) kernel.Result { return mlock(t, a[0], a[1]) }

// From the first lock on all calls of the process stop: which memory is locked is lost with its
// mapping, moves with it, and some advice is refused there.

// locks are the caller's, of what is mapped now, and its mappings.
func locks(t *kernel.Thread) (*kernel.MemLocks, []kernel.MemRange) {
	var mapped []kernel.MemRange
	for _, m := range (&view{caller: t, thread: t, proc: t.Proc}).mappings() {
		mapped = append(mapped, kernel.MemRange{Start: m.Start, End: m.End})
	}
	l := t.Proc.MemLocks()
	l.Keep(mapped)
	return l, mapped
}

// mayLock checks the limit, of which more is to be locked.
func mayLock(t *kernel.Thread, total uint64) kernel.Errno {
	most, _ := t.Proc.Rlimit(unix.RLIMIT_MEMLOCK)
	switch {
	case t.Capable(unix.CAP_IPC_LOCK):
	case most == 0:
		return unix.EPERM
	case total > most:
		return unix.ENOMEM
	}
	return 0
}

// pagesOf is the memory that addr and length mean, in whole pages.
func pagesOf(addr, length uint64) (r kernel.MemRange, e kernel.Errno) {
	r.Start = addr &^ 4095
	r.End = r.Start + (length+addr%4096+4095)&^4095
	if r.End < r.Start {
		return r, unix.EINVAL
	}
	return r, 0
}

// covered reports how far from its start a range is mapped without a hole.
func covered(r kernel.MemRange, mapped []kernel.MemRange) uint64 {
	at := r.Start
	for _, m := range mapped {
		if m.Start <= at && at < m.End {
			at = m.End
		}
	}
	return min(at, r.End)
}

func sumOf(l *kernel.MemLocks, mapped []kernel.MemRange) (n uint64) {
	for _, m := range mapped {
		n += l.LockedBytes(m)
	}
	return n
}

func mlock(t *kernel.Thread, addr, length uint64) kernel.Result {
	if e := mayLock(t, 0); e != 0 {
		return kernel.Fail(e)
	}
	l, mapped := locks(t)
	r, e := pagesOf(addr, length)
	if e == 0 {
		e = mayLock(t, sumOf(l, mapped)+r.End-r.Start-l.LockedBytes(r))
	}
	if e != 0 || r.Start == r.End {
		return kernel.RetOr(0, e)
	}
	end := covered(r, mapped)
	stopAll(t)
	l.Lock(kernel.MemRange{Start: r.Start, End: end})
	if end < r.End {
		return kernel.Fail(unix.ENOMEM)
	}
	return kernel.Ret(0)
}

func sysMlock2(t *kernel.Thread, a Args) kernel.Result {
	if a[2]&0xffffffff&^unix.MLOCK_ONFAULT != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return mlock(t, a[0], a[1])
}

func sysMunlock(t *kernel.Thread, a Args) kernel.Result {
	r, e := pagesOf(a[0], a[1])
	if e != 0 || r.Start == r.End {
		return kernel.RetOr(0, e)
	}
	l, mapped := locks(t)
	end := covered(r, mapped)
	l.Unlock(kernel.MemRange{Start: r.Start, End: end})
	if end < r.End {
		return kernel.Fail(unix.ENOMEM)
	}
	return kernel.Ret(0)
}

func sysMlockall(t *kernel.Thread, a Args) kernel.Result {
	flags := int(int32(a[0]))
	if flags == 0 || flags&^(unix.MCL_CURRENT|unix.MCL_FUTURE|unix.MCL_ONFAULT) != 0 || flags == unix.MCL_ONFAULT {
		return kernel.Fail(unix.EINVAL)
	}
	l, mapped := locks(t)
	total := uint64(0)
	if flags&unix.MCL_CURRENT != 0 {
		total = (&view{caller: t, thread: t, proc: t.Proc}).size()
	}
	if e := mayLock(t, total); e != 0 {
		return kernel.Fail(e)
	}
	stopAll(t)
	l.SetFuture(flags&unix.MCL_FUTURE != 0, mapped)
	if flags&unix.MCL_CURRENT != 0 {
		for _, r := range mapped {
			l.Lock(r)
		}
	}
	return kernel.Ret(0)
}

func sysMunlockall(t *kernel.Thread, _ Args) kernel.Result {
	*t.Proc.MemLocks() = kernel.MemLocks{}
	return kernel.Ret(0)
}

// mapLocked makes a mapping of a process that locks memory, or that is to be locked itself. Linux
// is told nothing of that: its limit is the host's.
func mapLocked(t *kernel.Thread, a Args) kernel.Result {
	l, mapped := locks(t)
	r, e := pagesOf(0, a[1])
	lock := a[3]&unix.MAP_LOCKED != 0
	if e == 0 && lock {
		e = mayLock(t, 0)
	}
	if e == 0 && (lock || l.Future()) && mayLock(t, sumOf(l, mapped)+r.End) != 0 {
		e = unix.EAGAIN
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	v := t.M.Syscall(unix.SYS_MMAP, a[0], a[1], a[2], a[3]&^unix.MAP_LOCKED, a[4], a[5])
	if v >= 0 {
		r = kernel.MemRange{Start: uint64(v), End: uint64(v) + r.End}
		l.Unmap(r)
		if lock {
			stopAll(t)
			l.Lock(r)
		}
	}
	return kernel.Ret(v)
}

// unmapLocked and moveLocked are munmap and mremap of a process that locks memory.
func unmapLocked(t *kernel.Thread, a Args) kernel.Result {
	v := t.M.Syscall(unix.SYS_MUNMAP, a[0], a[1])
	if r, e := pagesOf(a[0], a[1]); v == 0 && e == 0 {
		t.Proc.MemLocks().Unmap(r)
	}
	return kernel.Ret(v)
}

func moveLocked(t *kernel.Thread, a Args) kernel.Result {
	l, mapped := locks(t)
	from, e1 := pagesOf(a[0], a[1])
	to, e2 := pagesOf(0, a[2])
	if e1 != 0 || e2 != 0 {
		return kernel.Native
	}
	n := l.LockedBytes(from)
	if grows := to.End - (from.End - from.Start); n > 0 && int64(grows) > 0 && mayLock(t, sumOf(l, mapped)+grows) != 0 {
		return kernel.Fail(unix.EAGAIN)
	}
	v := t.M.Syscall(unix.SYS_MREMAP, a[0], a[1], a[2], a[3], a[4])
	if v >= 0 {
		to = kernel.MemRange{Start: uint64(v), End: uint64(v) + to.End}
		l.Unmap(from)
		l.Unmap(to)
		if n > 0 {
			l.Lock(to)
		}
	}
	return kernel.Ret(v)
}

// adviseLocked is advice that would take pages away: at the first that is locked it fails.
func adviseLocked(t *kernel.Thread, a Args) kernel.Result {
	l, _ := locks(t)
	r, e := pagesOf(a[0], a[1])
	if e != 0 || a[0]%4096 != 0 {
		return kernel.Native // for the error
	}
	first, ok := l.First(r)
	if !ok {
		return kernel.Native
	}
	if first > r.Start {
		if v := t.M.Syscall(unix.SYS_MADVISE, r.Start, first-r.Start, a[2]); v != 0 && v != -int64(unix.ENOMEM) {
			return kernel.Ret(v)
		}
	}
	return kernel.Fail(unix.EINVAL)
}

// sysMsync is msync, which with MS_INVALIDATE fails at the first page that is locked. Bytes before
// that page are written.
func sysMsync(t *kernel.Thread, a Args) kernel.Result {
	if _, ok := invalidatesLocked(t, a); ok {
		return kernel.Fail(unix.EBUSY)
	}
	return kernel.Native
}

// invalidatesLocked is where the first locked page is at which an msync fails.
func invalidatesLocked(t *kernel.Thread, a Args) (first uint64, ok bool) {
	const known = unix.MS_ASYNC | unix.MS_INVALIDATE | unix.MS_SYNC
	flags := a[2] & 0xffffffff
	r, e := pagesOf(a[0], a[1])
	if flags&unix.MS_INVALIDATE == 0 || !t.Proc.LocksMemory() {
		return 0, false
	}
	const both = unix.MS_ASYNC | unix.MS_SYNC
	if flags&^known != 0 || flags&both == both || a[0]%4096 != 0 || e != 0 {
		return 0, false // Linux has another error for it
	}
	l, _ := locks(t)
	return l.First(r)
}
