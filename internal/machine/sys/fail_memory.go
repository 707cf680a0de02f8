package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// TakesMemory are the calls that take memory and may run without a stop. Where they may fail
// nodes stop at each (internal/machine/sandbox).
var TakesMemory = []int{unix.SYS_MMAP, unix.SYS_MREMAP, unix.SYS_BRK}

// mapsMemory: there is nothing wrong with a mapping, and what it is of can be mapped.
func mapsMemory(t *kernel.Thread, a Args) (on string, ok bool) {
	const known = unix.MAP_SHARED | unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_POPULATE | unix.MAP_STACK |
		unix.MAP_GROWSDOWN | unix.MAP_DENYWRITE | unix.MAP_EXECUTABLE | unix.MAP_NONBLOCK
	kind := a[3] & unix.MAP_TYPE
	if a[1] == 0 || a[1] >= 1<<46 || a[3]&^known != 0 || kind != unix.MAP_SHARED && kind != unix.MAP_PRIVATE ||
		a[5]%4096 != 0 {
		return "", false
	}
	if a[3]&unix.MAP_ANONYMOUS != 0 {
		return "", true
	}
	h, of, e := hostFile(t, a[4])
	if e != 0 || h == nil || h.Mode&unix.S_IFMT != unix.S_IFREG || !of.Reads() {
		return "", false
	}
	shared := kind == unix.MAP_SHARED && a[2]&unix.PROT_WRITE != 0
	return h.Path, !shared || of.Flags&unix.O_ACCMODE == unix.O_RDWR
}

// growsMapping: a mapping that is there becomes longer.
func growsMapping(t *kernel.Thread, a Args) (on string, ok bool) {
	return "", a[0]%4096 == 0 && a[2] > a[1] && a[1] > 0 && a[2] < 1<<46 && a[3]&^unix.MREMAP_MAYMOVE == 0 &&
		readableAt(t, a[0]) && readableAt(t, a[0]+a[1]-1) && !hitsArea(a[0], a[1])
}

// growsBreak: more memory is asked for, and not where the break is.
func growsBreak(t *kernel.Thread, a Args) (on string, ok bool) {
	now := Break(t)
	return "", a[0] > now && a[0]-now < 1<<46
}

// Break is where the data of the thread's process ends. It is what brk answers when it fails.
func Break(t *kernel.Thread) uint64 { return uint64(t.M.Syscall(unix.SYS_BRK, 0)) }

// clones: a thread or a process of a usual kind is to be made.
func clones(t *kernel.Thread, a Args) (on string, ok bool) {
	flags := a[0] & 0xffffffff
	if t.Call.NR == unix.SYS_CLONE3 {
		b, e := readBytes(t, a[0], 64)
		if e != 0 || a[1] < 64 || a[1] > 88 || le.Uint64(b)>>32 != 0 || le.Uint64(b[32:]) > 64 {
			return "", false
		}
		flags = le.Uint64(b)
		if flags&0xff != 0 || (le.Uint64(b[40:]) == 0) != (le.Uint64(b[48:]) == 0) {
			return "", false
		}
	}
	const usual = 0xff | unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_VFORK | unix.CLONE_THREAD | unix.CLONE_SYSVSEM |
		unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID | unix.CLONE_DETACHED
	has := func(f uint64) bool { return flags&f != 0 }
	return "", flags&^usual == 0 && !(has(unix.CLONE_THREAD) && !has(unix.CLONE_SIGHAND)) &&
		!(has(unix.CLONE_SIGHAND) && !has(unix.CLONE_VM))
}
