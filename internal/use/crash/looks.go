//go:build linux

package crash

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// looks says by number what a system call sees of files. Those that are not here may see anything.
var looks = func() (all [512]func(*call)) {
	set := func(look func(*call), numbers ...int) {
		for _, n := range numbers {
			all[n] = look
		}
	}
	// What acts on the caller, on its memory, on other processes and the clock, and on what is
	// open: that was seen when it was opened. Files from elsewhere are the same for all images.
	set(func(*call) {},
		unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_PREADV, unix.SYS_PREADV2, unix.SYS_WRITE,
		unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_PWRITEV,
		unix.SYS_PWRITEV2, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_FSTAT, unix.SYS_FSTATFS, unix.SYS_LSEEK,
		unix.SYS_GETDENTS, unix.SYS_GETDENTS64, unix.SYS_SENDFILE,
		unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE, unix.SYS_TEE, unix.SYS_VMSPLICE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
		unix.SYS_SYNC, unix.SYS_SYNCFS, unix.SYS_SYNC_FILE_RANGE,
		unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FADVISE64, unix.SYS_READAHEAD, unix.SYS_FLOCK, unix.SYS_FCNTL,
		unix.SYS_IOCTL, unix.SYS_FCHMOD, unix.SYS_FCHOWN,
		unix.SYS_FGETXATTR, unix.SYS_FLISTXATTR, unix.SYS_FSETXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_DUP, unix.SYS_DUP2,
		unix.SYS_DUP3, unix.SYS_PIPE, unix.SYS_PIPE2,
		unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT,
		unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD, unix.SYS_EVENTFD2,
		unix.SYS_SIGNALFD, unix.SYS_SIGNALFD4, unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME,
		unix.SYS_TIMERFD_GETTIME, unix.SYS_INOTIFY_INIT, unix.SYS_INOTIFY_INIT1,
		unix.SYS_INOTIFY_RM_WATCH, unix.SYS_MEMFD_CREATE, unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_SELECT,
		unix.SYS_PSELECT6, unix.SYS_FCHDIR,
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE,
		unix.SYS_MSYNC, unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MLOCKALL,
		unix.SYS_MUNLOCK, unix.SYS_MUNLOCKALL, unix.SYS_BRK, unix.SYS_MEMBARRIER, unix.SYS_RSEQ, unix.SYS_GET_MEMPOLICY,
		unix.SYS_SET_MEMPOLICY, unix.SYS_MBIND,
		unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING,
		unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGQUEUEINFO,
		unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_SIGALTSTACK, unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL,
		unix.SYS_PAUSE, unix.SYS_ALARM, unix.SYS_RESTART_SYSCALL,
		unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_WAIT4, unix.SYS_WAITID,
		unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL,
		unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_FUTEX,
		unix.SYS_ARCH_PRCTL, unix.SYS_PRCTL, unix.SYS_GETRANDOM, unix.SYS_UNAME, unix.SYS_SYSINFO,
		unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETPGID, unix.SYS_GETPGRP, unix.SYS_SETPGID,
		unix.SYS_GETSID, unix.SYS_SETSID, unix.SYS_GETUID, unix.SYS_GETEUID,
		unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_SETUID, unix.SYS_SETGID,
		unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID,
		unix.SYS_SETRESGID, unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_GETGROUPS, unix.SYS_SETGROUPS,
		unix.SYS_CAPGET, unix.SYS_CAPSET, unix.SYS_UMASK, unix.SYS_PERSONALITY,
		unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT, unix.SYS_PRLIMIT64, unix.SYS_GETRUSAGE, unix.SYS_TIMES,
		unix.SYS_GETPRIORITY, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_GET, unix.SYS_IOPRIO_SET,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_GETPARAM,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SCHED_GETATTR,
		unix.SYS_SCHED_SETATTR, unix.SYS_GETCPU,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES,
		unix.SYS_GETTIMEOFDAY, unix.SYS_TIME, unix.SYS_GETITIMER, unix.SYS_SETITIMER,
		unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_GETOVERRUN,
		unix.SYS_TIMER_DELETE,
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMDT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP,
		unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
		unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_SHUTDOWN,
		unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_SETSOCKOPT,
		unix.SYS_GETSOCKOPT, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG, unix.SYS_UNSHARE,
		unix.SYS_IO_SETUP, unix.SYS_IO_SUBMIT, unix.SYS_IO_GETEVENTS, unix.SYS_IO_DESTROY, unix.SYS_IO_CANCEL)
	set(func(c *call) { c.named(c.at(0), true) }, unix.SYS_ACCESS, unix.SYS_CHDIR, unix.SYS_STATFS)
	set(func(c *call) { c.named(c.at(0), false) }, unix.SYS_LCHOWN, unix.SYS_READLINK, unix.SYS_MKDIR, unix.SYS_MKNOD)
	set(func(c *call) { c.named(c.atDir(0, 1), false) }, unix.SYS_READLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT)
	set(func(c *call) { c.named(c.atDir(0, 1), true) }, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2)
	// which file it is others may see by another name
	set(func(c *call) { c.statted(c.atDir(0, 1), true) }, unix.SYS_FCHMODAT, unix.SYS_FUTIMESAT)
	set(func(c *call) { c.statted(c.atDir(0, 1), true); c.statted(c.atDir(0, 1), false) }, unix.SYS_FCHOWNAT,
		unix.SYS_FCHMODAT2)
	set(func(c *call) { // without a path it is about what is open
		if c.args[1] != 0 {
			c.statted(c.atDir(0, 1), c.args[3]&unix.AT_SYMLINK_NOFOLLOW == 0)
		}
	}, unix.SYS_UTIMENSAT)
	set(func(c *call) { c.statted(c.at(0), true) }, unix.SYS_STAT, unix.SYS_TRUNCATE, unix.SYS_CHMOD, unix.SYS_CHOWN,
		unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_GETXATTR, unix.SYS_LISTXATTR, unix.SYS_SETXATTR, unix.SYS_REMOVEXATTR)
	set(func(c *call) { c.statted(c.at(0), false) }, unix.SYS_LSTAT, unix.SYS_LGETXATTR, unix.SYS_LLISTXATTR,
		unix.SYS_LSETXATTR, unix.SYS_LREMOVEXATTR)
	set(func(c *call) { c.statted(c.atDir(0, 1), c.args[3]&unix.AT_SYMLINK_NOFOLLOW == 0) }, unix.SYS_NEWFSTATAT)
	set(func(c *call) {
		if c.args[1] != 0 {
			c.statted(c.atDir(0, 1), c.args[2]&unix.AT_SYMLINK_NOFOLLOW == 0)
		}
	}, unix.SYS_STATX)
	set(func(c *call) { c.opened(c.at(0), c.args[1]) }, unix.SYS_OPEN)
	set(func(c *call) { c.opened(c.at(0), unix.O_CREAT|unix.O_TRUNC|unix.O_WRONLY) }, unix.SYS_CREAT)
	set(func(c *call) { c.opened(c.atDir(0, 1), c.args[2]) }, unix.SYS_OPENAT)
	set(func(c *call) {
		var how [24]byte
		switch {
		case c.read(c.args[2], how[:]) < len(how): // the call fails
		case bytes.Equal(how[16:], make([]byte, 8)):
			c.opened(c.atDir(0, 1), uint64(how[0])|uint64(how[1])<<8|uint64(how[2])<<16|uint64(how[3])<<24)
		default:
			c.everything("openat2 with RESOLVE flags")
		}
	}, unix.SYS_OPENAT2)
	set(func(c *call) { c.cloned(c.args[0]) }, unix.SYS_CLONE)
	set(func(c *call) {
		var flags [8]byte
		if c.read(c.args[0], flags[:]) == len(flags) { // or the call fails
			c.cloned(binary.LittleEndian.Uint64(flags[:]))
		}
	}, unix.SYS_CLONE3)
	set(func(c *call) { c.executed(c.at(0)) }, unix.SYS_EXECVE)
	set(func(c *call) { c.executed(c.atDir(0, 1)) }, unix.SYS_EXECVEAT)
	set(func(c *call) { c.removed(c.at(0)) }, unix.SYS_UNLINK, unix.SYS_RMDIR)
	set(func(c *call) { c.removed(c.atDir(0, 1)) }, unix.SYS_UNLINKAT)
	set(func(c *call) { c.whole(c.at(0)); c.whole(c.at(1)) }, unix.SYS_RENAME, unix.SYS_LINK)
	set(func(c *call) { c.whole(c.atDir(0, 1)); c.whole(c.atDir(2, 3)) }, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2)
	set(func(c *call) {
		if c.args[4]&(unix.AT_EMPTY_PATH|unix.AT_SYMLINK_FOLLOW) != 0 {
			c.everything("linkat of what is open")
			return
		}
		c.whole(c.atDir(0, 1))
		c.whole(c.atDir(2, 3))
	}, unix.SYS_LINKAT)
	set(func(c *call) { // it may be for a path from the root
		var b [8]byte
		if c.args[1] == 0 || c.read(c.args[1], b[:]) == len(b) && bytes.Equal(b[:], make([]byte, 8)) {
			return
		}
		c.everything("a message to an address")
	}, unix.SYS_SENDMSG)
	set(func(c *call) {
		if c.args[4] != 0 {
			c.everything("a message to an address")
		}
	}, unix.SYS_SENDTO)
	set((*call).bound, unix.SYS_BIND)
	set((*call).connected, unix.SYS_CONNECT)
	// its length is a directory's path, which is the same for all images, but for what the checker
	// has made of it
	set(func(c *call) {
	}, unix.SYS_GETCWD)
	return all
}()

