package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// Control messages, cmsg(3): a header of length, level and type, then data, each
// message padded to 8 bytes.
const (
	sizeofCmsghdr = 16
	sizeofUcred   = 12
	maxRights     = 253 // SCM_MAX_FD
	maxControl    = 1 << 16
)

func cmsgAlign(n int) int { return (n + 7) &^ 7 }

// readControls reads the control messages of h into m.
func readControls(t *kernel.Thread, h msghdr, m *socket.OutMsg) kernel.Errno {
	if h.ctrlLen > maxControl {
		return unix.ENOBUFS
	}
	if h.control == 0 {
		return 0
	}
	b, e := readBytes(t, h.control, int(h.ctrlLen))
	if e != 0 {
		return e
	}
	for len(b) >= sizeofCmsghdr {
		n := le.Uint64(b)
		if n < sizeofCmsghdr || n > uint64(len(b)) {
			return unix.EINVAL
		}
		c := socket.Control{Level: int(int32(le.Uint32(b[8:]))), Type: int(int32(le.Uint32(b[12:]))),
			Data: b[sizeofCmsghdr:n]}
		if e := readControl(t, c, m); e != 0 {
			return e
		}
		b = b[min(len(b), cmsgAlign(int(n))):]
	}
	return 0
}

func readControl(t *kernel.Thread, c socket.Control, m *socket.OutMsg) kernel.Errno {
	if c.Level != unix.SOL_SOCKET {
		m.Controls = append(m.Controls, c)
		return 0
	}
	switch c.Type {
	case unix.SCM_RIGHTS:
		return readRights(t, c.Data, m)
	case unix.SCM_CREDENTIALS:
		return readCreds(t, c.Data, m)
	}
	t.Node().Refuse(t, "sendmsg control SOL_SOCKET", formatArgs(t.Call.NR, t.Call.Args), true)
	return unix.EINVAL
}

// readRights finds the open files that SCM_RIGHTS passes.
func readRights(t *kernel.Thread, b []byte, m *socket.OutMsg) kernel.Errno {
	if len(b)/4+len(m.Rights) > maxRights {
		return unix.EINVAL
	}
	for ; len(b) >= 4; b = b[4:] {
		fd := int(int32(le.Uint32(b)))
		of := t.FDs().Get(fd)
		if of == nil {
			return unix.EBADF
		}
		m.Rights = append(m.Rights, socket.Right{File: of, FD: fd})
	}
	return 0
}

// isOneOf reports whether a process may call an id its own.
func isOneOf(id int, ids kernel.IDs) bool {
	return id == ids.Real || id == ids.Effective || id == ids.Saved
}

// readCreds reads SCM_CREDENTIALS: only the privileged may lie (unix(7)).
func readCreds(t *kernel.Thread, b []byte, m *socket.OutMsg) kernel.Errno {
	if len(b) < sizeofUcred {
		return unix.EINVAL
	}
	c := kernel.Creds{PID: int(int32(le.Uint32(b))), UID: int(le.Uint32(b[4:])), GID: int(le.Uint32(b[8:]))}
	cred := &t.Cred
	if c.PID != t.Proc.PID && !t.Capable(unix.CAP_SYS_ADMIN) ||
		!isOneOf(c.UID, cred.UID) && !t.Capable(unix.CAP_SETUID) ||
		!isOneOf(c.GID, cred.GID) && !t.Capable(unix.CAP_SETGID) {
		return unix.EPERM
	}
	if t.Node().Procs[c.PID] == nil {
		return unix.ESRCH
	}
	m.Creds = &c
	return 0
}

// controlWriter fills the control buffer of recvmsg.
type controlWriter struct {
	t    *kernel.Thread
	at   uint64
	room int
	used int
	cut  bool // MSG_CTRUNC
}

// put adds a message; what has no room is cut, and said to be.
func (w *controlWriter) put(level, typ int, data []byte) kernel.Errno {
	if w.room < sizeofCmsghdr {
		w.cut = true
		return 0
	}
	if n := w.room - sizeofCmsghdr; len(data) > n {
		data, w.cut = data[:n], true
	}
	b := le.AppendUint64(nil, uint64(sizeofCmsghdr+len(data)))
	b = le.AppendUint32(b, uint32(level))
	b = le.AppendUint32(b, uint32(typ))
	b = append(b, data...)
	if e := w.t.M.WriteMem(w.at, b); e != 0 {
		return e
	}
	n := min(cmsgAlign(len(b)), w.room)
	w.at, w.room, w.used = w.at+uint64(n), w.room-n, w.used+n
	return 0
}

// writeControls stores the control messages of m where h has room for them, and
// returns how much they took.
func writeControls(t *kernel.Thread, h msghdr, m *socket.InMsg, flags int) (uint64, kernel.Errno) {
	w := controlWriter{t: t, at: h.control, room: int(min(h.ctrlLen, maxControl))}
	if h.control == 0 {
		w.room = 0
	}
	var e kernel.Errno
	if c := m.Creds; c != nil {
		b := append(intBytes(c.PID), intBytes(c.UID)...)
		e = w.put(unix.SOL_SOCKET, unix.SCM_CREDENTIALS, append(b, intBytes(c.GID)...))
	}
	for _, c := range m.Controls {
		if e == 0 {
			e = w.put(c.Level, c.Type, c.Data)
		}
	}
	if e == 0 && len(m.Rights) > 0 {
		e = w.putRights(m.Rights, flags)
	}
	if flags&unix.MSG_CMSG_CLOEXEC != 0 {
		m.OutFlags |= unix.MSG_CMSG_CLOEXEC
	}
	if w.cut {
		m.OutFlags |= unix.MSG_CTRUNC
	}
	return uint64(w.used), e
}

// putRights gives the receiver descriptors for the files that there is room for.
func (w *controlWriter) putRights(rights []socket.Right, flags int) kernel.Errno {
	n := max(0, (w.room-sizeofCmsghdr)/4)
	var b []byte
	for i, r := range rights {
		if i < n {
			fd, e := socket.Receive(w.t, r, flags&unix.MSG_CMSG_CLOEXEC != 0)
			if e == 0 {
				b = append(b, intBytes(fd)...)
				continue
			}
		}
		w.cut = true
		break
	}
	dropRights(w.t, rights, flags)
	if b == nil {
		return 0
	}
	return w.put(unix.SOL_SOCKET, unix.SCM_RIGHTS, b)
}

// dropRights takes back the references that a message held.
func dropRights(t *kernel.Thread, rights []socket.Right, flags int) {
	for _, r := range rights {
		socket.DropRight(t.Node(), r, flags&unix.MSG_PEEK != 0)
	}
}
