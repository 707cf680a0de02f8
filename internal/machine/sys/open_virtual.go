package sys

import (
	"path"
	"strconv"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signalfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"

	"golang.org/x/sys/unix"
)

// openVirtual opens a virtual path, or makes r one for the path to which it leads
// (openRequest.again).
func openVirtual(t *kernel.Thread, r *openRequest, v string) kernel.Result {
	flags := int(r.how.Flags)
	o, e := lookupVirtual(t, v)
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY
	switch {
	case e != 0:
		return kernel.Fail(e)
	case flags&unix.O_CREAT != 0 && flags&unix.O_EXCL != 0:
		return kernel.Fail(unix.EEXIST)
	case o.kind == terminal:
		return openTerminal(t, flags, v)
	case o.kind == dialogFile && flags&unix.O_DIRECTORY != 0:
		return kernel.Fail(unix.ENOTDIR)
	case o.kind == dialogFile:
		fd, e := t.NewFD(&dialog.File{}, statusFlags(flags)|flags&unix.O_CLOEXEC)
		return kernel.RetOr(fd, e)
	case o.mode()&unix.S_IFMT == unix.S_IFLNK && flags&unix.O_NOFOLLOW != 0:
		return kernel.Fail(unix.ELOOP)
	case o.kind == selfLink:
		return openVirtual(t, r, "/proc/"+selfTarget(t, v))
	}
	if e := mayOpenVirtual(t, v, o, flags); e != 0 {
		return kernel.Fail(e)
	}
	switch {
	case o.kind == fdLink:
		return reopen(t, r, o)
	case o.kind == pathLink || o.kind == throughLink:
		r.route, _ = routeOf(t, r.dirfd, r.name)
		return openLink(t, r, v)
	case o.kind == plainDir && writes:
		return kernel.Fail(unix.EISDIR)
	case o.kind == plainDir:
		fd, e := t.NewFD(&procfs.Dir{Path: v}, statusFlags(flags)|flags&unix.O_CLOEXEC)
		return kernel.RetOr(fd, e)
	case flags&unix.O_DIRECTORY != 0:
		return kernel.Fail(unix.ENOTDIR)
	case o.kind == memFile:
		return openMemory(t, flags, v, o)
	case o.kind == attrFile && writes && o.proc == nil:
		f := &procfs.Setting{Name: o.name}
		fd, e := t.NewFD(f, statusFlags(flags)|flags&unix.O_CLOEXEC)
		return kernel.RetOr(fd, e)
	case o.kind == attrFile && writes:
		f := &procfs.Attr{Name: o.name, Proc: o.proc, Thread: o.thread}
		fd, e := t.NewFD(f, statusFlags(flags)|flags&unix.O_CLOEXEC)
		return kernel.RetOr(fd, e)
	case writes:
		return kernel.Fail(unix.EACCES)
	}
	return openText(t, flags, v, o)
}

// mayOpenVirtual checks the mode of a file of /proc, and whom it is shown to.
func mayOpenVirtual(t *kernel.Thread, v string, o object, flags int) kernel.Errno {
	if !o.shownTo(t) {
		return unix.EACCES
	}
	setting := o.kind == attrFile && o.proc == nil
	if isNodeUser(t) && !setting || o.kind != textFile && o.kind != attrFile && o.kind != memFile ||
		flags&unix.O_PATH != 0 {
		return 0
	}
	st, e := statVirtual(t, v, false)
	if e != 0 {
		return e
	}
	rights := [...]uint32{kernel.MayRead, kernel.MayWrite, kernel.MayRead | kernel.MayWrite, 0}[flags&unix.O_ACCMODE]
	if !t.Cred.MayUse(st.Mode, int(st.Uid), int(st.Gid), rights) {
		return unix.EACCES
	}
	return 0
}