// fromHere is AT_FDCWD as an argument.
const fromHere = 1<<32 + unix.AT_FDCWD

// named is a path that a call has named, and from where.
type named struct {
	path string
	ok   bool
}

// at is the path in an argument.
func (c *call) at(i int) named {
	name, ok := c.path(fromHere, c.args[i])
	return named{name, ok}
}

// atDir is the path in an argument, from the directory in another one.
func (c *call) atDir(dir, i int) named {
	name, ok := c.path(c.args[dir], c.args[i])
	return named{name, ok}
}

// named: the name was seen.
func (c *call) named(n named, follow bool) (at string, f *file, inside bool) {
	if !n.ok {
		return "", nil, false
	}
	return c.resolve(n.path, follow)
}

// statted: and what stat says of the file.
func (c *call) statted(n named, follow bool) (at string, f *file, inside bool) {
	if at, f, inside = c.named(n, follow); inside {
		c.saw(statOf, at)
	}
	return at, f, inside
}

// opened: and what is in it.
func (c *call) opened(n named, flags uint64) {
	at, f, inside := c.statted(n, flags&unix.O_NOFOLLOW == 0 &&
		flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL)
	switch {
	case !inside || f == nil:
	case f.directory():
		c.saw(listOf, at)
	// what is open as a path may be opened again by /proc
	case flags&unix.O_TRUNC == 0 || flags&unix.O_PATH != 0:
		c.saw(dataOf, at)
	}
}

