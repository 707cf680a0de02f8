//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"

	"golang.org/x/sys/unix"
)

// watch finds out what a checker, with all that it starts, may have learnt of an image: it does the
// same on each other image that is the same at these places. It stops the checker at each system
// call (ptrace), at whose entry the paths among its arguments are looked up in the image as it was
// in the beginning. The checker's own changes since then are a function of what it has seen before.
// Files that it moves count as seen as a whole, so it may look at them by their new names. Files
// that are opened count as read as a whole, directories as listed. After a call that is not known
// here everything has been seen.
type watch struct {
	images []string        // where it is, without links on the way: by any of these paths
	shown  []sandbox.Shown // what else the checker finds elsewhere than this process does
	tree   *tree           // what was in it at first
	places []place
	known  map[place]bool
	all    string       // why everything may have been seen, or ""
	tasks  map[int]bool // threads that have stopped once, and are there
}

func newWatch(t *tree) *watch {
	return &watch{tree: t, known: map[place]bool{}, tasks: map[int]bool{}}
}

// at says where the image is: in a directory, and where this is shown.
func (w *watch) at(dir string, shown []sandbox.Shown) {
	w.images, w.shown = []string{dir}, shown
	for _, s := range shown {
		if s.Dir == dir {
			w.images = append(w.images, s.At)
		}
	}
}

// real is the path by which this process finds a file of the checker's.
func (w *watch) real(name string) string {
	for _, s := range w.shown {
		if within(name, s.At) {
			return s.Dir + name[len(s.At):]
		}
	}
	return name
}

// wnothread is __WNOTHREAD: children of this thread alone.
const wnothread = 0x20000000

// follow lets a process that was started to be traced run to its end, and says how it has ended. Of
// all that it has started nothing is left then. It is killed when ctx ends. The caller's thread has
// no other children.
func (w *watch) follow(ctx context.Context, pid int) (status syscall.WaitStatus, err error) {
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		unix.Kill(pid, unix.SIGKILL)
		syscall.Wait4(pid, nil, unix.WALL, nil)
		return 0, fmt.Errorf("checker: pidfd_open: %w", err)
	}
	defer unix.Close(handle)
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
		close(killed)
	})
	status, err = w.loop(pid)
	if !stop() {
		<-killed
	}
	return status, err
}

func (w *watch) loop(pid int) (status syscall.WaitStatus, err error) {
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	w.tasks[pid] = true
	began, ended := false, false
	for {
		var s syscall.WaitStatus
		tid, e := syscall.Wait4(-1, &s, unix.WALL|wnothread, nil)
		switch {
		case e == syscall.EINTR:
			continue
		case e == syscall.ECHILD && ended: // of all that it has started nothing is left
			return status, err
		case e != nil:
			return status, fmt.Errorf("checker: wait: %w", e)
		}
		if !s.Stopped() {
			delete(w.tasks, tid)
			if tid == pid {
				status, ended = s, true
				for t := range w.tasks { // they are ours until they are waited for
					unix.Kill(t, unix.SIGKILL)
				}
			}
			continue
		}
		signal := 0
		switch {
		case !began: // its exec
			began = true
			if e := unix.PtraceSetOptions(tid, options); e != nil {
				err = fmt.Errorf("checker: ptrace: %w", e)
				unix.Kill(pid, unix.SIGKILL)
			}
		case ended:
			unix.Kill(tid, unix.SIGKILL)
		default:
			signal = w.stopped(tid, s)
		}
		// it fails when the thread was killed meanwhile, which then ends
		unix.PtraceSyscall(tid, signal)
	}
}

// stopped looks at a thread that has stopped, and returns the signal that it is to get.
func (w *watch) stopped(tid int, s syscall.WaitStatus) (signal int) {
	begun := w.tasks[tid]
	w.tasks[tid] = true
	sig := s.StopSignal()
	switch {
	case sig == unix.SIGTRAP|0x80:
		w.entered(tid)
		return 0
	case s.TrapCause() > 0:
		// A thread that was not the first takes the first one's id when it executes something.
		if was, err := unix.PtraceGetEventMsg(tid); s.TrapCause() == unix.PTRACE_EVENT_EXEC && err == nil &&
			int(was) != tid {
			delete(w.tasks, int(was))
		}
		return 0
	case sig == unix.SIGSTOP && !begun:
		return 0
	}
	switch sig {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		var info [128]byte
		if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0,
			uintptr(unsafe.Pointer(&info)), 0, 0); e != 0 {
			w.everything("a stop") // by the signal, which it would not go on from
			return 0
		}
	}
	return int(sig)
}

// everything notes that all may have been seen.
func (w *watch) everything(why string) {
	if w.all == "" {
		w.all = why
	}
}

// saw notes that a place was seen.
func (w *watch) saw(kind placeKind, name string) {
	if p := (place{kind, name}); !w.known[p] {
		w.known[p] = true
		w.places = append(w.places, p)
	}
}

// call is a system call at its entry.
type call struct {
	*watch
	tid  int
	args [6]uint64
}

