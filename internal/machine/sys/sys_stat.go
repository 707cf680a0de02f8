package sys

import (
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"

	"golang.org/x/sys/unix"
)

const fsNote = "always an ext4 file system with the same room, but for /proc, /sys and cgroups"

func sysStat(t *kernel.Thread, a Args) kernel.Result {
	return statPath(t, atCwd, a[0], a[1], true)
}

func sysLstat(t *kernel.Thread, a Args) kernel.Result {
	return statPath(t, atCwd, a[0], a[1], false)
}

func sysFstat(t *kernel.Thread, a Args) kernel.Result {
	st, _, e := statFD(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	return storeStat(t, a[1], &st)
}

func sysNewfstatat(t *kernel.Thread, a Args) kernel.Result {
	if a[3]&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH|unix.AT_NO_AUTOMOUNT) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if empty, e := emptyPath(t, a[1], a[3]); e != 0 {
		return kernel.Fail(e)
	} else if empty && !isCwd(a[0]) {
		return sysFstat(t, Args{a[0], a[2]})
	}
	return statPath(t, a[0], a[1], a[2], a[3]&unix.AT_SYMLINK_NOFOLLOW == 0)
}

// emptyPath reports whether a call with AT_EMPTY_PATH means its descriptor.
func emptyPath(t *kernel.Thread, addr, flags uint64) (bool, kernel.Errno) {
	if flags&unix.AT_EMPTY_PATH == 0 {
		return false, 0
	}
	if addr == 0 { // since Linux 6.11
		return true, 0
	}
	var b [1]byte
	e := t.M.ReadMem(addr, b[:])
	return b[0] == 0, e
}

func statPath(t *kernel.Thread, dirfd, addr, buf uint64, follow bool) kernel.Result {
	st, _, e := statName(t, dirfd, addr, follow)
	if e != 0 {
		return kernel.Fail(e)
	}
	return storeStat(t, buf, &st)
}

// storeStat tells a program the state of a file.
func storeStat(t *kernel.Thread, buf uint64, st *unix.Stat_t) kernel.Result {
	tellTimes(t, st)
	return kernel.RetOr(0, t.M.WriteMem(buf, statBuffer(st)))
}

// tellTimes notes that a program learns when a file was used.
func tellTimes(t *kernel.Thread, st *unix.Stat_t) {
	for _, ts := range []unix.Timespec{st.Atim, st.Mtim, st.Ctim} {
		t.Node().TellStamp(ts.Nano())
	}
}

// statName is the state of what a path names, as the node sees it.
func statName(t *kernel.Thread, dirfd, addr uint64, follow bool) (st unix.Stat_t, birth int64, e kernel.Errno) {
	name, e := readPath(t, addr)
	if e != 0 {
		return st, 0, e
	}
	if v, ok := virtualPath(t, dirfd, name); ok {
		st, e = statVirtual(t, v, follow)
		return st, inode.Epoch, e
	}
	if x := t.Node().Instead; x != nil {
		if st = x.Stat; st.Mode == 0 {
			return st, 0, unix.ENOENT
		}
		return st, show(t, &st, false), 0
	}
	st, inside, e := lookUp(t, dirfd, name, follow)
	if e != 0 {
		return st, 0, e
	}
	birth = show(t, &st, inside)
	return st, birth, 0
}

// statxSize is the size of struct statx.
const statxSize = 256

// statxMask is what statx fills in: the basic fields, the time of birth, the mount.
const statxMask = unix.STATX_BASIC_STATS | unix.STATX_BTIME | unix.STATX_MNT_ID

// statxTimes are the times that a program may ask statx for.
const statxTimes = unix.STATX_ATIME | unix.STATX_MTIME | unix.STATX_CTIME | unix.STATX_BTIME

// statxSyncType is AT_STATX_SYNC_TYPE: what network file systems are to do.
const statxSyncType = unix.AT_STATX_FORCE_SYNC | unix.AT_STATX_DONT_SYNC