// openText opens a virtual file as a memory file with its content.
func openText(t *kernel.Thread, flags int, v string, o object) kernel.Result {
	if e := putScratch(t, "proc"); e != 0 {
		return kernel.Fail(e)
	}
	var mfd uint64
	if flags&unix.O_CLOEXEC != 0 {
		mfd = unix.MFD_CLOEXEC
	}
	fd := t.M.Syscall(unix.SYS_MEMFD_CREATE, area.Scratch, mfd)
	if fd < 0 {
		return kernel.Ret(fd)
	}
	host, e := t.M.HostFD(int(fd))
	if e != 0 {
		return kernel.Fail(e)
	}
	defer unix.Close(host)
	text := []byte(o.text(o.view(t)))
	for off := 0; off < len(text); {
		n, err := unix.Pwrite(host, text[off:], int64(off))
		if err != nil {
			return kernel.Fail(errnoOf(err))
		}
		off += n
	}
	var st unix.Stat_t
	if err := unix.Fstat(host, &st); err != nil {
		return kernel.Fail(errnoOf(err))
	}
	h := &kernel.HostFile{Path: v, Dev: st.Dev, Ino: st.Ino, Mode: o.mode(), Synthetic: true, Entry: &kernel.Entry{}}
	t.FDs().Set(int(fd), &kernel.OpenFile{File: h, Flags: statusFlags(flags)}, flags&unix.O_CLOEXEC != 0)
	return kernel.Ret(fd)
}

// openLink opens what exe, cwd or root leads to.
func openLink(t *kernel.Thread, r *openRequest, v string) kernel.Result {
	target, e := virtualLink(t, v)
	if e != 0 {
		return kernel.Fail(e)
	}
	if !path.IsAbs(target) { // a namespace
		t.Node().Refuse(t, "open "+v, "", true)
		return kernel.Fail(unix.EACCES)
	}
	return openOther(t, r, target)
}

// openOther has another path opened, with the flags of r.
func openOther(t *kernel.Thread, r *openRequest, name string) kernel.Result {
	if e := putScratch(t, name); e != 0 {
		return kernel.Fail(e)
	}
	r.dirfd, r.path, r.at2, r.again = atCwd, area.Scratch, false, true
	return kernel.Result{}
}

// reopen opens what a descriptor's link leads to: a file by its path, when that is still
// the same; all else is shared with the descriptor.
func reopen(t *kernel.Thread, r *openRequest, o object) kernel.Result {
	of := o.proc.FDs.Get(o.fd)
	if h, ok := of.File.(*kernel.HostFile); ok && !h.Synthetic {
		name := fdName(o.thread, h, o.fd)
		if st, e := pathStat(t, atCwd, name, false); e == 0 && keyOf(&st) == h.Key() {
			r.route = route{root: threadPath(t, "root"), dir: "/", name: name, free: true}
			return openOther(t, r, name)
		}
		return reopenNameless(t, r, o, h)
	}
	if _, dir := of.File.(*procfs.Dir); r.has(unix.O_DIRECTORY) && !dir {
		return kernel.Fail(unix.ENOTDIR)
	}
	switch f := of.File.(type) {
	case *epoll.Set, *eventfd.File, *timerfd.File, *signalfd.File, *inotify.Instance:
		return kernel.Fail(unix.ENXIO)
	case *pipe.End:
		return reopenPipe(t, r, f.Pipe)
	case *procfs.Dir:
		return openVirtual(t, r, f.Path)
	}
	if f, ok := of.File.(kernel.Moder); ok && f.StatMode()&unix.S_IFMT == unix.S_IFSOCK {
		return kernel.Fail(unix.ENXIO)
	}
	if o.proc != t.Proc {
		t.Node().Refuse(t, "open a descriptor of another process", r.name, false)
		return kernel.Fail(unix.EACCES)
	}
	cloexec := r.has(unix.O_CLOEXEC)
	cmd := uint64(unix.F_DUPFD)
	if cloexec {
		cmd = unix.F_DUPFD_CLOEXEC
	}
	return mirrorDup(t, of, cloexec, t.M.Syscall(unix.SYS_FCNTL, uint64(o.fd), cmd, 0))
}

// reopenPipe opens a pipe that a descriptor refers to: a new end of it, of any kind.
func reopenPipe(t *kernel.Thread, r *openRequest, p *pipe.Pipe) kernel.Result {
	if key, named := p.Name(); named {
		return openFIFO(t, r, key)
	}
	flags := int(r.how.Flags)
	if flags&unix.O_PATH != 0 {
		t.Node().Refuse(t, "open of a pipe's descriptor with O_PATH", r.name, false)
		return kernel.Fail(unix.EACCES)
	}
	mode := flags & unix.O_ACCMODE
	end := p.Open(mode != unix.O_WRONLY, mode != unix.O_RDONLY)
	fd, e := t.NewFD(end, statusFlags(flags)|flags&unix.O_CLOEXEC)
	return kernel.RetOr(fd, e)
}

