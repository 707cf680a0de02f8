package sys

import (
	"math"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/mqueue"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/random"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signalfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"

	"golang.org/x/sys/unix"
)

func sysLseek(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if uint32(a[2]) > unix.SEEK_HOLE {
		return kernel.Fail(unix.EINVAL)
	}
	switch f := of.File.(type) {
	case *procfs.Dir:
		return seekDir(&f.Dir, a, 0)
	case *procfs.Mem:
		return seekMemory(f, a)
	case procfs.Texter:
		at, e := procfs.Seek(f, int64(a[1]), int(a[2]))
		return kernel.RetOr(int(at), e)
	case *mqueue.File:
		at, e := f.Seek(int64(a[1]), int(uint32(a[2])))
		return kernel.RetOr(int(at), e)
	case *random.File, *dialog.File, *epoll.Set, *eventfd.File, *timerfd.File, *signalfd.File, *inotify.Instance:
		return kernel.Ret(0)
	}
	if h == nil {
		return kernel.Fail(unix.ESPIPE)
	}
	if h.Mode&unix.S_IFMT == unix.S_IFDIR {
		if top, _, _ := strings.Cut(strings.TrimPrefix(h.Path, "/"), "/"); top == "proc" || top == "sys" {
			return seekDir(&h.Dir, a, 0)
		}
		return seekDir(&h.Dir, a, math.MaxInt64) // as ext4 has it
	}
	return kernel.Native
}

func sysTruncate(t *kernel.Thread, a Args) kernel.Result {
	if int64(a[1]) < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if toDescriptor(t, atCwd, a[0], unix.SYS_FTRUNCATE, a[1]) {
		if of := t.FDs().Get(fdOf(t.Call.Args[0])); isHost(of) && !of.Writes() {
			t.Node().Refuse(t, "truncate by a descriptor that cannot be written", formatArgs(t.Call.NR, a), false)
			return kernel.Fail(unix.EACCES)
		}
		r := sysFtruncate(t, t.Call.Args)
		if r.Op == kernel.OpNative { // with the arguments that the call has now
			r = kernel.Ret(run(t))
		}
		return r
	}
	if e := redirect(t, -1, 0); e != 0 {
		return kernel.Fail(e)
	}
	name, e := readPath(t, t.Call.Args[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if res, done := breakLeases(t, atCwd, name, true, true, true); done {
		return res
	}
	st, e := pathStat(t, atCwd, name, true)
	if e == 0 {
		t.Node().Files.NoteMode(keyOf(&st), st.Mode)
	}
	if t.Wait.Runs > 0 { // what stands there now need not be the name
		if e := putScratch(t, name); e != 0 {
			return kernel.Fail(e)
		}
		t.Call.Args[0] = area.Scratch
	}
	r := run(t)
	if r == 0 && e == 0 {
		t.Node().FileModified(keyOf(&st))
		if t.Node().Files.SetIDBits(keyOf(&st)) != 0 {
			restoreSetID(t, t.Call.Args[0], st.Mode)
		}
		notifyPath(t, atCwd, name, true, unix.IN_MODIFY)
	}
	return kernel.Ret(r)
}

// restoreSetID is keepSetID for a file that the caller names by the path at addr.
func restoreSetID(t *kernel.Thread, addr uint64, mode uint32) {
	if !t.Capable(unix.CAP_FSETID) {
		mode = withoutSetID(mode)
	}
	t.M.Syscall(unix.SYS_CHMOD, addr, uint64(mode&0o7777))
}

func sysFtruncate(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	switch {
	case int64(a[1]) < 0:
		return kernel.Fail(unix.EINVAL)
	case e != 0:
		return kernel.Fail(e)
	// as SDKs do with the file that they write their lines to
	case h == nil && isDialog(of) && a[1] == 0:
		return kernel.Ret(0)
	case h == nil || !of.Writes():
		return kernel.Fail(unix.EINVAL)
	}
	return writeHost(t, of, a[0])
}

func isDialog(of *kernel.OpenFile) bool {
	_, is := of.File.(*dialog.File)
	return is
}

// rangeModes are fallocate's ways other than to reserve.
const rangeModes = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_COLLAPSE_RANGE | unix.FALLOC_FL_ZERO_RANGE |
	unix.FALLOC_FL_INSERT_RANGE | unix.FALLOC_FL_UNSHARE_RANGE

// sysFallocate checks in Linux's order. It does here what an ext4 can do and a tmpfs cannot.
func sysFallocate(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	mode, off, size := int(int32(a[1])), int64(a[2]), int64(a[3])
	way, keep := mode&rangeModes, mode&unix.FALLOC_FL_KEEP_SIZE != 0
	switch {
	case e != 0:
		return kernel.Fail(unix.EBADF)
	case off < 0 || size <= 0:
		return kernel.Fail(unix.EINVAL)
	case mode&^(rangeModes|unix.FALLOC_FL_KEEP_SIZE) != 0, way&(way-1) != 0, way == unix.FALLOC_FL_PUNCH_HOLE && !keep,
		(way == unix.FALLOC_FL_COLLAPSE_RANGE || way == unix.FALLOC_FL_INSERT_RANGE) && keep:
		return kernel.Fail(unix.EOPNOTSUPP)
	case !of.Writes():
		return kernel.Fail(unix.EBADF)
	case h == nil:
		if _, pipe := of.File.(*pipe.End); pipe {
			return kernel.Fail(unix.ESPIPE)
		}
		return kernel.Fail(unix.ENODEV)
	case h.Mode&unix.S_IFMT != unix.S_IFREG:
		return kernel.Fail(unix.ENODEV)
	case off+size < 0:
		return kernel.Fail(unix.EFBIG)
	case way == unix.FALLOC_FL_UNSHARE_RANGE, way&^unix.FALLOC_FL_PUNCH_HOLE != 0 &&
		strings.HasPrefix(h.Path, "/memfd:"):
		return kernel.Fail(unix.EOPNOTSUPP)
	case (way == 0 || way == unix.FALLOC_FL_ZERO_RANGE) && !keepRoom(t, h, off+size, keep):
		return kernel.Fail(unix.ENOSPC)
	case way == unix.FALLOC_FL_PUNCH_HOLE:
		return writeHost(t, of, a[0])
	case way == 0:
		return reserveRange(t, h, a, off+size, keep)
	}
	fileModified(t, h)
	host, e := t.M.HostFD(fdOf(a[0]))
	if e != 0 {
		return kernel.Fail(e)
	}
	defer unix.Close(host)
	e = changeRange(host, way, off, size, keep)
	keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(fdOf(a[0]))))
	if e == 0 {
		notifyFile(t, h, unix.IN_MODIFY)
	}
	return kernel.RetOr(0, e)
}

