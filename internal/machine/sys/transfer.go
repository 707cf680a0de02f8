package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// What calls share that move bytes between memory and emulated files.

// maxChunk is the most that one call to a kernel.Reader or Writer moves.
const maxChunk = 1 << 18

// vectorOf reads the buffers of a call that has one or several.
func vectorOf(t *kernel.Thread, a Args) ([]iovec, kernel.Errno) {
	switch t.Call.NR {
	case unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2:
		return readIovecs(t, a[1], a[2])
	}
	return []iovec{{a[1], min(a[2], maxIO)}}, 0
}

// reader is readBytes or readLate.
type reader func(t *kernel.Thread, addr uint64, n int) ([]byte, kernel.Errno)

// contentReader reads what is to be written to a file. Linux reads it when there is room, but for
// the number that an eventfd is to add, and for a whole message before it looks whether its
// receiver takes it.
func contentReader(f kernel.File) reader {
	switch x := f.(type) {
	case *eventfd.File:
		return readBytes
	case *unixsock.Socket:
		if !isStream(x) && x.Sends() {
			return readBytes
		}
	}
	return readLate
}

// gatherFrom reads at most max bytes of what v points at, from offset off. A
// fault after the first bytes cuts it short.
func gatherFrom(t *kernel.Thread, v []iovec, off, max int, read reader) ([]byte, kernel.Errno) {
	var out []byte
	for _, x := range v {
		skip := min(off, int(x.len))
		off -= skip
		n := min(int(x.len)-skip, max-len(out))
		if n == 0 {
			continue
		}
		b, e := read(t, x.base+uint64(skip), n)
		if e != 0 {
			if len(out) > 0 {
				return out, 0
			}
			return nil, e
		}
		if out == nil {
			out = b
		} else {
			out = append(out, b...)
		}
	}
	return out, 0
}

// isStream reports whether messages have no boundaries.
func isStream(s socket.Socket) bool { return s.Base().Type == unix.SOCK_STREAM }

// chunkOf is how much of what is left is given to a file at a time. A socket with messages gets
// the whole message, or more than it can take.
func chunkOf(f kernel.File, left int64) int {
	if s, ok := f.(socket.Socket); ok && !isStream(s) {
		return int(min(left, max(4*maxChunk, int64(s.Base().Opt(unix.SOL_SOCKET, unix.SO_SNDBUF))+1)))
	}
	return int(min(left, maxChunk))
}

// unread gives back what could not be stored, to a file that takes it.
func unread(f kernel.File, b []byte) {
	if u, ok := f.(socket.Unreader); ok {
		u.Unread(b)
	}
}

// raise sends a signal to the calling thread, as a fault of its own does.
func raise(t *kernel.Thread, sig int) {
	t.Send(signal.Info{Signo: sig, Code: signal.SIUser, PID: t.Proc.PID, UID: t.Cred.UID.Real})
}

// brokenPipe ends a write that met EPIPE. A stream socket that took some bytes
// before raises no signal yet; a pipe does; a socket with packets never.
func brokenPipe(t *kernel.Thread, of *kernel.OpenFile) kernel.Result {
	s, socket := of.File.(socket.Socket)
	if !socket || isStream(s) && t.Wait.Done == 0 {
		raise(t, int(unix.SIGPIPE))
	}
	if t.Wait.Done > 0 {
		return kernel.Ret(t.Wait.Done)
	}
	return kernel.Fail(unix.EPIPE)
}
