package sys

import (
	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

func init() {
	register(
		full(unix.SYS_OPEN, "open", sysOpen),
		full(unix.SYS_CREAT, "creat", sysCreat),
		full(unix.SYS_OPENAT, "openat", sysOpenat),
		full(unix.SYS_OPENAT2, "openat2", sysOpenat2),
		full(unix.SYS_LSEEK, "lseek", sysLseek),
		full(unix.SYS_TRUNCATE, "truncate", sysTruncate),
		full(unix.SYS_FTRUNCATE, "ftruncate", sysFtruncate),
		full(unix.SYS_FALLOCATE, "fallocate", sysFallocate),
		full(unix.SYS_FADVISE64, "fadvise64", sysAdvise),
		full(unix.SYS_READAHEAD, "readahead", sysAdvise),
		full(unix.SYS_FSYNC, "fsync", sysFsync),
		full(unix.SYS_FDATASYNC, "fdatasync", sysFsync),
		full(unix.SYS_SYNC_FILE_RANGE, "sync_file_range", sysFsync),
		full(unix.SYS_SYNCFS, "syncfs", sysSyncfs),
		full(unix.SYS_SYNC, "sync", succeeds),
		full(unix.SYS_UMASK, "umask", sysUmask),
	)
	register(
		refused(unix.SYS_OPEN_BY_HANDLE_AT, "open_by_handle_at", unix.EPERM, true, "needs a privilege"),
		refused(unix.SYS_QUOTACTL, "quotactl", unix.EPERM, true, "no quotas"),
		refused(unix.SYS_QUOTACTL_FD, "quotactl_fd", unix.EPERM, true, "no quotas"),
		refused(unix.SYS_FANOTIFY_INIT, "fanotify_init", unix.EPERM, true, "needs a privilege"),
		refused(unix.SYS_FANOTIFY_MARK, "fanotify_mark", unix.EBADF, true, "there is no descriptor to mark"),
		refused(unix.SYS_NAME_TO_HANDLE_AT, "name_to_handle_at", unix.EOPNOTSUPP, true, "not all file systems have handles"),
	)
}

// openRequest is one form for open, creat, openat and openat2.
type openRequest struct {
	dirfd, path uint64
	name        string // what is at path
	how         unix.OpenHow
	at2         bool // openat2: has resolve flags, checks strictly
}

func sysOpen(t *kernel.Thread, a Args) kernel.Result {
	return open(t, openRequest{dirfd: atCwd, path: a[0], how: unix.OpenHow{Flags: uint64(uint32(a[1])), Mode: a[2]}})
}

func sysCreat(t *kernel.Thread, a Args) kernel.Result {
	return open(t, openRequest{dirfd: atCwd, path: a[0], how: unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, Mode: a[1]}})
}

func sysOpenat(t *kernel.Thread, a Args) kernel.Result {
	return open(t, openRequest{dirfd: a[0], path: a[1], how: unix.OpenHow{Flags: uint64(uint32(a[2])), Mode: a[3]}})
}

func sysOpenat2(t *kernel.Thread, a Args) kernel.Result {
	if a[3] < 24 {
		return kernel.Fail(unix.EINVAL)
	}
	if a[3] > 4096 {
		return kernel.Fail(unix.E2BIG)
	}
	b, e := readBytes(t, a[2], int(a[3]))
	if e != 0 {
		return kernel.Fail(e)
	}
	for _, x := range b[24:] {
		if x != 0 {
			return kernel.Fail(unix.E2BIG)
		}
	}
	how := unix.OpenHow{Flags: le.Uint64(b), Mode: le.Uint64(b[8:]), Resolve: le.Uint64(b[16:])}
	return open(t, openRequest{dirfd: a[0], path: a[1], how: how, at2: true})
}

func (r *openRequest) has(flags int) bool { return int(r.how.Flags)&flags == flags }