// entered looks at a thread that stands before or behind a system call.
func (w *watch) entered(tid int) {
	if w.all != "" {
		return
	}
	var info struct {
		op     uint8
		_      [3]uint8
		arch   uint32
		ip, sp uint64
		nr     uint64
		args   [6]uint64
	}
	n, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case e == unix.ESRCH: // it was killed
		return
	case e != 0 || n == 0:
		w.everything("PTRACE_GET_SYSCALL_INFO: " + e.Error())
		return
	case info.op != 1: // an exit
		return
	case info.arch != unix.AUDIT_ARCH_X86_64 || info.nr >= uint64(len(looks)):
		w.everything(fmt.Sprintf("call %#x of architecture %#x", info.nr, info.arch))
		return
	}
	look := looks[info.nr]
	if look == nil {
		w.everything(fmt.Sprintf("call %d", info.nr))
		return
	}
	look(&call{w, tid, info.args})
}

// text reads a string of the program's. Not ok: there is none, and the call fails.
func (c *call) text(at uint64) (s string, ok bool) {
	var b [unix.PathMax]byte
	n := 0
	for n < len(b) {
		m := min(len(b)-n, 4096-int((at+uint64(n))%4096))
		got := c.read(at+uint64(n), b[n:n+m])
		if i := strings.IndexByte(string(b[n:n+got]), 0); i >= 0 {
			return string(b[:n+i]), true
		}
		if n += got; got < m {
			if at != 0 { // what is not to be read is readable to Linux all the same
				c.everything("a path that cannot be read")
			}
			return "", false
		}
	}
	return "", false
}

// read reads the program's memory.
func (c *call) read(at uint64, b []byte) int {
	n, err := unix.ProcessVMReadv(c.tid, []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}},
		[]unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err != nil {
		if err != unix.EFAULT && err != unix.ESRCH {
			c.everything("process_vm_readv: " + err.Error())
		}
		return 0
	}
	return n
}

// from is where a path begins that does not begin with a slash.
func (c *call) from(dirfd uint64) string {
	link := fmt.Sprintf("/proc/%d/cwd", c.tid)
	if int32(dirfd) != unix.AT_FDCWD {
		link = fmt.Sprintf("/proc/%d/fd/%d", c.tid, int32(dirfd))
	}
	dir, err := os.Readlink(link)
	switch {
	case err != nil || !strings.HasPrefix(dir, "/"):
		return "" // the call fails
	case strings.HasSuffix(dir, " (deleted)"):
		c.everything("a directory that was removed")
		return ""
	}
	return dir
}

// path is what a call names, seen from the root. An empty path means what is open, which was seen
// then, or the working directory.
func (c *call) path(dirfd, at uint64) (name string, ok bool) {
	if name, ok = c.text(at); !ok || name == "" && int32(dirfd) != unix.AT_FDCWD {
		return "", false
	}
	if strings.HasPrefix(name, "/") {
		return name, true
	}
	dir := c.from(dirfd)
	if dir != "" && name != "" {
		dir += "/" + name
	}
	return dir, dir != ""
}

// maxLinks is how many links Linux follows in a path.
const maxLinks = 40

// resolve looks a path from the root up, and notes what of the image is seen on the way. follow:
// also a link that is last. inside: it ends in the image, where f was at first, or nothing.
func (w *watch) resolve(name string, follow bool) (at string, f *file, inside bool) {
	rest, links := strings.Split(name, "/"), 0
	follow = follow || strings.HasSuffix(name, "/")
	var dir []string // where it has come to, without links
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			dir = dir[:max(len(dir)-1, 0)]
			continue
		}
		goesOn := follow || strings.Join(rest, "") != ""
		target := ""
		if at, inside := w.below(dir); inside {
			f := w.find(at)
			// the call fails, or is about what the checker has made there
			if f == nil || !f.directory() {
				return "", nil, false
			}
			w.saw(nameOf, "")
			w.saw(nameOf, path.Join(at, part))
			if f = f.names.get(part); f != nil && f.attr.Mode&unix.S_IFMT == unix.S_IFLNK && goesOn {
				target = f.target
			}
		} else if len(dir) > 1 && dir[0] == "proc" {
			switch {
			case goesOn && (part == "cwd" || part == "root" || part == "map_files"), dir[len(dir)-1] == "fd" &&
				strings.Join(rest, "") != "":
				w.everything("links of /proc")
				return "", nil, false
			}
		} else if goesOn {
			target, _ = os.Readlink(w.real("/" + strings.Join(append(dir[:len(dir):len(dir)], part), "/")))
		}
		if target == "" {
			dir = append(dir[:len(dir):len(dir)], part)
			continue
		}
		if links++; links > maxLinks {
			return "", nil, false
		}
		if strings.HasPrefix(target, "/") {
			dir = nil
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if at, inside = w.below(dir); inside {
		w.saw(nameOf, at)
		f = w.find(at)
	}
	return at, f, inside
}

// below is where in the image a path leads that has no links in it.
func (w *watch) below(dir []string) (at string, inside bool) {
	name := "/" + strings.Join(dir, "/")
	for _, image := range w.images {
		if within(name, image) {
			return strings.TrimPrefix(name[len(image):], "/"), true
		}
	}
	return "", false
}

// find is what a path in the image stood for at first, or nil. There are no links on the way.
func (w *watch) find(at string) *file { return w.tree.find(home + "/" + at) }