// reopenNameless opens a host file that a descriptor refers to and that has no name: one
// that was removed, a memory file. The supervisor opens it and hands it over.
func reopenNameless(t *kernel.Thread, r *openRequest, o object, h *kernel.HostFile) kernel.Result {
	flags := int(r.how.Flags)
	st, e := fdStat(o.thread, o.fd)
	if e == 0 && flags&unix.O_PATH == 0 {
		e = askerOf(t).mayOpenFile(&st, flags)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	if flags&unix.O_PATH == 0 {
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG, unix.S_IFDIR:
		case unix.S_IFIFO: // whose other end Ariadne would wait for
			return openFIFO(t, r, keyOf(&st))
		default:
			t.Node().Refuse(t, "open "+r.name, "a device", false)
			return kernel.Fail(unix.ENXIO)
		}
	}
	host, err := unix.Open(threadPath(o.thread, "fd/"+strconv.Itoa(o.fd)),
		flags&^unix.O_CREAT|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return kernel.Fail(errnoOf(err))
	}
	defer unix.Close(host)
	fd, e := t.M.Adopt(host, r.has(unix.O_CLOEXEC))
	if e != 0 {
		return kernel.Fail(e)
	}
	same := &kernel.HostFile{Path: h.Path, Dev: h.Dev, Ino: h.Ino, Mode: h.Mode}
	t.FDs().Set(fd, &kernel.OpenFile{File: same, Flags: statusFlags(flags)}, r.has(unix.O_CLOEXEC))
	if r.has(unix.O_PATH) {
		return kernel.Ret(int64(fd))
	}
	if inotify.Watched(t.Node()) {
		same.Entry = h.Entry
		inotify.TellOpen(t.Node(), same, unix.IN_OPEN)
	}
	if r.has(unix.O_TRUNC) {
		fileModified(t, same)
		notifyFile(t, same, unix.IN_MODIFY)
	}
	return kernel.Ret(int64(fd))
}

// openTerminal opens /dev/ptmx, /dev/tty or a slave.
func openTerminal(t *kernel.Thread, flags int, v string) kernel.Result {
	status := statusFlags(flags) | flags&unix.O_CLOEXEC
	if v == "/dev/ptmx" {
		fd, e := t.NewFD(tty.Open(t.Node(), t.Cred.UID.FS), status)
		return kernel.RetOr(fd, e)
	}
	path, x := "", terminalAt(t, v)
	if v == "/dev/tty" {
		path, x = v, tty.ControllingOf(t.Proc)
	}
	switch {
	case x == nil && v == "/dev/tty":
		return kernel.Fail(unix.ENXIO)
	case x == nil:
		return kernel.Fail(unix.ENOENT)
	case !mayOpenTerminal(t, x, flags) && v != "/dev/tty":
		return kernel.Fail(unix.EACCES)
	}
	s, e := x.OpenSlave(t.Proc, path, flags&unix.O_NOCTTY == 0 && v != "/dev/tty")
	if e != 0 {
		return kernel.Fail(e)
	}
	fd, e := t.NewFD(s, status)
	if e != 0 {
		s.Release(t.Node())
	}
	return kernel.RetOr(fd, e)
}

// mayOpenTerminal looks at the slave's mode.
func mayOpenTerminal(t *kernel.Thread, x *tty.Terminal, flags int) bool {
	cred := &t.Cred
	if t.Capable(unix.CAP_DAC_OVERRIDE) {
		return true
	}
	want := [...]uint32{unix.O_RDONLY: 4, unix.O_WRONLY: 2, unix.O_RDWR: 6}[min(flags&unix.O_ACCMODE, unix.O_RDWR)]
	mode := x.Mode
	switch {
	case cred.UID.FS == x.UID:
		mode >>= 6
	case cred.GID.FS == x.GID:
		mode >>= 3
	}
	return mode&want == want
}

// openMemory opens /proc/PID/mem.
func openMemory(t *kernel.Thread, flags int, v string, o object) kernel.Result {
	switch {
	case o.thread == nil:
		return kernel.Fail(unix.ESRCH) // it has ended
	case o.thread.M == nil:
		return kernel.Fail(unix.EACCES) // process 1
	}
	fd, e := t.NewFD(&procfs.Mem{Path: v, MM: o.proc.MM}, statusFlags(flags)|flags&unix.O_CLOEXEC)
	return kernel.RetOr(fd, e)
}
