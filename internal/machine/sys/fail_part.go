package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// A call that moves bytes may move a part of them, where Linux's may: up to the end of a block
// of a file, of which the next is bad or has no room; of what a socket holds from another node,
// since more of it might still be under way; of what a socket or a pipe is to take without
// waiting, since it might be full by then.

func movesPart(t *kernel.Thread, _ Args) (on string, ok bool) {
	on, n, _ := part(t)
	return on, n > 0
}

// part is how many bytes the call that t stands in may move instead of all, on what; 0: all or
// none. at is the argument that says how many, or -1: they are in a list.
func part(t *kernel.Thread) (on string, n int64, at int) {
	a, nr := t.Call.Args, t.Call.NR
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return "", 0, 0
	}
	at, list, reads, flags := 2, uint64(0), false, 0
	switch nr {
	case unix.SYS_READ, unix.SYS_PREAD64:
		reads = true
	case unix.SYS_WRITE, unix.SYS_PWRITE64:
	case unix.SYS_READV, unix.SYS_WRITEV:
		at, list, reads = -1, a[1], nr == unix.SYS_READV
	case unix.SYS_RECVFROM, unix.SYS_SENDTO:
		reads, flags = nr == unix.SYS_RECVFROM, int(int32(a[3]))
	case unix.SYS_RECVMSG, unix.SYS_SENDMSG:
		at, reads, flags = -1, nr == unix.SYS_RECVMSG, int(int32(a[2]))
	default:
		return "", 0, 0
	}
	var all int64
	switch {
	case at > 0:
		all = int64(min(a[2], maxIO))
		if int64(a[2]) < 0 || !readableAt(t, a[1]) {
			return "", 0, 0
		}
	case list != 0:
		v, e := readIovecs(t, a[1], a[2])
		if e != 0 {
			return "", 0, 0
		}
		all = int64(iovLen(v))
	default:
		h, e := readMsghdr(t, a[1])
		if e != 0 || h.ctrlLen > 0 {
			return "", 0, 0
		}
		all = int64(iovLen(h.v))
	}
	if all < 2 || reads && !of.Reads() || !reads && !of.Writes() {
		return "", 0, 0
	}
	switch f := of.File.(type) {
	case *kernel.HostFile:
		if at > 0 {
			return f.Path, partOfFile(t, f, of, reads, all), at
		}
	case *pipe.End:
		const atomic = 4096 // PIPE_BUF
		if n := max(all/2/atomic, 1) * atomic; !reads && of.NonBlocking() && all > atomic && f.Pipe.Room() >= int(n) &&
			f.Ready()&kernel.Err == 0 {
			return "", n, at
		}
	case *tcp.Socket:
		if !f.Apart() {
			return "", 0, 0
		}
		const plain = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
		switch {
		case flags&^plain != 0:
		case reads && leastBytes(f, flags) <= 1:
			return "", min(all, int64(f.Buffered())) / 2, at
		case !reads && (of.NonBlocking() || flags&unix.MSG_DONTWAIT != 0) && f.Ready()&kernel.Out != 0:
			return "", all / 2, at
		}
	}
	return "", 0, 0
}

// partOfFile is about half of what is read or written of a file, up to the end of a block.
func partOfFile(t *kernel.Thread, h *kernel.HostFile, of *kernel.OpenFile, reads bool, all int64) int64 {
	if h.Synthetic || h.Mode&unix.S_IFMT != unix.S_IFREG || !onDisk(h.Path) || !reads && !unlimited(t) {
		return 0
	}
	a := t.Call.Args
	size, pos := fileEnd(t, a[0])
	switch nr := t.Call.NR; {
	case nr == unix.SYS_PREAD64 || nr == unix.SYS_PWRITE64:
		pos = int64(a[3])
	case !reads && of.Flags&unix.O_APPEND != 0:
		pos = size
	}
	if reads {
		all = min(all, size-pos)
	}
	if pos < 0 || all < 2 {
		return 0
	}
	end := (pos + all/2) / blockSize * blockSize
	if end <= pos {
		end = (pos/blockSize + 1) * blockSize
	}
	if end >= pos+all {
		return 0
	}
	return end - pos
}

// Shorten has the call that t stands in move a part only.
func Shorten(t *kernel.Thread) {
	_, n, at := part(t)
	t.Call.Part = n
	if at > 0 {
		t.Call.Args[at] = uint64(n)
	}
}

// MovedPart announces the rest of a call that moved a part: the data came, or got room, just
// afterwards. A waiter for that edge sees it.
func MovedPart(t *kernel.Thread) {
	of := t.FDs().Get(fdOf(t.Call.Args[0]))
	if of == nil {
		return
	}
	if _, host := of.File.(*kernel.HostFile); host {
		return
	}
	if q := of.File.Changed(); q != nil {
		if ev := of.File.Ready() & (kernel.In | kernel.Out); ev != 0 {
			q.Notify(ev)
		}
	}
}

// Fill has the node's disk be full from now on: somebody else has taken the rest.
func Fill(t *kernel.Thread) {
	settleDisk(t)
	t.Node().Files.Disk.Fill()
}

// hints are signals that tell a program to look at something, and nothing more: anybody may
// send them at any time.
var hints = []unix.Signal{unix.SIGWINCH, unix.SIGURG, unix.SIGCHLD, unix.SIGIO, unix.SIGALRM, unix.SIGVTALRM,
	unix.SIGPROF,
	unix.SIGUSR1, unix.SIGUSR2, unix.SIGHUP}

// Interruption is how the call that t stands in, and is about to wait, may end with EINTR: by a
// signal that the program handles; or by none, when it is stopped and goes on, as somebody does
// who looks at it with a debugger (signal(7)).
func Interruption(t *kernel.Thread, r kernel.Restart) (by signal.Info, ok bool) {
	if r == kernel.RestartAlways || t.Wait.Runs > 0 || t.Wait.Done > 0 || t.Wait.Uninterruptible {
		return by, false
	}
	mask := t.M.SigMask()
	for _, s := range hints {
		act := t.Proc.Actions[int(s)]
		if act.Handler <= signal.Ign || mask.Has(int(s)) || r == kernel.RestartSA && act.Flags&signal.SARestart != 0 {
			continue
		}
		return signal.Info{Signo: int(s), Code: signal.SITkill}, true
	}
	if r != kernel.RestartNever {
		return by, false
	}
	switch t.Call.NR {
	case unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_RT_SIGTIMEDWAIT:
		return by, true
	}
	of := t.FDs().Get(fdOf(t.Call.Args[0]))
	if of == nil {
		return by, false
	}
	_, timed := of.File.(socket.Socket)
	return by, timed && t.Wait.HasDeadline
}
