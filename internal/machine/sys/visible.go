package sys

import (
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/udp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"

	"golang.org/x/sys/unix"
)

// Sight is for which faults it makes a difference that a call was made: a set.
type Sight uint8

const (
	// SeenByProcesses: others of the machine see it, which live on when the caller is killed.
	SeenByProcesses Sight = 1 << iota
	// SeenAfterCrash: it is left when all programs of the machine are killed.
	SeenAfterCrash
	// SeenWhenOff: it is left when the machine stops.
	SeenWhenOff
)

const (
	NotSeen Sight = 0
	Seen          = SeenByProcesses | SeenAfterCrash | SeenWhenOff
)

// Has reports whether it makes a difference for a fault.
func (s Sight) Has(of Sight) bool { return s&of != 0 }

// Visible says for which faults the call that t stands in makes a difference. It changes a file or
// the name of one, sends to other machines, or says what is to hold from then on: that is Seen. on
// is what such a call is done to, if that has a stable name, or "".
//
// A connection to another machine that is closed ends when programs are killed as well. The state
// of kernel objects is lost when the kernel stops. Messages between processes of the machine are
// lost with them, unless one of them alone is killed.
func Visible(t *kernel.Thread) (on string, sight Sight) {
	if on, ok := visible(t); ok {
		return on, Seen
	}
	switch {
	case endsConnection(t):
		return "", SeenWhenOff
	case setsClock(t):
		return "", Seen
	case changesKernel(t):
		return "", SeenByProcesses | SeenAfterCrash
	case tellsProcess(t):
		return "", SeenByProcesses
	}
	return "", NotSeen
}

// endsConnection: a connection to another machine ends with the descriptors that the call closes.
func endsConnection(t *kernel.Thread) bool {
	a := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_CLOSE:
		return ends(t, a[0])
	case unix.SYS_DUP2, unix.SYS_DUP3:
		return a[0] != a[1] && ends(t, a[1])
	case unix.SYS_CLOSE_RANGE:
		return a[2]&unix.CLOSE_RANGE_CLOEXEC == 0 && slices.ContainsFunc(t.FDs().Numbers(), func(fd int) bool {
			return uint64(fd) >= a[0] && uint64(fd) <= a[1] && ends(t, uint64(fd))
		})
	}
	return false
}

// setsClock: the machine's clock goes on from there when it is switched on again.
func setsClock(t *kernel.Thread) bool {
	switch t.Call.NR {
	case unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY:
		return true
	}
	return false
}

// changesKernel: an object of the kernel changes that belongs to no process.
func changesKernel(t *kernel.Thread) bool {
	a := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_UNLINK,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME:
		return true
	case unix.SYS_MQ_OPEN:
		return a[1]&unix.O_CREAT != 0
	case unix.SYS_MSGGET:
		return a[1]&unix.IPC_CREAT != 0
	case unix.SYS_SEMGET, unix.SYS_SHMGET:
		return a[2]&unix.IPC_CREAT != 0
	case unix.SYS_MSGCTL, unix.SYS_SHMCTL:
		return changesIPC(a[1])
	case unix.SYS_SEMCTL:
		return changesIPC(a[2])
	}
	return false
}

// changesIPC: a command of msgctl, semctl or shmctl.
func changesIPC(cmd uint64) bool {
	switch cmd &^ 0x100 { // IPC_64
	case ipcRmid, ipcSet, semSetVal, semSetAll:
		return true
	}
	return false
}

// tellsProcess: another process of the machine gets something, or learns how this one has ended.
func tellsProcess(t *kernel.Thread) bool {
	a := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_SENDFILE, unix.SYS_VMSPLICE, unix.SYS_SHUTDOWN, unix.SYS_CONNECT:
		return reachesProcess(t, a[0])
	case unix.SYS_TEE:
		return reachesProcess(t, a[1])
	case unix.SYS_SPLICE:
		return reachesProcess(t, a[2])
	case unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO:
		return int(a[0]) != t.Proc.PID
	case unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_EXIT_GROUP:
		return true
	}
	return false
}

// reachesProcess: by a descriptor other processes are told something: of a Unix socket, and of a
// pipe or an eventfd that another one has open.
func reachesProcess(t *kernel.Thread, fd uint64) bool {
	of := t.FDs().Get(fdOf(fd))
	if of == nil {
		return false
	}
	switch f := of.File.(type) {
	case *unixsock.Socket:
		return true
	case *pipe.End:
		return heldElsewhere(t, func(o kernel.File) bool { e, ok := o.(*pipe.End); return ok && e.Pipe == f.Pipe })
	case *eventfd.File:
		return heldElsewhere(t, func(o kernel.File) bool { return o == of.File })
	}
	return false
}

