// Package sandbox starts the programs of a node: in namespaces of their own, in
// a file tree of their own, traced, for the system-call filter that is made here.
//
// A node sees the host's files read-only; /node, /tmp, /run, /dev/shm, /var/tmp
// and what the spec names are its own, on a tmpfs that belongs to the node's mount
// namespace and is gone with its last process. /proc and /sys are plain files made
// here; what differs between processes is made when it is opened (internal/machine/sys).
// There is no network.
//
// A new process runs no code of Ariadne's: it makes a list of system calls that was
// planned beforehand (program), the last of which is the exec. So a start
// takes a millisecond or two, a process can join the namespaces of another although Go
// programs have many threads, and whatever fails is known by name.
//
// It knows nothing of the emulated kernel and does not run what it starts: the
// caller is the tracer, on its locked thread.
//
// Read next: layout.go (the tree), build.go (the calls that make it),
// filter.go (what stops).
package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/processor"

	"golang.org/x/sys/unix"
)

// Config says what to start. Paths are the node's unless said otherwise.
type Config struct {
	ID       ariadne.NodeID
	Name     string // of the node
	HostName string // default Name
	SpecDir  string // host directory shown as /spec, or ""
	WorkDir  string // host directory copied to /node, or ""
	// paths below SpecDir: links to them are made at the same place in /node
	Links []string
	// which names of a host directory are copied; nil: all
	Shown    func(dir string) func(name string) bool
	Writable []string
	Run      []string // directories of the user's below /run, each behind those that it lies in
	Hosts    []kernel.Host
	CPUs     int // default 1
	// that it is shown; nil: one that is the same everywhere, whatever cpuid says
	Processor *processor.Model
	Memory    int64 // bytes that it is shown to have; default kernel.MemTotal

	Args  []string // Args[0] is looked for in Dir when it has a slash, else in the PATH of Env
	Env   []string
	User  int
	Group int
	Dir   string // default /node
}

func (c *Config) memory() int64 { return cmp.Or(c.Memory, kernel.MemTotal) }

// Start starts the first program of a node and builds the node's file tree. The process is returned
// stopped by the SIGTRAP of its exec (no ptrace options are set, the stop has been waited for). It
// has TreeFD open and no Filter yet. The calling goroutine must be locked to its thread, which
// becomes the tracer; when that thread ends, so does the process.
func Start(cfg Config) (pid int, err error) {
	ns, err := namespacesFor(cfg.User, cfg.Group)
	if err != nil {
		return 0, err
	}
	l, err := plan(cfg)
	if err != nil {
		return 0, fmt.Errorf("node %s: %w", cfg.Name, err)
	}
	defer l.release()
	p := &program{}
	p.limits()
	p.enter(ns.user, unix.CLONE_NEWUSER, "user")
	p.enter(ns.net, unix.CLONE_NEWNET, "network")
	p.add("new namespaces", 0, unix.SYS_UNSHARE, unix.CLONE_NEWNS|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS)
	// where Ariadne has as many open as the new limit is, files of the tree could not be opened
	p.closeAll()
	l.build(p, ids{cfg.User, cfg.Group})
	p.add("sethostname", 0, unix.SYS_SETHOSTNAME, p.content(cfg.hostName()), uintptr(len(cfg.hostName())))
	p.common(cfg)
	p.hideTree()
	return p.finish(cfg)
}

// Spaces are the namespaces of a node, with its file tree, kept alive by descriptors.
type Spaces struct{ fds [len(spaceKinds)]int }

// spaceKinds are the namespaces that the programs of a node share.
var spaceKinds = [...]struct {
	name string
	flag uintptr
}{{"net", unix.CLONE_NEWNET}, {"ipc", unix.CLONE_NEWIPC}, {"uts", unix.CLONE_NEWUTS}, {"mnt", unix.CLONE_NEWNS}}

// SpacesOf opens those of a living member of the node, which Start or Join returned. Close must
// follow.
func SpacesOf(member int) (*Spaces, error) {
	s := &Spaces{}
	for i, k := range spaceKinds {
		fd, err := openNamespace(member, k.name)
		if err != nil {
			for _, open := range s.fds[:i] {
				unix.Close(open)
			}
			return nil, err
		}
		s.fds[i] = fd
	}
	return s, nil
}

// Close gives them up.
func (s *Spaces) Close() {
	for _, fd := range s.fds {
		unix.Close(fd)
	}
}

// Join starts another program in the namespaces and the file tree of a node.
func Join(s *Spaces, cfg Config) (pid int, err error) {
	ns, err := namespacesFor(cfg.User, cfg.Group)
	if err != nil {
		return 0, err
	}
	p := &program{}
	p.limits()
	p.enter(ns.user, unix.CLONE_NEWUSER, "user")
	for i, k := range spaceKinds {
		p.enter(s.fds[i], k.flag, k.name)
	}
	p.common(cfg)
	return p.finish(cfg)
}

func (c *Config) hostName() string {
	if c.HostName != "" {
		return c.HostName
	}
	return c.Name
}

func (p *program) enter(fd int, kind uintptr, name string) {
	p.add("enter the "+name+" namespace", 0, unix.SYS_SETNS, uintptr(fd), kind)
}

func (c *Config) dir() string {
	if c.Dir != "" {
		return c.Dir
	}
	return "/node"
}

// common adds what all programs of a node begin with.
func (p *program) common(cfg Config) {
	p.add("directory "+cfg.dir(), 0, unix.SYS_CHDIR, p.str(cfg.dir()))
	p.attributes()
}