func open(t *kernel.Thread, r openRequest) kernel.Result {
	name, e := readPath(t, r.path)
	if e != 0 {
		return kernel.Fail(e)
	}
	r.name = name
	if v, ok := virtualPath(t, r.dirfd, name); ok {
		return openVirtual(t, r, v)
	}
	isNew := r.has(unix.O_CREAT) && !r.has(unix.O_PATH) && !exists(t, &r)
	fd := openNative(t, &r)
	if fd < 0 {
		return openFailed(t, &r, kernel.Errno(-fd))
	}
	st, e := fdStat(t, int(fd))
	if e != 0 {
		return kernel.Fail(e)
	}
	if res, special := openSpecial(t, &r, fd, &st); special {
		return res
	}
	h := newHostFile(t, int(fd), &st)
	t.FDs().Set(int(fd), &kernel.OpenFile{File: h, Flags: statusFlags(int(r.how.Flags))}, r.has(unix.O_CLOEXEC))
	if st.Mode&unix.S_IFMT == unix.S_IFREG && !r.has(unix.O_PATH) {
		t.Node().Use(kernel.UsedFile{Path: h.Path, Key: h.Key()})
	}
	switch {
	case r.has(unix.O_PATH):
	case r.has(unix.O_TMPFILE):
		fileCreated(t, &st)
	case isNew:
		fileCreated(t, &st)
		namesChanged(t, r.dirfd, name)
	case r.has(unix.O_TRUNC):
		t.Node().FileModified(keyOf(&st))
	}
	return kernel.Ret(fd)
}

// openNative lets Linux open the file. It must not wait for the other end of a
// named pipe, so all is opened with O_NONBLOCK, which means nothing to files.
// O_DIRECT is remembered only: not every kernel's tmpfs takes it.
func openNative(t *kernel.Thread, r *openRequest) int64 {
	how := r.how
	if !r.has(unix.O_PATH) {
		how.Flags = how.Flags&^unix.O_DIRECT | unix.O_NONBLOCK
	}
	if !r.at2 {
		return t.M.Syscall(unix.SYS_OPENAT, r.dirfd, r.path, how.Flags, how.Mode)
	}
	b := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, how.Flags), how.Mode), how.Resolve)
	if e := t.M.WriteMem(kernel.ScratchAddr, b); e != 0 {
		return -int64(e)
	}
	return t.M.Syscall(unix.SYS_OPENAT2, r.dirfd, r.path, kernel.ScratchAddr, uint64(len(b)))
}

// exists reports whether an open with O_CREAT finds its file there.
func exists(t *kernel.Thread, r *openRequest) bool {
	_, e := pathStat(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW) && !r.has(unix.O_EXCL))
	return e == 0
}

// openFailed is the way out when Linux could not open the file.
func openFailed(t *kernel.Thread, r *openRequest, e kernel.Errno) kernel.Result {
	switch e {
	case unix.ENXIO: // a named pipe without a reader, or a socket
		st, se := pathStat(t, r.dirfd, r.name, true)
		if se == 0 && st.Mode&unix.S_IFMT == unix.S_IFIFO {
			return openFIFO(t, r, keyOf(&st))
		}
	case unix.EROFS:
		if isSystemPath(absolute(t, r.dirfd, r.name)) {
			return kernel.Fail(unix.EACCES)
		}
	}
	return kernel.Fail(e)
}

// openSpecial takes over what was opened and is no file or directory.
func openSpecial(t *kernel.Thread, r *openRequest, fd int64, st *unix.Stat_t) (res kernel.Result, special bool) {
	if r.has(unix.O_PATH) {
		return res, false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
		return openFIFO(t, r, keyOf(st)), true
	case unix.S_IFCHR:
		return openDevice(t, r, fd, st)
	}
	return res, false
}

// openDevice: /dev/null, zero and full are Linux's own.
func openDevice(t *kernel.Thread, r *openRequest, fd int64, st *unix.Stat_t) (res kernel.Result, special bool) {
	const mem, null, zero, full, random, urandom = 1, 3, 5, 7, 8, 9
	major, minor := unix.Major(st.Rdev), unix.Minor(st.Rdev)
	if major == mem && (minor == null || minor == zero || minor == full) {
		return res, false
	}
	t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
	if major == mem && (minor == random || minor == urandom) {
		n, e := t.NewFD(&kernel.RandomFile{Minor: int(minor)}, statusFlags(int(r.how.Flags))|int(r.how.Flags)&unix.O_CLOEXEC)
		return kernel.RetOr(n, e), true
	}
	t.Node().Refuse(t, "open "+r.name, "a device", false)
	return kernel.Fail(unix.ENXIO), true
}