// heldElsewhere reports whether another process has such a file open.
func heldElsewhere(t *kernel.Thread, is func(kernel.File) bool) bool {
	n := t.Node()
	for _, pid := range n.PIDs() {
		p := n.Procs[pid]
		if p == t.Proc || p.Dead || p.FDs == nil {
			continue
		}
		for _, fd := range p.FDs.Numbers() {
			if is(p.FDs.Get(fd).File) {
				return true
			}
		}
	}
	return false
}

func visible(t *kernel.Thread) (on string, ok bool) {
	a := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDFILE:
		if sends(t, a[0]) {
			return "", true
		}
		if line := mark(t, a); line != "" {
			return line, true
		}
		return changedFile(t, a)
	case unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FCHMOD, unix.SYS_FCHOWN, unix.SYS_FSETXATTR, unix.SYS_FREMOVEXATTR:
		return changedFile(t, a)
	case unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE:
		if sends(t, a[2]) {
			return "", true
		}
		return changedFile(t, Args{a[2]})
	case unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_CONNECT, unix.SYS_SHUTDOWN:
		return "", sends(t, a[0])
	case unix.SYS_IO_SUBMIT:
		return "", a[1] > 0
	case unix.SYS_OPEN:
		return emptied(t, atCwd, a[0], a[1])
	case unix.SYS_OPENAT:
		return emptied(t, a[0], a[1], a[2])
	case unix.SYS_OPENAT2:
		flags, ok := howOf(t, a)
		if !ok {
			return "", false
		}
		return emptied(t, a[0], a[1], flags)
	case unix.SYS_CREAT:
		return emptied(t, atCwd, a[0], unix.O_CREAT|unix.O_TRUNC)
	case unix.SYS_TRUNCATE, unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_MKDIR, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_MKNOD,
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR:
		return changedName(t, a[0])
	case unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_MKNODAT, unix.SYS_SYMLINK,
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_FUTIMESAT:
		return changedName(t, a[1])
	case unix.SYS_UTIMENSAT:
		if a[1] == 0 {
			return changedFile(t, a)
		}
		return changedName(t, a[1])
	case unix.SYS_BIND:
		return bound(t, a)
	case unix.SYS_SYMLINKAT:
		return changedName(t, a[2])
	}
	return "", false
}

// changedName: the name of a file is changed, or what has it.
func changedName(t *kernel.Thread, path uint64) (on string, ok bool) {
	on, e := readPath(t, path)
	return on, e == 0
}

// emptied: a file is made or emptied by opening it. Other files with the name stay as they are: a
// device, a pipe.
func emptied(t *kernel.Thread, dirfd, path, flags uint64) (on string, ok bool) {
	if flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return "", false
	}
	if on, ok = changedName(t, path); !ok {
		return "", false
	}
	if t.Proc.Root == "" {
		if _, virtual := virtualPath(t, dirfd, on); virtual {
			return "", false
		}
	}
	st, e := pathStat(t, dirfd, on, true)
	return on, e != 0 || st.Mode&unix.S_IFMT == unix.S_IFREG
}

// bound: a Unix socket gets the name of a file.
func bound(t *kernel.Thread, a Args) (on string, ok bool) {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil {
		return "", false
	}
	if _, ok := of.File.(*unixsock.Socket); !ok || a[2] <= 2 || a[2] > unix.SizeofSockaddrUnix {
		return "", false
	}
	b, e := readBytes(t, a[1]+2, int(a[2]-2))
	if e != 0 || b[0] == 0 {
		return "", false
	}
	on, _, _ = strings.Cut(string(b), "\x00")
	return on, true
}

// mark is what a program is about to say that a loss is judged by: dialog.Path where it asks what a
// loss would leave, else the first word, or "".
func mark(t *kernel.Thread, a Args) string {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil || t.Call.NR != unix.SYS_WRITE {
		return ""
	}
	if _, ok := of.File.(*dialog.File); !ok {
		return ""
	}
	b, e := readBytes(t, a[1], int(min(a[2], dialog.MaxLine)))
	if e != 0 {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); disk.CheckMark(line) != "" {
			continue
		}
		if line == "crash now" {
			return dialog.Path
		}
		word, _, _ := strings.Cut(line, " ")
		return word
	}
	return ""
}

// ends: a connection to another machine ends when its last descriptor is closed.
func ends(t *kernel.Thread, fd uint64) bool {
	of := t.FDs().Get(fdOf(fd))
	if of == nil || of.Refs > 1 {
		return false
	}
	s, ok := of.File.(*tcp.Socket)
	if !ok {
		return false
	}
	_, e := s.RemoteAddr()
	return e == 0
}

// sends: a socket by which other machines are reached.
func sends(t *kernel.Thread, fd uint64) bool {
	of := t.FDs().Get(fdOf(fd))
	if of == nil {
		return false
	}
	switch of.File.(type) {
	case *tcp.Socket, *udp.Socket:
		return true
	}
	return false
}
