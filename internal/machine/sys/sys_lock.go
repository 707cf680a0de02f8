package sys

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/filelock"

	"golang.org/x/sys/unix"
)

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
	key := filelock.KeyOf(of.File)
	if op&^unix.LOCK_NB == unix.LOCK_UN {
		filelock.Of(t.Node()).Funlock(key, of)
		return kernel.Ret(0)
	}
	wait := filelock.Of(t.Node()).Flock(key, of, op&unix.LOCK_EX != 0)
	switch {
	case wait == nil:
		return kernel.Ret(0)
	case op&unix.LOCK_NB != 0:
		return kernel.Fail(unix.EAGAIN)
	}
	return t.Block(kernel.RestartSA, wait)
}

// fcntlLock is F_GETLK, F_SETLK, F_SETLKW and their F_OFD kin.
func fcntlLock(t *kernel.Thread, of *kernel.OpenFile, a Args) kernel.Result {
	cmd := int(int32(a[1]))
	asks := cmd == unix.F_GETLK || cmd == unix.F_OFD_GETLK
	b, e := readBytes(t, a[2], flockSize)
	if e != 0 {
		return kernel.Fail(e)
	}
	x, typ, e := recordLock(t, of, fdOf(a[0]), b)
	if e != 0 {
		return kernel.Fail(e)
	}
	if t.Wait.Runs > 0 { // the position or the size may be another one by now
		x.Start, x.End = int64(t.Wait.Aux[0]), int64(t.Wait.Aux[1])
	}
	t.Wait.Aux = [2]uint64{uint64(x.Start), uint64(x.End)}
	x.PID, x.Owner = t.Proc.PID, filelock.Owner{Table: t.FDs()}
	if cmd == unix.F_OFD_GETLK || cmd == unix.F_OFD_SETLK || cmd == unix.F_OFD_SETLKW {
		if le.Uint32(b[24:]) != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		x.PID, x.Owner = -1, filelock.Owner{File: of}
	}
	if asks {
		if typ == unix.F_UNLCK && cmd == unix.F_GETLK {
			return kernel.Fail(unix.EINVAL)
		}
		find := filelock.Of(t.Node()).Conflict
		if typ == unix.F_UNLCK {
			find = filelock.Of(t.Node()).Own
		}
		r, found := find(filelock.KeyOf(of.File), x)
		return storeLock(t, r, found, a[2], b)
	}
	return setLock(t, of, x, typ, cmd == unix.F_SETLKW || cmd == unix.F_OFD_SETLKW)
}

// flockSize is the size of struct flock: type and whence (16 bits each), start
// at 8, length at 16, pid at 24.
const flockSize = 32

// recordLock decodes a struct flock.
func recordLock(t *kernel.Thread, of *kernel.OpenFile, fd int, b []byte) (x filelock.Record, typ int16,
	e kernel.Errno) {
	typ, whence := int16(le.Uint16(b)), int16(le.Uint16(b[2:]))
	start, length := int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))
	if typ != unix.F_RDLCK && typ != unix.F_WRLCK && typ != unix.F_UNLCK {
		return x, 0, unix.EINVAL
	}
	base, e := whenceBase(t, of, fd, whence)
	if e != 0 {
		return x, 0, e
	}
	if start > math.MaxInt64-base {
		return x, 0, unix.EOVERFLOW
	}
	start += base
	end := filelock.EndOfFile
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
	return filelock.Record{Start: start, End: end, Write: typ == unix.F_WRLCK}, typ, 0
}

// whenceBase is the offset to which l_whence refers.
func whenceBase(t *kernel.Thread, of *kernel.OpenFile, fd int, whence int16) (int64, kernel.Errno) {
	switch whence {
	case unix.SEEK_SET:
		return 0, 0
	case unix.SEEK_CUR, unix.SEEK_END:
	default:
		return 0, unix.EINVAL
	}
	if _, ok := of.File.(*kernel.HostFile); !ok {
		return 0, 0 // it has neither a position nor a size
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

func setLock(t *kernel.Thread, of *kernel.OpenFile, x filelock.Record, typ int16, wait bool) kernel.Result {
	mode, locks, key := of.Flags&unix.O_ACCMODE, filelock.Of(t.Node()), filelock.KeyOf(of.File)
	switch {
	case typ == unix.F_UNLCK:
		locks.Unlock(key, x)
		return kernel.Ret(0)
	case typ == unix.F_RDLCK && mode == unix.O_WRONLY, typ == unix.F_WRLCK && mode == unix.O_RDONLY:
		return kernel.Fail(unix.EBADF)
	}
	e := locks.Lock(key, x)
	if e != unix.EAGAIN || !wait {
		return kernel.RetOr(0, e)
	}
	q, e := locks.Await(t, key, x)
	if e != 0 {
		return kernel.Fail(e)
	}
	return t.Block(kernel.RestartSA, q)
}

// storeLock answers F_GETLK: the lock that was found, or F_UNLCK.
func storeLock(t *kernel.Thread, r filelock.Record, found bool, addr uint64, b []byte) kernel.Result {
	if !found {
		le.PutUint16(b, unix.F_UNLCK)
		return kernel.RetOr(0, t.M.WriteMem(addr, b))
	}
	typ, length := uint16(unix.F_RDLCK), uint64(0)
	if r.Write {
		typ = unix.F_WRLCK
	}
	if r.End != filelock.EndOfFile {
		length = uint64(r.End - r.Start + 1)
	}
	le.PutUint16(b, typ)
	le.PutUint16(b[2:], unix.SEEK_SET)
	le.PutUint64(b[8:], uint64(r.Start))
	le.PutUint64(b[16:], length)
	le.PutUint32(b[24:], uint32(r.PID))
	return kernel.RetOr(0, t.M.WriteMem(addr, b))
}

// setLease implements F_SETLEASE.
func setLease(t *kernel.Thread, of *kernel.OpenFile, fd, typ int) kernel.Result {
	locks, key := filelock.Of(t.Node()), filelock.KeyOf(of.File)
	if typ == unix.F_UNLCK {
		return kernel.RetOr(0, locks.Unlease(key, of))
	}
	if typ != unix.F_RDLCK && typ != unix.F_WRLCK {
		return kernel.Fail(unix.EINVAL)
	}
	h, ok := of.File.(*kernel.HostFile)
	if ok {
		st, e := fdStat(t, fd)
		if e != 0 {
			return kernel.Fail(e)
		}
		uid, _ := owner(&t.Node().Files, key, &st, false)
		if int(uid) != t.Cred.UID.FS && !t.Capable(unix.CAP_LEASE) {
			return kernel.Fail(unix.EACCES)
		}
	}
	if !ok || h.Mode&unix.S_IFMT != unix.S_IFREG || h.Synthetic {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(0, locks.SetLease(t, of, fd, typ))
}