func openFIFO(t *kernel.Thread, r *openRequest, key kernel.FileKey) kernel.Result {
	end, wait, e := t.Node().OpenFIFO(t, key, int(r.how.Flags))
	if e != 0 {
		return kernel.Fail(e)
	}
	if wait != nil {
		return t.Block(kernel.RestartSA, wait)
	}
	fd, e := t.NewFD(end, statusFlags(int(r.how.Flags))|int(r.how.Flags)&unix.O_CLOEXEC)
	return kernel.RetOr(fd, e)
}

func newHostFile(t *kernel.Thread, fd int, st *unix.Stat_t) *kernel.HostFile {
	return &kernel.HostFile{Path: shownPath(t, keyOf(st), fdPath(t, fd)), Dev: st.Dev, Ino: st.Ino, Mode: st.Mode}
}

// largeFile is O_LARGEFILE, which Linux adds on 64-bit systems.
const largeFile = 0x8000

// statusFlags are those that F_GETFL shows of open's.
func statusFlags(flags int) int {
	if flags&unix.O_PATH != 0 {
		return flags & (unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW)
	}
	return flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOCTTY|unix.O_TRUNC|unix.O_CLOEXEC) | largeFile
}

func sysLseek(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if uint32(a[2]) > unix.SEEK_HOLE {
		return kernel.Fail(unix.EINVAL)
	}
	switch f := of.File.(type) {
	case *kernel.VirtualDir:
		return seekDir(&f.Dir, a)
	case *kernel.RandomFile, *kernel.Epoll, *kernel.EventFD, *kernel.TimerFD, *kernel.SignalFD:
		return kernel.Ret(0)
	}
	if h == nil {
		return kernel.Fail(unix.ESPIPE)
	}
	if h.Mode&unix.S_IFMT == unix.S_IFDIR {
		return seekDir(&h.Dir, a)
	}
	return kernel.Native
}

func sysTruncate(t *kernel.Thread, _ Args) kernel.Result {
	if e := redirect(t, -1, 0); e != 0 {
		return kernel.Fail(e)
	}
	r := run(t)
	if r == 0 {
		if name, e := readPath(t, t.Call.Args[0]); e == 0 {
			if st, e := pathStat(t, atCwd, name, true); e == 0 {
				t.Node().FileModified(keyOf(&st))
			}
		}
	}
	return kernel.Ret(r)
}

func sysFtruncate(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case h == nil || of.Flags&unix.O_ACCMODE == unix.O_RDONLY:
		return kernel.Fail(unix.EINVAL)
	}
	fileModified(t, h)
	return kernel.Native
}

func sysFallocate(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	switch {
	case e != 0 || of.Flags&unix.O_ACCMODE == unix.O_RDONLY:
		return kernel.Fail(unix.EBADF)
	case h == nil:
		if _, pipe := of.File.(*kernel.PipeEnd); pipe {
			return kernel.Fail(unix.ESPIPE)
		}
		return kernel.Fail(unix.ENODEV)
	}
	fileModified(t, h)
	return kernel.Native
}

// sysAdvise is for calls that only speed things up.
func sysAdvise(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case h == nil && t.Call.NR == unix.SYS_READAHEAD:
		return kernel.Fail(unix.EINVAL)
	case h == nil:
		if _, pipe := of.File.(*kernel.PipeEnd); pipe {
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
	case h == nil && t.Call.NR == unix.SYS_SYNC_FILE_RANGE:
		return kernel.Fail(unix.ESPIPE)
	case h == nil || h.Mode&unix.S_IFMT == unix.S_IFCHR:
		return kernel.Fail(unix.EINVAL)
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