func sysStatx(t *kernel.Thread, a Args) kernel.Result {
	const known = unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH | unix.AT_NO_AUTOMOUNT | statxSyncType
	if a[2]&^known != 0 || a[2]&statxSyncType == statxSyncType || a[3]&unix.STATX__RESERVED != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	st, birth, e := statxTarget(t, a)
	if e != 0 {
		return kernel.Fail(e)
	}
	if a[3]&statxTimes != 0 {
		tellTimes(t, &st)
		t.Node().TellStamp(birth)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[4], statxBuffer(&st, birth)))
}

// statxTarget is the state of what the arguments of statx name.
func statxTarget(t *kernel.Thread, a Args) (st unix.Stat_t, birth int64, e kernel.Errno) {
	empty, e := emptyPath(t, a[1], a[2])
	if e != 0 {
		return st, 0, e
	}
	if empty && !isCwd(a[0]) {
		return statFD(t, a[0])
	}
	return statName(t, a[0], a[1], a[2]&unix.AT_SYMLINK_NOFOLLOW == 0)
}

func statxBuffer(st *unix.Stat_t, birth int64) []byte {
	b := make([]byte, statxSize)
	le.PutUint32(b, statxMask)
	le.PutUint32(b[4:], uint32(st.Blksize))
	le.PutUint32(b[16:], uint32(st.Nlink))
	le.PutUint32(b[20:], st.Uid)
	le.PutUint32(b[24:], st.Gid)
	le.PutUint16(b[28:], uint16(st.Mode))
	le.PutUint64(b[32:], st.Ino)
	le.PutUint64(b[40:], uint64(st.Size))
	le.PutUint64(b[48:], uint64(st.Blocks))
	for i, ts := range []unix.Timespec{st.Atim, fileTime(birth), st.Ctim, st.Mtim} {
		le.PutUint64(b[64+16*i:], uint64(ts.Sec))
		le.PutUint32(b[72+16*i:], uint32(ts.Nsec))
	}
	for i, d := range []uint64{st.Rdev, st.Dev} {
		le.PutUint32(b[128+8*i:], unix.Major(d))
		le.PutUint32(b[132+8*i:], unix.Minor(d))
	}
	le.PutUint64(b[144:], mountOf(st.Dev))
	return b
}

// mountOf is the mount id of a device, as /proc/self/mountinfo has it.
func mountOf(dev uint64) uint64 {
	switch dev {
	case inode.DevNode:
		return 26
	case inode.DevProc:
		return 21
	}
	return 20
}

func sysAccess(t *kernel.Thread, a Args) kernel.Result {
	return access(t, atCwd, a[0], uint32(a[1]), 0)
}

func sysFaccessat(t *kernel.Thread, a Args) kernel.Result {
	return access(t, a[0], a[1], uint32(a[2]), 0)
}

func sysFaccessat2(t *kernel.Thread, a Args) kernel.Result {
	if empty, e := emptyPath(t, a[1], a[3]); e != 0 {
		return kernel.Fail(e)
	} else if empty {
		return accessFD(t, a)
	}
	return access(t, a[0], a[1], uint32(a[2]), a[3])
}