// finish gives up all rights and runs the program.
func (p *program) finish(cfg Config) (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.credentials(cfg.User, cfg.Group)
	if err := p.exec(cfg); err != nil {
		return 0, err
	}
	pid, err := p.start()
	if err != nil {
		return 0, fmt.Errorf("node %s: %s: %w", cfg.Name, strings.Join(cfg.Args, " "), err)
	}
	return pid, nil
}

func (p *program) closeAll() {
	p.add("close all", 0, unix.SYS_CLOSE_RANGE, 0, 1<<32-1, 0)
}

// attributes gives the process what is the same in every execution, whatever
// Ariadne itself was started with.
func (p *program) attributes() {
	p.closeAll()
	p.add("open /dev/null", 0, unix.SYS_OPEN, p.str("/dev/null"), unix.O_RDONLY, 0)
	p.add("open /dev/null", 0, unix.SYS_OPEN, p.str("/dev/null"), unix.O_WRONLY, 0)
	p.add("dup", 0, unix.SYS_DUP2, 1, 2)
	p.add("umask", 0, unix.SYS_UMASK, 0o022)
	p.add("setsid", 0, unix.SYS_SETSID)
	p.add("personality", 0, unix.SYS_PERSONALITY, addrNoRandomize)
	var dfl [4]uint64 // handler, flags, restorer, mask
	for s := uintptr(1); s <= 64; s++ {
		p.add("sigaction", mayFail, unix.SYS_RT_SIGACTION, s, hold(p, &dfl), 0, 8)
	}
	var none uint64
	p.add("sigprocmask", 0, unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, hold(p, &none), 0, 8)
}

// addrNoRandomize is ADDR_NO_RANDOMIZE of personality(2).
const addrNoRandomize = 0x40000

// limits sets Linux's resource limits while the process still has the privileges
// of Ariadne: out of the way of what the node is told, but for the stack, whose
// limit decides where Linux puts mappings.
func (p *program) limits() {
	for _, r := range []struct {
		what     int
		cur, max uint64
	}{
		{unix.RLIMIT_NOFILE, kernel.SoftFiles, kernel.MaxFiles},
		{unix.RLIMIT_MEMLOCK, unix.RLIM_INFINITY, unix.RLIM_INFINITY},
		{unix.RLIMIT_NPROC, unix.RLIM_INFINITY, unix.RLIM_INFINITY},
		{unix.RLIMIT_AS, unix.RLIM_INFINITY, unix.RLIM_INFINITY},
		{unix.RLIMIT_DATA, unix.RLIM_INFINITY, unix.RLIM_INFINITY},
		{unix.RLIMIT_FSIZE, unix.RLIM_INFINITY, unix.RLIM_INFINITY},
		{unix.RLIMIT_CPU, unix.RLIM_INFINITY, unix.RLIM_INFINITY},
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_STACK, 8 << 20, 8 << 20},
	} {
		// Who may not raise the hard limit raises the soft one as far as that goes. That is not
		// known beforehand: root has no CAP_SYS_RESOURCE in many a container.
		var old unix.Rlimit
		if unix.Getrlimit(r.what, &old) == nil && old.Max < r.max {
			l := unix.Rlimit{Cur: min(r.cur, old.Max), Max: old.Max}
			p.add("prlimit", mayFail, unix.SYS_PRLIMIT64, 0, uintptr(r.what), hold(p, &l), 0)
			if os.Geteuid() != 0 {
				continue
			}
		}
		l := unix.Rlimit{Cur: r.cur, Max: r.max}
		p.add("prlimit", mayFail, unix.SYS_PRLIMIT64, 0, uintptr(r.what), hold(p, &l), 0)
	}
}

// credentials makes the process the user it is to be, and traceable.
func (p *program) credentials(user, group int) {
	// Groups cannot be set by an ordinary user; the program never sees real ones.
	p.add("setgroups", mayFail, unix.SYS_SETGROUPS, 0, 0)
	gid, uid := uintptr(group), uintptr(user)
	p.add("setresgid", 0, unix.SYS_SETRESGID, gid, gid, gid)
	p.add("setresuid", 0, unix.SYS_SETRESUID, uid, uid, uid)
	// The change of user made this memory, still shared with Ariadne, undumpable.
	p.add("set dumpable", 0, unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	p.add("set the death signal", 0, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	// Ariadne may have been killed before that: then init would be the tracer.
	p.add("find Ariadne alive", whole, unix.SYS_GETPPID, 0, 0, uintptr(unix.Getpid()))
	p.add("trap RDTSC", 0, unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV, 0, 0, 0)
	p.add("set no_new_privs", 0, unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	p.add("be traced", 0, unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0)
}

// exec adds one execve for each place where Args[0] may be.
func (p *program) exec(cfg Config) error {
	if len(cfg.Args) == 0 {
		return fmt.Errorf("node %s: a command without a program", cfg.Name)
	}
	argv, envp := p.strs(cfg.Args), p.strs(cfg.Env)
	for _, file := range candidates(cfg) {
		p.add("exec "+file, mayFail, unix.SYS_EXECVE, p.str(file), argv, envp)
	}
	return nil
}

// candidates returns the absolute paths at which Args[0] is looked for (execvp(3)).
func candidates(cfg Config) []string {
	name := cfg.Args[0]
	if strings.Contains(name, "/") {
		if !path.IsAbs(name) {
			name = path.Join(cfg.dir(), name)
		}
		return []string{name}
	}
	dirs := "/usr/local/bin:/usr/bin:/bin"
	for _, v := range cfg.Env {
		if s, ok := strings.CutPrefix(v, "PATH="); ok {
			dirs = s
		}
	}
	var files []string
	for _, d := range filepath.SplitList(dirs) {
		if !path.IsAbs(d) {
			d = path.Join(cfg.dir(), d)
		}
		files = append(files, path.Join(d, name))
	}
	return files
}
