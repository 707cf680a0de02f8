package sys

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// watched makes file calls twice: in a node below its directory, and in Linux below another one.
// Both have an inotify instance.
type watched struct {
	*files
	dir        string // Linux's
	ours, real int    // the instances
	log        []string
	cookies    [2]map[uint32]int // numbers of cookies, in the order in which they came
	open       [][2]int          // descriptors of the same files
}

func newWatched(t *testing.T) *watched {
	w := &watched{files: newFiles(t), dir: t.TempDir(), cookies: [2]map[uint32]int{{}, {}}}
	w.ours = int(w.call(unix.SYS_INOTIFY_INIT1, unix.IN_NONBLOCK))
	var err error
	if w.real, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(w.real) })
	return w
}

// both makes a call, of which linux is Linux's own, and compares the results.
func (w *watched) both(linux func() (int, error), nr int, args ...any) int {
	w.Helper()
	got := w.call(nr, args...)
	n, err := linux()
	if err != nil {
		n = -int(err.(unix.Errno))
	}
	w.log = append(w.log, fmt.Sprintf("%d%v = %s", nr, args, sayResult(int64(n))))
	if got != int64(n) {
		w.Fatalf("got %s, Linux says %s, after %q", sayResult(got), sayResult(int64(n)), w.log)
	}
	return n
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watched) mkdir(name string) {
	w.both(func() (int, error) { return 0, unix.Mkdir(w.path(name), 0o755) }, unix.SYS_MKDIR, name, 0o755)
}

// create opens a file that need not be there, and keeps it open.
func (w *watched) create(name string, flags int) {
	w.Helper()
	ours := int(w.call(unix.SYS_OPENAT, int(unix.AT_FDCWD), name, flags, 0o644))
	linux, err := unix.Open(w.path(name), flags|unix.O_CLOEXEC, 0o644)
	w.log = append(w.log, fmt.Sprintf("open %s, %#x: %v", name, flags, err))
	if (ours >= 0) != (err == nil) || err != nil && -ours != int(err.(unix.Errno)) {
		w.Fatalf("open %s: %d, Linux says %v, after %q", name, ours, err, w.log)
	}
	if err == nil {
		w.open = append(w.open, [2]int{ours, linux})
	}
}

// events reads with a buffer of some size. Cookies are told by when they came first.
func (w *watched) events(size int) {
	w.Helper()
	n := w.call(unix.SYS_READ, w.ours, w.data(), size)
	buf := make([]byte, size)
	m, err := unix.Read(w.real, buf)
	if err != nil {
		m = -int(err.(unix.Errno))
	}
	ours, linux := sayResult(n), sayResult(int64(m))
	if n > 0 {
		ours = w.said(0, w.m.Bytes(w.data(), int(n)))
	}
	if m > 0 {
		linux = w.said(1, buf[:m])
	}
	if w.log = append(w.log, fmt.Sprintf("read %d bytes: %s", size, linux)); ours != linux {
		w.Fatalf("read %s, Linux says %s, after %q", ours, linux, w.log)
	}
}

// said is what is in a buffer of events.
func (w *watched) said(whose int, b []byte) (text string) {
	for len(b) >= unix.SizeofInotifyEvent {
		cookie, size := le.Uint32(b[8:]), unix.SizeofInotifyEvent+int(le.Uint32(b[12:]))
		if _, ok := w.cookies[whose][cookie]; !ok && cookie != 0 {
			w.cookies[whose][cookie] = len(w.cookies[whose]) + 1
		}
		text += fmt.Sprintf("[%d %#x %d %q]", int32(le.Uint32(b)), le.Uint32(b[4:]), w.cookies[whose][cookie],
			b[unix.SizeofInotifyEvent:size])
		b = b[size:]
	}
	return text
}

