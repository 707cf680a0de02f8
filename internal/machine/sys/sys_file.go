package sys

import (
	"io"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/mqueue"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/random"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signalfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"

	"golang.org/x/sys/unix"
)

// openRequest is one form for open, creat, openat and openat2.
type openRequest struct {
	dirfd, path uint64
	name        string // what is at path
	how         unix.OpenHow
	at2         bool  // openat2: has resolve flags, checks strictly
	route       route // how the path is followed, when not from its beginning
	copied      bool  // copyLink has made room for it
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

// shownMounts are the directories on which nodes see other file systems.
var shownMounts = []string{"/proc", "/sys", "/dev/shm", "/dev", "/node", "/tmp", "/run"}

func shownMount(name string) string {
	for _, m := range shownMounts {
		if name == m || strings.HasPrefix(name, m+"/") {
			return m
		}
	}
	return "/"
}

// mayResolve checks what Linux, to which a node is one tree, cannot know of openat2: that a path
// leaves no file system, and follows no links of /proc.
func mayResolve(t *kernel.Thread, r *openRequest) kernel.Errno {
	if r.how.Resolve&unix.RESOLVE_NO_XDEV != 0 {
		start, end := shownMount(absolute(t, r.dirfd, ".")), shownMount(path.Clean(absolute(t, r.dirfd, r.name)))
		if start != end || path.IsAbs(r.name) && start != "/" {
			return unix.EXDEV
		}
	}
	if r.how.Resolve&(unix.RESOLVE_NO_MAGICLINKS|unix.RESOLVE_NO_SYMLINKS) != 0 {
		if v, ok := virtualPath(t, r.dirfd, r.name); ok {
			o, e := lookupVirtual(t, v)
			if e == 0 && (o.kind == pathLink || o.kind == fdLink || o.kind == throughLink) {
				return unix.ELOOP
			}
		}
	}
	return 0
}

func (r *openRequest) has(flags int) bool { return int(r.how.Flags)&flags == flags }

func open(t *kernel.Thread, r openRequest) (res kernel.Result) {
	if t.Wait.Runs > 0 {
		if end, wait, ok := pipe.ResumeOpen(t.Node(), t); ok {
			return openedFIFO(t, &r, end, wait)
		}
	}
	name, e := readPath(t, r.path)
	if e != 0 {
		return kernel.Fail(e)
	}
	r.name = name
	if e := mayResolve(t, &r); e != 0 {
		return kernel.Fail(e)
	}
	if v, ok := virtualPath(t, r.dirfd, name); ok {
		return openVirtual(t, r, v)
	}
	if x := t.Node().Instead; x != nil {
		return openInstead(t, &r, x)
	}
	if e := mayOpen(t, &r); e != 0 {
		return kernel.Fail(e)
	}
	if r.has(unix.O_TRUNC) {
		if st, e := pathStat(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW)); e == 0 {
			t.Node().Files.NoteMode(keyOf(&st), st.Mode)
		}
	}
	if res, done := openUnseen(t, &r); done {
		return res
	}
	if !r.has(unix.O_PATH) && !r.has(unix.O_CREAT|unix.O_EXCL) {
		write := r.how.Flags&(unix.O_ACCMODE|unix.O_TRUNC) != 0
		if res, done := breakLeases(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW), write, !r.has(unix.O_NONBLOCK)); done {
			return res
		}
	}
	isNew := r.has(unix.O_CREAT) && !r.has(unix.O_PATH) && !exists(t, &r)
	if r.has(unix.O_TRUNC) && t.Node().Files.Logs {
		if done := recordSize(contentAt(t, r.dirfd, r.name), 0); done != nil {
			defer func() {
				if res.Op != kernel.OpReturn {
					res.Value = -1
				}
				done(res.Value)
			}()
		}
	}
	fd := openNative(t, &r)
	if fd == -int64(unix.EROFS) && !r.copied && copyLink(t, &r) {
		r.copied = true
		return open(t, r)
	}
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
		t.Node().Use(kernel.UsedFile{Path: h.Path, Key: h.Key(), Use: ariadne.FileRead})
	}
	if !r.has(unix.O_PATH) {
		notifyOpened(t, h, isNew && !r.has(unix.O_TMPFILE))
	}
	switch {
	case r.has(unix.O_PATH):
	case r.has(unix.O_TMPFILE):
		dir, _ := pathStat(t, r.dirfd, r.name, true)
		fileCreated(t, &st, &dir)
		entered(t, namePlace{path: h.Path, ok: logs(t, h.Key(), h.Path)}, &st)
	case isNew:
		dir := namesChanged(t, r.dirfd, name)
		fileCreated(t, &st, &dir)
		entered(t, placeOf(t, atCwd, strings.TrimPrefix(h.Path, t.Proc.Root)), &st)
	case r.has(unix.O_TRUNC):
		t.Node().FileModified(keyOf(&st))
		keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(int(fd))))
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			notifyFile(t, h, unix.IN_MODIFY)
		}
		return kernel.Ret(fd)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		t.Node().Files.NoteMode(h.Key(), st.Mode)
	}
	return kernel.Ret(fd)
}

