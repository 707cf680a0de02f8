package sys

import (
	"fmt"
	"math"
	"strconv"
	"syscall"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Room for what programs write to their files: kernel.Disk counts it.

// countsRoom reports whether the file takes room that is counted.
func countsRoom(t *kernel.Thread, h *kernel.HostFile) bool {
	return t.Node().Files.Disk.Limit > 0 && h.Mode&unix.S_IFMT == unix.S_IFREG
}

// takeRoom enters that n bytes are written to a file from offset at on, or from where
// its descriptor stands when at is negative, and returns how many of them fit.
func takeRoom(t *kernel.Thread, h *kernel.HostFile, of *kernel.OpenFile, fd uint64, at, n int64) int64 {
	d := &t.Node().Files.Disk
	if !countsRoom(t, h) || n <= 0 {
		return n
	}
	if !d.Fits(n) {
		settleDisk(t)
	}
	if d.Fits(n) {
		d.Write(h.Key(), n)
		return n
	}
	// Little is left: what is written in the place of something takes none.
	size, pos := fileEnd(t, fd)
	if of.Flags&unix.O_APPEND != 0 {
		at = size
	} else if at < 0 {
		at = pos
	}
	grown := n
	if d.Missing(h.Key(), size) == 0 {
		grown = d.Missing(h.Key(), at+n)
	}
	if grown > d.Left() {
		noRoom(t)
		n = max(n-(grown-d.Left()), 0)
		grown = min(grown, d.Left())
	}
	d.Write(h.Key(), grown)
	return n
}

// writeRoom lets Linux write n bytes to the host file of descriptor fd, at an offset as
// for takeRoom, or as many as there is room for. count is the argument that says how
// many bytes to write, or negative: then it is all or none.
func writeRoom(t *kernel.Thread, of *kernel.OpenFile, fd uint64, at, n int64, count int) kernel.Result {
	h := of.File.(*kernel.HostFile)
	switch got := takeRoom(t, h, of, fd, at, n); {
	case got == n:
		return writeHost(t, of, fd)
	case got == 0 || count < 0:
		return kernel.Fail(unix.ENOSPC)
	default:
		a := t.Call.Args
		a[count] = uint64(got)
		return writeShort(t, h, fd, a)
	}
}

// writeVector is writeRoom for a call whose second and third arguments are buffers.
func writeVector(t *kernel.Thread, of *kernel.OpenFile, a Args, at int64) kernel.Result {
	n := int64(0)
	if countsRoom(t, of.File.(*kernel.HostFile)) {
		if v, e := readIovecs(t, a[1], a[2]); e == 0 { // else Linux says what is wrong
			n = int64(iovLen(v))
		}
	}
	return writeRoom(t, of, a[0], at, n, -1)
}

// copyRoom lets Linux copy to the host file of descriptor fd. How much there is to copy
// is known afterwards.
func copyRoom(t *kernel.Thread, of *kernel.OpenFile, fd uint64, count int) kernel.Result {
	h, d := of.File.(*kernel.HostFile), &t.Node().Files.Disk
	a := t.Call.Args
	if !countsRoom(t, h) || a[count] == 0 {
		return writeHost(t, of, fd)
	}
	if !d.Fits(int64(min(a[count], maxIO))) {
		settleDisk(t)
	}
	if d.Left() == 0 {
		noRoom(t)
		return kernel.Fail(unix.ENOSPC)
	}
	a[count] = min(a[count], maxIO, uint64(d.Left()))
	r := writeShort(t, h, fd, a)
	if r.Value > 0 {
		d.Write(h.Key(), r.Value)
	}
	return r
}

// writeShort is writeHost with other arguments.
func writeShort(t *kernel.Thread, h *kernel.HostFile, fd uint64, a Args) kernel.Result {
	fileModified(t, h)
	r := t.M.Syscall(t.Call.NR, a[:]...)
	keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(fdOf(fd))))
	notifyWritten(t, h, r)
	return kernel.Ret(r)
}

// keepRoom reserves the first size bytes of a file, also those beyond its end, or says that there
// is no room.
func keepRoom(t *kernel.Thread, h *kernel.HostFile, size int64, beyond bool) bool {
	d := &t.Node().Files.Disk
	if !countsRoom(t, h) {
		return true
	}
	if d.Missing(h.Key(), size) > d.Left() {
		settleDisk(t)
	}
	if d.Missing(h.Key(), size) > d.Left() {
		noRoom(t)
		return false
	}
	d.Keep(h.Key(), size, beyond)
	return true
}

// noRoom counts that a limit was met which the user has not set: a program that fails
// for it fails for Ariadne's sake.
func noRoom(t *kernel.Thread) {
	if d := &t.Node().Files.Disk; !d.Given && !d.Full {
		t.Node().Refuse(t, fmt.Sprintf("more than %d MiB of files (disk: in the spec)", d.Limit>>20),
			formatArgs(t.Call.NR, t.Call.Args), false)
	}
}

// settleDisk looks which files there still are, and how large they are.
func settleDisk(t *kernel.Thread) {
	sizes := map[inode.Key]int64{}
	walkFiles(t.Node(), func(st *syscall.Stat_t) { sizes[inode.Key{Dev: st.Dev, Ino: st.Ino}] = st.Size })
	open := map[inode.Key]bool{}
	for _, p := range t.Node().Procs {
		if p.FDs == nil {
			continue
		}
		for _, fd := range p.FDs.Numbers() {
			if h, ok := p.FDs.Get(fd).File.(*kernel.HostFile); ok {
				open[h.Key()] = true
			}
		}
	}
	t.Node().Files.Disk.Settle(func(key inode.Key) (int64, bool) {
		if size, ok := sizes[key]; ok {
			return size, true
		}
		return math.MaxInt64, open[key]
	})
}