// TestInotifyAsLinux: random calls on files tell who watches them what they tell on Linux: which
// events come, in which order, with which names and cookies, how many fit into a buffer, and when
// a watch ends.
func TestInotifyAsLinux(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	names := []string{"a", "b", "d/a", "d/with-a-longer-name", "e/a", "d/f/a"}
	dirs := []string{"d", "e", "d/f", "e/f"}
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			w := newWatched(t)
			defer func() {
				for _, fd := range w.open {
					w.call(unix.SYS_CLOSE, fd[0])
					unix.Close(fd[1])
				}
			}()
			w.mkdir("d")
			w.mkdir("e")
			any := func() string {
				all := append(append([]string{"."}, names...), dirs...)
				return all[r.IntN(len(all))]
			}
			for range 80 {
				name, other := names[r.IntN(len(names))], names[r.IntN(len(names))]
				switch k := r.IntN(100); {
				case k < 14:
					mask := uint32(unix.IN_ALL_EVENTS)
					if r.IntN(2) == 0 {
						mask &= r.Uint32()
					}
					for _, bit := range []uint32{unix.IN_ONESHOT, unix.IN_ONLYDIR, unix.IN_EXCL_UNLINK,
						unix.IN_MASK_ADD, unix.IN_MASK_CREATE} {
						if r.IntN(6) == 0 {
							mask |= bit
						}
					}
					at := any()
					w.both(func() (int, error) { return unix.InotifyAddWatch(w.real, w.path(at), mask) },
						unix.SYS_INOTIFY_ADD_WATCH, w.ours, at, int(mask))
				case k < 18:
					wd := 1 + r.IntN(6)
					w.both(func() (int, error) { return unix.InotifyRmWatch(w.real, uint32(wd)) },
						unix.SYS_INOTIFY_RM_WATCH, w.ours, wd)
				case k < 30:
					size := r.IntN(40)
					if r.IntN(3) > 0 {
						size = 4096
					}
					w.events(size)
				case k < 45:
					w.create(name,
						[]int{unix.O_RDONLY, unix.O_WRONLY | unix.O_CREAT, unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC,
							unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL}[r.IntN(4)])
				case k < 65 && len(w.open) > 0:
					i := r.IntN(len(w.open))
					fd, size := w.open[i], r.IntN(3)
					switch r.IntN(4) {
					case 0:
						w.both(func() (int, error) { return unix.Write(fd[1], make([]byte, size)) }, unix.SYS_WRITE,
							fd[0], w.data(), size)
					case 1:
						w.both(func() (int, error) { return unix.Read(fd[1], make([]byte, size)) }, unix.SYS_READ,
							fd[0], w.data(), size)
					case 2:
						w.both(func() (int, error) { return 0, unix.Fchmod(fd[1], 0o600) }, unix.SYS_FCHMOD, fd[0],
							0o600)
					default:
						w.both(func() (int, error) { return 0, unix.Close(fd[1]) }, unix.SYS_CLOSE, fd[0])
						w.open = append(w.open[:i], w.open[i+1:]...)
					}
				case k < 72:
					w.both(func() (int, error) { return 0, unix.Unlink(w.path(name)) }, unix.SYS_UNLINK, name)
				case k < 80:
					w.both(func() (int, error) { return 0, unix.Rename(w.path(name), w.path(other)) }, unix.SYS_RENAME,
						name, other)
				case k < 84:
					w.both(func() (int, error) { return 0, unix.Link(w.path(name), w.path(other)) }, unix.SYS_LINK,
						name, other)
				case k < 88:
					w.both(func() (int, error) { return 0, unix.Chmod(w.path(name), 0o640) }, unix.SYS_CHMOD, name,
						0o640)
				case k < 91:
					w.both(func() (int, error) { return 0, unix.Truncate(w.path(name), 1) }, unix.SYS_TRUNCATE, name, 1)
				case k < 94:
					w.mkdir(dirs[r.IntN(len(dirs))])
				case k < 97:
					from, to := dirs[r.IntN(len(dirs))], dirs[r.IntN(len(dirs))]
					w.both(func() (int, error) { return 0, unix.Rename(w.path(from), w.path(to)) }, unix.SYS_RENAME,
						from, to)
				default:
					name := dirs[r.IntN(len(dirs))]
					w.both(func() (int, error) { return 0, unix.Rmdir(w.path(name)) }, unix.SYS_RMDIR, name)
				}
			}
			w.events(1 << 14)
			for _, refused := range w.d.Node.Refusals {
				t.Errorf("refused: %+v, after %q", refused, w.log)
			}
		})
	}
}
