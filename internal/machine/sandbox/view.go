package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// View is the host's files as they are, with some directories in the root directory besides. It is
// for commands that are no nodes'. Descriptors keep its mount namespace alive: it ends with
// Ariadne, and with the processes in it.
type View struct {
	user, mounts int // descriptors of namespaces; user is -1 where Ariadne itself may mount
}

// Shown is the host's directory Dir, which a view shows at At, a name in the root directory.
type Shown struct{ At, Dir string }

// NewView returns a view that shows some directories. Their content may change later. stage is an
// empty directory of the host's, which can be removed afterwards. Close must follow.
func NewView(stage string, shown []Shown) (*View, error) {
	runtime.LockOSThread() // it traces
	defer runtime.UnlockOSThread()
	v := &View{user: -1}
	var first error
	if os.Geteuid() == 0 {
		if first = v.build(stage, shown); first == nil {
			return v, nil
		}
	}
	ns, err := namespacesFor(os.Getuid(), os.Getgid())
	if err == nil {
		v.user = ns.user
		err = v.build(stage, shown)
	}
	switch {
	case err == nil:
		return v, nil
	case first != nil:
		err = fmt.Errorf("%w; in a user namespace: %w", first, err)
	}
	return nil, err
}

// build makes the mount namespace.
func (v *View) build(stage string, shown []Shown) error {
	p := &program{}
	if v.user >= 0 {
		p.enter(v.user, unix.CLONE_NEWUSER, "user")
	}
	p.add("new mount namespace", 0, unix.SYS_UNSHARE, unix.CLONE_NEWNS)
	p.add("umask", 0, unix.SYS_UMASK, 0)
	p.mount("make mounts private", "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	p.mount("mount the root tmpfs", "ariadne", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755")
	// What is put together here is not to be copied with the directory in which it lies.
	p.mount("leave it out of copies", "", stage, "", unix.MS_UNBINDABLE, "")
	host, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, d := range host {
		name := "/" + d.Name()
		if slices.ContainsFunc(shown, func(s Shown) bool { return s.At == name }) {
			continue
		}
		if err := p.show(stage+name, name, d.Type()); err != nil {
			return err
		}
	}
	for _, s := range shown {
		if err := p.show(stage+s.At, s.Dir, os.ModeDir); err != nil {
			return err
		}
	}
	p.mountAttr("make the root read-only", stage, 0, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	p.add("enter the new root", 0, unix.SYS_CHDIR, p.str(stage))
	dot := p.str(".")
	p.add("pivot_root", 0, unix.SYS_PIVOT_ROOT, dot, dot)
	p.add("detach the host's root", 0, unix.SYS_UMOUNT2, dot, unix.MNT_DETACH)
	p.traced()
	p.add("exec", 0, unix.SYS_EXECVE, p.str("/proc/self/exe"), p.strs([]string{"ariadne"}), p.strs(nil))
	pid, err := p.start()
	if err != nil {
		return err
	}
	defer func() {
		unix.Kill(pid, unix.SIGKILL) // its id is its own until it is waited for
		unix.Wait4(pid, nil, unix.WALL, nil)
	}()
	v.mounts, err = openNamespace(pid, "mnt")
	return err
}

// show makes at a name what the host has at another one.
func (p *program) show(at, name string, mode os.FileMode) error {
	what := "show " + name
	switch mode.Type() {
	case os.ModeSymlink:
		target, err := os.Readlink(name)
		if err != nil {
			return err
		}
		p.add(what, 0, unix.SYS_SYMLINK, p.str(target), p.str(at))
		return nil
	case os.ModeDir:
		p.add(what, 0, unix.SYS_MKDIR, p.str(at), 0o755)
	default:
		p.add(what, 0, unix.SYS_MKNOD, p.str(at), unix.S_IFREG|0o644, 0)
	}
	p.mount(what, name, at, "", unix.MS_BIND|unix.MS_REC, "")
	return nil
}

// traced has a program end with Ariadne's thread, and be traced by it.
func (p *program) traced() {
	p.followed()
	p.add("be traced", 0, unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0)
}

// followed has a program end with Ariadne's thread.
func (p *program) followed() {
	// Another user namespace made this memory, still shared with Ariadne, undumpable.
	p.add("set dumpable", 0, unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	p.add("set the death signal", 0, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	p.add("find Ariadne alive", whole, unix.SYS_GETPPID, 0, 0, uintptr(unix.Getpid()))
}

// Close gives the view up. Processes that run in it keep it.
func (v *View) Close() { unix.Close(v.mounts) }

// Command is a command of the host's.
type Command struct {
	Program string   // its path
	Args    []string // the program's name first
	Env     []string
	Dir     string
	In, Out *os.File // Out is also for errors
	Traced  bool     // by the calling thread, which stops it behind its exec
}

// Start starts a command in the view, as the leader of a process group of its own. The command ends
// with the calling thread.
func (v *View) Start(c Command) (pid int, err error) {
	in, out := c.In.Fd(), c.Out.Fd()
	if in <= 2 || out <= 2 {
		return 0, fmt.Errorf("descriptors %d and %d are in the way of the command's", in, out)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	files, err := ownFiles()
	if err != nil {
		return 0, err
	}
	p := &program{}
	if v.user >= 0 {
		p.enter(v.user, unix.CLONE_NEWUSER, "user")
	}
	p.enter(v.mounts, unix.CLONE_NEWNS, "mount")
	p.add("setpgid", 0, unix.SYS_SETPGID, 0, 0)
	p.add("directory "+c.Dir, 0, unix.SYS_CHDIR, p.str(c.Dir))
	p.add("prlimit", mayFail, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, hold(p, files), 0)
	p.add("dup", 0, unix.SYS_DUP2, in, 0)
	p.add("dup", 0, unix.SYS_DUP2, out, 1)
	p.add("dup", 0, unix.SYS_DUP2, out, 2)
	if c.Traced {
		p.traced()
	} else {
		p.followed()
	}
	p.ownSignals()
	p.add("exec "+c.Program, 0, unix.SYS_EXECVE, p.str(c.Program), p.strs(c.Args), p.strs(c.Env))
	syscall.ForkLock.Lock() // as who starts processes by Go's means
	defer syscall.ForkLock.Unlock()
	return p.launch()
}

// ownSignals has none of Go's handlers run: what Ariadne ignores is ignored, nothing is held back.
func (p *program) ownSignals() {
	var dfl [4]uint64 // handler, flags, restorer, mask
	for s := uintptr(1); s <= 64; s++ {
		var now [4]uint64
		// neither SIG_DFL nor SIG_IGN
		if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, 0, hold(p, &now), 8, 0, 0); e == 0 && now[0] > 1 {
			p.add("sigaction", mayFail, unix.SYS_RT_SIGACTION, s, hold(p, &dfl), 0, 8)
		}
	}
	var none uint64
	p.add("sigprocmask", 0, unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, hold(p, &none), 0, 8)
}

// ownFiles is the limit of open files with which Ariadne was started: Go has raised its own.
var ownFiles = sync.OnceValues(func() (*unix.Rlimit, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"ariadne"},
		&syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return nil, err
	}
	var l unix.Rlimit
	err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &l)
	unix.Kill(pid, unix.SIGKILL) // before its first instruction
	unix.Wait4(pid, nil, unix.WALL, nil)
	return &l, err
})
