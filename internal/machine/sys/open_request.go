package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// The parts of an open that do not depend on what the path names.

// openRequest is one form for open, creat, openat and openat2.
type openRequest struct {
	dirfd, path uint64
	name        string // what is at path
	how         unix.OpenHow
	at2         bool  // openat2: has resolve flags, checks strictly
	route       route // how the path is followed, when not from its beginning
	copied      bool  // copyLink has made room for it
	again       bool  // it names another path now, which is still to be opened
}

func (r *openRequest) has(flags int) bool { return int(r.how.Flags)&flags == flags }

// exists reports whether an open with O_CREAT finds its file there.
func exists(t *kernel.Thread, r *openRequest) bool {
	_, e := pathStat(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW) && !r.has(unix.O_EXCL))
	return e == 0
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