func accessFD(t *kernel.Thread, a Args) kernel.Result {
	st, e := fdStat(t, fdOf(a[0]))
	if !isNodeUser(t) && e == 0 && a[2]&^7 == 0 && a[2] != 0 {
		if e := accessor(t, a[3]).permits(&st, uint32(a[2])); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Native
}

func access(t *kernel.Thread, dirfd, addr uint64, mode uint32, flags uint64) kernel.Result {
	name, e := readPath(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	if x := t.Node().Instead; x != nil {
		return accessInstead(t, x, mode, flags)
	}
	if mode&^7 == 0 {
		if e := mayAccess(t, dirfd, name, mode, flags); e != 0 {
			return kernel.Fail(e)
		}
	}
	v, ok := virtualPath(t, dirfd, name)
	if !ok {
		return kernel.Native
	}
	st, e := statVirtual(t, v, true)
	switch {
	case mode&^7 != 0:
		return kernel.Fail(unix.EINVAL)
	case e != 0:
		return kernel.Fail(e)
	case st.Mode&0o111 == 0 && mode&unix.X_OK != 0, st.Mode&0o222 == 0 && mode&unix.W_OK != 0 &&
		t.Cred.UID.Effective != 0:
		return kernel.Fail(unix.EACCES)
	}
	return kernel.Ret(0)
}

func sysStatfs(t *kernel.Thread, a Args) kernel.Result {
	name, e := readPath(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if v, ok := virtualPath(t, atCwd, name); ok {
		if fd, ok := descriptorPath(t, atCwd, name); ok {
			return sysFstatfs(t, Args{uint64(fd), a[1]})
		}
		if _, e := lookupVirtual(t, v); e != 0 {
			return kernel.Fail(e)
		}
	} else if t.Node().Instead != nil {
		return kernel.Fail(unix.ENOENT)
	} else if r := run(t); r != 0 {
		return kernel.Ret(r)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], statfsOf(t, absolute(t, atCwd, name))))
}

func sysFstatfs(t *kernel.Thread, a Args) kernel.Result {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil {
		return kernel.Fail(unix.EBADF)
	}
	name := "anon:"
	switch f := of.File.(type) {
	case *kernel.HostFile:
		name = f.Path
	case *procfs.Dir:
		name = f.Path
	case kernel.Describer:
		if kind, _, _ := strings.Cut(f.Describe(), "["); kind == "pipe:" || kind == "socket:" {
			name = kind
		}
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], statfsOf(t, name)))
}

// statfsOf is statfsBuffer with the room that the spec gives the node.
func statfsOf(t *kernel.Thread, name string) []byte {
	b, d := statfsBuffer(name), &t.Node().Files.Disk
	if d.Full && !d.Given && le.Uint64(b[16:]) > 0 {
		settleDisk(t)
		le.PutUint64(b[24:], uint64(d.Left())/blockSize)
		le.PutUint64(b[32:], uint64(d.Left())/blockSize)
	}
	if d.Given && le.Uint64(b[16:]) > 0 {
		settleDisk(t)
		for i, v := range []int64{d.Limit, d.Left(), d.Left()} {
			le.PutUint64(b[16+8*i:], uint64(v)/blockSize)
		}
	}
	return b
}

// statfsBuffer is struct statfs for the file system that a path lies on: an ext4
// of 64 GiB with 48 free.
func statfsBuffer(name string) []byte {
	const room = 64 << 30 / blockSize
	b := make([]byte, 120)
	for i, v := range []uint64{unix.EXT4_SUPER_MAGIC, blockSize, room, room / 4 * 3, room / 4 * 3, 4 << 20,
		4<<20 - 4096, 0, 255, blockSize, stValid | unix.ST_RELATIME} {
		le.PutUint64(b[8*i:], v)
	}
	name = path.Clean(name)
	for _, x := range []struct {
		dir   string
		magic uint64
	}{{"/proc", unix.PROC_SUPER_MAGIC}, {"/sys/fs/cgroup", unix.CGROUP2_SUPER_MAGIC}, {"/sys", unix.SYSFS_MAGIC},
		{"/dev/shm", unix.TMPFS_MAGIC}, {"/memfd:", unix.TMPFS_MAGIC}, {"anon:", unix.ANON_INODE_FS_MAGIC},
		{"pipe:", unix.PIPEFS_MAGIC}, {"socket:", unix.SOCKFS_MAGIC}} {
		if name == x.dir || strings.HasPrefix(name, x.dir+"/") {
			le.PutUint64(b, x.magic)
			if x.magic != unix.TMPFS_MAGIC {
				clear(b[16:56]) // no blocks, no files
			}
			break
		}
	}
	return b
}

// stValid is ST_VALID: f_flags means something.
const stValid = 0x20