// executed: likewise. The interpreter of a script has to lie outside.
func (c *call) executed(n named) {
	at, f, inside := c.statted(n, true)
	if !inside {
		c.interpreted(n.path)
		return
	}
	if f == nil {
		return
	}
	c.saw(dataOf, at)
	if f.data.len() > 0 {
		line, script := strings.CutPrefix(string(f.data.bytes(0, 1)), "#!")
		if line, _, _ = strings.Cut(line, "\n"); script && !path.IsAbs(strings.TrimLeft(line, " \t")) ||
			c.leadsInto(line) {
			c.everything("a script's interpreter")
		}
	}
}

// interpreted: a program from elsewhere, which may be a script whose interpreter is in the image.
func (c *call) interpreted(name string) {
	f, err := os.Open(c.real(name))
	if err != nil {
		return
	}
	defer f.Close()
	head := make([]byte, 256) // as much as Linux looks at
	k, _ := f.ReadAt(head, 0)
	if line, script := strings.CutPrefix(string(head[:k]), "#!"); script {
		line, _, _ = strings.Cut(line, "\n")
		if line = strings.TrimLeft(line, " \t"); !path.IsAbs(line) || strings.HasPrefix(line, "/proc/") ||
			c.leadsInto(line) {
			c.everything("a script's interpreter")
		}
	}
}

// leadsInto reports whether a script's first line may name a file of the image.
func (c *call) leadsInto(line string) bool {
	return slices.ContainsFunc(c.images, func(image string) bool { return strings.Contains(line, image) })
}

// cloned: a process that is not traced may look at anything.
func (c *call) cloned(flags uint64) {
	if flags&unix.CLONE_UNTRACED != 0 {
		c.everything("a process that is not traced")
	}
}

// removed: a name goes, of a directory when nothing is in it.
func (c *call) removed(n named) {
	if at, f, inside := c.statted(n, false); inside && f != nil && f.directory() {
		c.saw(listOf, at)
	}
}

// whole: what it stands for gets another name, or makes room for that: all of it is seen, with all
// that is below.
func (c *call) whole(n named) {
	if at, f, inside := c.named(n, false); inside {
		c.saw(treeOf, at)
		if f.leads() { // where it leads from its new place is not looked up
			c.everything("a link that moves")
		}
	}
}

// address is the path of a Unix socket's address, if it has one; foreign: it is of another kind.
func (c *call) address() (name string, foreign bool) {
	b := make([]byte, min(c.args[2], 110))
	if len(b) < 3 || c.read(c.args[1], b) < len(b) {
		return "", false // the call fails, or the address is of no length
	}
	if family := int(b[0]) | int(b[1])<<8; family != unix.AF_UNIX {
		return "", true
	}
	name, _, _ = strings.Cut(string(b[2:]), "\x00")
	return name, name == ""
}

// bound: a socket gets an address.
func (c *call) bound() {
	name, foreign := c.address()
	if foreign || name == "" {
		return // an abstract name, or the network: no file
	}
	if name[0] != '/' {
		name = c.from(fromHere) + "/" + name
	}
	c.resolve(name, false)
}

// connected: who answers may have seen anything, unless the checker has made the socket in the
// image.
func (c *call) connected() {
	name, foreign := c.address()
	if foreign {
		c.everything("a connection")
		return
	}
	if name == "" {
		return
	}
	if name[0] != '/' {
		name = c.from(fromHere) + "/" + name
	}
	if _, _, inside := c.resolve(name, true); !inside && unix.Access(c.real(name), unix.F_OK) == nil {
		c.everything("a connection")
	}
}