// copyLink puts a copy in the place of a link in /node that leads beside the spec
// (spec.Node.Links), for a program that opens it to write: a database that its command names, say.
// It is as if the copy had always been there, with what it holds: nothing of that is entered in the
// log of files, and no time is set.
func copyLink(t *kernel.Thread, r *openRequest) bool {
	target, ok := linkBeside(t, r.dirfd, r.name)
	if !ok {
		return false
	}
	from, err := os.Open(threadPath(t, "root") + ToNodeRoot + target)
	if err != nil {
		return false
	}
	defer from.Close()
	var host, own unix.Stat_t
	files := &t.Node().Files
	if unix.Fstat(int(from.Fd()), &host) != nil || host.Mode&unix.S_IFMT != unix.S_IFREG || !files.Disk.Fits(host.Size) || t.M.Syscall(unix.SYS_UNLINKAT, r.dirfd, r.path, 0) != 0 {
		return false
	}
	fd := t.M.Syscall(unix.SYS_OPENAT, r.dirfd, r.path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
	if fd < 0 {
		return false
	}
	defer t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
	to, err := os.OpenFile(threadPath(t, "fd/"+strconv.FormatInt(fd, 10)), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil || unix.Fchmod(int(to.Fd()), host.Mode&0o777) != nil || unix.Fstat(int(to.Fd()), &own) != nil {
		return false
	}
	files.Dirty[keyOf(&own)] = true
	files.Disk.Keep(keyOf(&own), host.Size, false)
	if dir, e := pathStat(t, r.dirfd, parentOf(r.name), true); e == 0 {
		files.Dirty[keyOf(&dir)] = true
	}
	t.Node().Use(kernel.UsedFile{Path: target, Key: keyOf(&host), Use: ariadne.FileRead})
	return true
}

// linkBeside reports whether a path is that of a link in /node that leads beside the spec
// (spec.Node.Links), and where it leads.
func linkBeside(t *kernel.Thread, dirfd uint64, name string) (target string, ok bool) {
	at := path.Clean(absolute(t, dirfd, name))
	rel, inNode := strings.CutPrefix(at, "/node/")
	if !inNode {
		return "", false
	}
	st, e := pathStat(t, dirfd, strings.TrimRight(name, "/"), false)
	if e != 0 || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", false
	}
	target = "/spec/" + rel
	return target, readLink(threadPath(t, "root")+ToNodeRoot+at) == target
}

// openNative lets Linux open the file. It must not wait for the other end of a
// named pipe, so all is opened with O_NONBLOCK, which means nothing to files.
// O_DIRECT is remembered only: not every kernel's tmpfs takes it.
func openNative(t *kernel.Thread, r *openRequest) int64 {
	how := r.how
	if !r.has(unix.O_PATH) {
		how.Flags = how.Flags&^unix.O_DIRECT | unix.O_NONBLOCK
	}
	at := r.path
	if t.Wait.Runs > 0 { // what stands there now need not be the name
		if at = area.Scratch; putScratch(t, r.name) != 0 {
			return -int64(unix.EFAULT)
		}
	}
	if !r.at2 {
		return t.M.Syscall(unix.SYS_OPENAT, r.dirfd, at, how.Flags, how.Mode)
	}
	const howAt = area.Scratch + unix.PathMax
	b := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, how.Flags), how.Mode), how.Resolve)
	if e := t.M.WriteMem(howAt, b); e != 0 {
		return -int64(e)
	}
	return t.M.Syscall(unix.SYS_OPENAT2, r.dirfd, at, howAt, uint64(len(b)))
}

// exists reports whether an open with O_CREAT finds its file there.
func exists(t *kernel.Thread, r *openRequest) bool {
	_, e := pathStat(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW) && !r.has(unix.O_EXCL))
	return e == 0
}

// openFailed is the way out when Linux could not open the file.
func openFailed(t *kernel.Thread, r *openRequest, e kernel.Errno) kernel.Result {
	switch e {
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
	case unix.S_IFCHR: // /dev/null, zero and full are Linux's own
		if minor := unix.Minor(st.Rdev); unix.Major(st.Rdev) == memDevices && (minor == devRandom || minor == devUrandom) {
			t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
			n, e := t.NewFD(&random.File{Minor: int(minor)}, statusFlags(int(r.how.Flags))|int(r.how.Flags)&unix.O_CLOEXEC)
			return kernel.RetOr(n, e), true
		}
	}
	return res, false
}

func openFIFO(t *kernel.Thread, r *openRequest, key inode.Key) kernel.Result {
	refuseFIFONotify(t, r.dirfd, r.name)
	end, wait, e := pipe.OpenNamed(t.Node(), t, key, int(r.how.Flags))
	if e != 0 {
		return kernel.Fail(e)
	}
	return openedFIFO(t, r, end, wait)
}

// openedFIFO is what becomes of the open of a named pipe of which there is an end, or that waits.
func openedFIFO(t *kernel.Thread, r *openRequest, end *pipe.End, wait *kernel.Queue) kernel.Result {
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

// sysFallocate checks in Linux's order. What a tmpfs cannot do, and an ext4 can, is done here.
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
	case way == unix.FALLOC_FL_UNSHARE_RANGE, way&^unix.FALLOC_FL_PUNCH_HOLE != 0 && strings.HasPrefix(h.Path, "/memfd:"):
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
