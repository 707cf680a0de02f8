package sys

import (
	"math"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

func init() {
	register(full(unix.SYS_FLOCK, "flock", sysFlock))
}

func sysFlock(t *kernel.Thread, a Args) kernel.Result {
	op := int(int32(a[1]))
	of := t.Target(fdOf(a[0]))
	switch op &^ unix.LOCK_NB {
	case unix.LOCK_SH, unix.LOCK_EX, unix.LOCK_UN:
	default:
		return kernel.Fail(unix.EINVAL)
	}
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return kernel.Fail(unix.EBADF)
	}
	h, ok := of.File.(*kernel.HostFile)
	if !ok {
		return refuseLock(t, "flock", a)
	}
	if op&^unix.LOCK_NB == unix.LOCK_UN {
		t.Node().Locks.Funlock(h.Key(), of)
		return kernel.Ret(0)
	}
	wait := t.Node().Locks.Flock(h.Key(), of, op&unix.LOCK_EX != 0)
	switch {
	case wait == nil:
		return kernel.Ret(0)
	case op&unix.LOCK_NB != 0:
		return kernel.Fail(unix.EAGAIN)
	}
	return t.Block(kernel.RestartSA, wait)
}

// refuseLock answers for locks on what is no file of the file tree.
func refuseLock(t *kernel.Thread, name string, a Args) kernel.Result {
	t.Node().Refuse(t, name+" of an emulated file", formatArgs(a), false)
	return kernel.Fail(unix.EINVAL)
}

// fcntlLock is F_GETLK, F_SETLK, F_SETLKW and their F_OFD kin.
func fcntlLock(t *kernel.Thread, of *kernel.OpenFile, a Args) kernel.Result {
	h, onDisk := of.File.(*kernel.HostFile)
	cmd := int(int32(a[1]))
	asks := cmd == unix.F_GETLK || cmd == unix.F_OFD_GETLK
	if !onDisk && !asks {
		return refuseLock(t, "fcntl lock", a)
	}
	b, e := readBytes(t, a[2], flockSize)
	if e != 0 {
		return kernel.Fail(e)
	}
	x, typ, e := recordLock(t, fdOf(a[0]), b)
	if e != 0 {
		return kernel.Fail(e)
	}
	x.PID, x.Owner = t.Proc.PID, kernel.LockOwner{Table: t.FDs()}
	if cmd == unix.F_OFD_GETLK || cmd == unix.F_OFD_SETLK || cmd == unix.F_OFD_SETLKW {
		if le.Uint32(b[24:]) != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		x.PID, x.Owner = -1, kernel.LockOwner{File: of}
	}
	if asks {
		if typ == unix.F_UNLCK {
			return kernel.Fail(unix.EINVAL)
		}
		return storeConflict(t, h, x, a[2], b)
	}
	return setLock(t, of, h, x, typ, cmd == unix.F_SETLKW || cmd == unix.F_OFD_SETLKW)
}

// flockSize is the size of struct flock: type and whence (16 bits each), start
// at 8, length at 16, pid at 24.
const flockSize = 32

// recordLock decodes a struct flock.
func recordLock(t *kernel.Thread, fd int, b []byte) (x kernel.RecordLock, typ int16, e kernel.Errno) {
	typ, whence := int16(le.Uint16(b)), int16(le.Uint16(b[2:]))
	start, length := int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))
	if typ != unix.F_RDLCK && typ != unix.F_WRLCK && typ != unix.F_UNLCK {
		return x, 0, unix.EINVAL
	}
	base, e := whenceBase(t, fd, whence)
	if e != 0 {
		return x, 0, e
	}
	if start > math.MaxInt64-base {
		return x, 0, unix.EOVERFLOW
	}
	start += base
	end := kernel.EndOfFile
	switch {
	case start < 0:
		return x, 0, unix.EINVAL
	case length > 0:
		if length-1 > math.MaxInt64-start {
			return x, 0, unix.EOVERFLOW
		}
		end = start + length - 1
	case length < 0:
		if start+length < 0 {
			return x, 0, unix.EINVAL
		}
		start, end = start+length, start-1
	}
	return kernel.RecordLock{Start: start, End: end, Write: typ == unix.F_WRLCK}, typ, 0
}

// whenceBase is the offset to which l_whence refers.
func whenceBase(t *kernel.Thread, fd int, whence int16) (int64, kernel.Errno) {
	switch whence {
	case unix.SEEK_SET:
		return 0, 0
	case unix.SEEK_CUR, unix.SEEK_END:
	default:
		return 0, unix.EINVAL
	}
	host, e := t.M.HostFD(fd)
	if e != 0 {
		return 0, e
	}
	defer unix.Close(host)
	if whence == unix.SEEK_CUR {
		off, err := unix.Seek(host, 0, unix.SEEK_CUR)
		return off, errnoOf(err)
	}
	var st unix.Stat_t
	err := unix.Fstat(host, &st)
	return st.Size, errnoOf(err)
}

// errnoOf is the errno in an error of package unix.
func errnoOf(err error) kernel.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return 0
}

func setLock(t *kernel.Thread, of *kernel.OpenFile, h *kernel.HostFile, x kernel.RecordLock, typ int16, wait bool) kernel.Result {
	mode, locks := of.Flags&unix.O_ACCMODE, &t.Node().Locks
	switch {
	case typ == unix.F_UNLCK:
		locks.Unlock(h.Key(), x)
		return kernel.Ret(0)
	case typ == unix.F_RDLCK && mode == unix.O_WRONLY, typ == unix.F_WRLCK && mode == unix.O_RDONLY:
		return kernel.Fail(unix.EBADF)
	}
	e := locks.Lock(h.Key(), x)
	if e != unix.EAGAIN || !wait {
		return kernel.RetOr(0, e)
	}
	q, e := locks.Await(t, h.Key(), x)
	if e != 0 {
		return kernel.Fail(e)
	}
	return t.Block(kernel.RestartSA, q)
}

// storeConflict answers F_GETLK: the lock in the way, or F_UNLCK. What is no file
// of the file tree (h is nil) cannot be locked, so nothing is in the way.
func storeConflict(t *kernel.Thread, h *kernel.HostFile, x kernel.RecordLock, addr uint64, b []byte) kernel.Result {
	r, ok := kernel.RecordLock{}, false
	if h != nil {
		r, ok = t.Node().Locks.Conflict(h.Key(), x)
	}
	if !ok {
		le.PutUint16(b, unix.F_UNLCK)
		return kernel.RetOr(0, t.M.WriteMem(addr, b))
	}
	typ, length := uint16(unix.F_RDLCK), uint64(0)
	if r.Write {
		typ = unix.F_WRLCK
	}
	if r.End != kernel.EndOfFile {
		length = uint64(r.End - r.Start + 1)
	}
	le.PutUint16(b, typ)
	le.PutUint16(b[2:], unix.SEEK_SET)
	le.PutUint64(b[8:], uint64(r.Start))
	le.PutUint64(b[16:], length)
	le.PutUint32(b[24:], uint32(r.PID))
	return kernel.RetOr(0, t.M.WriteMem(addr, b))
}