// reserveRange is plain fallocate. The room is counted, so that Linux need not hold
// memory for it: programs reserve space by the 64 MB and write little of it.
func reserveRange(t *kernel.Thread, h *kernel.HostFile, a Args, end int64, keep bool) kernel.Result {
	fileModified(t, h)
	r := int64(0)
	if size, _ := fileEnd(t, a[0]); end > size && !keep {
		r = t.M.Syscall(unix.SYS_FTRUNCATE, a[0], uint64(end))
	}
	keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(fdOf(a[0]))))
	if r == 0 {
		notifyFile(t, h, unix.IN_MODIFY)
	}
	return kernel.Ret(r)
}

// changeRange is fallocate's ZERO_RANGE, COLLAPSE_RANGE and INSERT_RANGE as ext4 has them.
func changeRange(fd, way int, off, size int64, keep bool) kernel.Errno {
	const block, most = 4096, 1 << 44 // ext4's
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errnoOf(err)
	}
	if way == unix.FALLOC_FL_ZERO_RANGE {
		const hole = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
		err := unix.Fallocate(fd, hole, off, size)
		if err == nil && !keep && off+size > st.Size {
			err = unix.Ftruncate(fd, off+size)
		}
		return errnoOf(err)
	}
	switch {
	case off%block != 0 || size%block != 0:
		return unix.EINVAL
	case way == unix.FALLOC_FL_COLLAPSE_RANGE && off+size >= st.Size, off >= st.Size:
		return unix.EINVAL
	case st.Size+size > most:
		return unix.EFBIG
	}
	if way == unix.FALLOC_FL_COLLAPSE_RANGE {
		e := moveBytes(fd, off+size, off, st.Size-off-size)
		if e == 0 {
			e = errnoOf(unix.Ftruncate(fd, st.Size-size))
		}
		return e
	}
	e := errnoOf(unix.Ftruncate(fd, st.Size+size))
	if e == 0 {
		e = moveBytes(fd, off, off+size, st.Size-off)
	}
	if e == 0 {
		e = errnoOf(unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, size))
	}
	return e
}

// moveBytes moves n bytes of a file; holes stay holes. It goes towards the end that the
// bytes come from, so that none is overwritten before it has been moved.
func moveBytes(fd int, from, to, n int64) kernel.Errno {
	const piece = 1 << 20
	b := make([]byte, min(n, piece))
	move := func(at, k int64) error {
		b := b[:k]
		if _, err := unix.Pread(fd, b, from+at); err != nil {
			return err
		}
		if isZero(b) {
			return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, to+at, k)
		}
		_, err := unix.Pwrite(fd, b, to+at)
		return err
	}
	for done := int64(0); done < n; {
		k := min(piece, n-done)
		at := done
		if to > from {
			at = n - done - k
		}
		if err := move(at, k); err != nil {
			return errnoOf(err)
		}
		done += k
	}
	return 0
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// sysAdvise is for calls that only speed things up.
func sysAdvise(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case t.Call.NR == unix.SYS_READAHEAD && !of.Reads():
		return kernel.Fail(unix.EBADF)
	case t.Call.NR == unix.SYS_READAHEAD && (h == nil || h.Mode&unix.S_IFMT != unix.S_IFREG):
		return kernel.Fail(unix.EINVAL)
	case h == nil:
		if _, pipe := of.File.(*pipe.End); pipe {
			return kernel.Fail(unix.ESPIPE)
		}
	}
	if t.Call.NR == unix.SYS_FADVISE64 && (int64(a[2]) < 0 || uint32(a[3]) > unix.FADV_NOREUSE) {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}

// sysFsync is fsync and its kin: a node's files are in memory.
func sysFsync(t *kernel.Thread, a Args) kernel.Result {
	h, _, e := hostFile(t, a[0])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case h == nil || h.Mode&unix.S_IFMT == unix.S_IFCHR:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}

func sysSyncFileRange(t *kernel.Thread, a Args) kernel.Result {
	const flags = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	h, _, e := hostFile(t, a[0])
	off, n := int64(a[1]), int64(a[2])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case a[3]&0xffffffff&^flags != 0, off < 0, n < 0, off+n < off:
		return kernel.Fail(unix.EINVAL)
	case h == nil || h.Mode&unix.S_IFMT != unix.S_IFREG && h.Mode&unix.S_IFMT != unix.S_IFDIR:
		return kernel.Fail(unix.ESPIPE)
	}
	return kernel.Ret(0)
}

func sysSyncfs(t *kernel.Thread, a Args) kernel.Result {
	_, _, e := hostFile(t, a[0])
	return kernel.RetOr(0, e)
}

func sysUmask(t *kernel.Thread, a Args) kernel.Result {
	t.Proc.Umask = int(a[0] & 0o777)
	return kernel.Native
}
