package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"

	"golang.org/x/sys/unix"
)

// msghdr is a struct msghdr; hdr is where it stands, 0 when the call has none.
type msghdr struct {
	at               uint64
	name, nameLen    uint64
	v                []iovec
	control, ctrlLen uint64
}

const (
	sizeofMsghdr  = 56
	sizeofMmsghdr = 64
	maxMmsg       = 1024 // UIO_MAXIOV
)

// readMsghdr reads a struct msghdr with its iovecs.
func readMsghdr(t *kernel.Thread, at uint64) (msghdr, kernel.Errno) {
	b, e := readBytes(t, at, sizeofMsghdr)
	if e != 0 {
		return msghdr{}, e
	}
	h := msghdr{at: at, name: le.Uint64(b), nameLen: uint64(le.Uint32(b[8:])),
		control: le.Uint64(b[32:]), ctrlLen: le.Uint64(b[40:])}
	if int32(h.nameLen) < 0 {
		return h, unix.EINVAL
	}
	if h.name == 0 {
		h.nameLen = 0
	}
	n := le.Uint64(b[24:])
	if n > maxMmsg {
		return h, unix.EMSGSIZE
	}
	h.v, e = readIovecs(t, le.Uint64(b[16:]), n)
	return h, e
}

// sysSendto implements sendto(2).
func sysSendto(t *kernel.Thread, a Args) kernel.Result {
	h := msghdr{name: a[4], nameLen: a[5], v: []iovec{{a[1], min(a[2], maxIO)}}}
	return send(t, a[0], h, int(int32(a[3])))
}

// sysSendmsg implements sendmsg(2).
func sysSendmsg(t *kernel.Thread, a Args) kernel.Result {
	if _, _, e := socketOf(t, a[0]); e != 0 {
		return kernel.Fail(e)
	}
	h, e := readMsghdr(t, a[1])
	if e != 0 {
		return kernel.Fail(e)
	}
	return send(t, a[0], h, int(int32(a[2])))
}

// sysSendmmsg implements sendmmsg(2).
func sysSendmmsg(t *kernel.Thread, a Args) kernel.Result {
	if _, _, e := socketOf(t, a[0]); e != 0 {
		return kernel.Fail(e)
	}
	count := min(uint64(uint32(a[2])), maxMmsg)
	for i := t.Wait.Aux[0]; i < count; i++ {
		at := a[1] + i*sizeofMmsghdr
		h, e := readMsghdr(t, at)
		r := kernel.Fail(e)
		if e == 0 {
			r = send(t, a[0], h, int(int32(a[3])))
		}
		switch {
		case r.Op == kernel.OpBlock && !(t.Wait.Interrupted && i > 0):
			t.Wait.Aux[0] = i
			return r
		case (r.Op == kernel.OpBlock || r.Value < 0) && i > 0:
			return kernel.Ret(int64(i))
		case r.Value < 0:
			return r
		}
		if e := writeU32(t, at+sizeofMsghdr, uint32(r.Value)); e != 0 {
			return kernel.Fail(e)
		}
		t.Wait.Done = 0
		t.ReadAgain()
	}
	return kernel.Ret(int64(count))
}

// send sends one message, of which a stream has taken t.Wait.Done bytes in
// earlier runs.
func send(t *kernel.Thread, fd uint64, h msghdr, flags int) kernel.Result {
	s, of, e := socketOf(t, fd)
	if e != 0 {
		return kernel.Fail(e)
	}
	m := socket.OutMsg{Flags: flags}
	if h.name != 0 && h.at == 0 && uint32(h.nameLen) > sizeofStorage {
		return kernel.Fail(unix.EINVAL)
	}
	if h.name != 0 && h.nameLen > 0 {
		if m.To, e = readSockaddr(t, h.name, min(h.nameLen, sizeofStorage)); e != 0 {
			return kernel.Fail(e)
		}
	}
	if s.Base().Domain == unix.AF_UNIX && !isStream(s) {
		if e := mayReachSocket(t, unixsock.Path(m.To), false); e != 0 {
			return kernel.Fail(e)
		}
	}
	if b := s.Base(); b.Domain == unix.AF_UNIX && b.Type == unix.SOCK_SEQPACKET {
		if _, e := s.RemoteAddr(); e == unix.ENOTCONN {
			return kernel.Fail(e) // before what it is to pass on is looked at
		}
	}
	if e := readControls(t, h, &m); e != 0 {
		return kernel.Fail(e)
	}
	if t.Wait.Done > 0 {
		m.Rights = nil // they went with the first bytes
	}
	if flags&unix.MSG_FASTOPEN != 0 && s.Base().Protocol == unix.IPPROTO_TCP && t.Wait.Done == 0 {
		e, wait := fastOpen(t, s, m.To, of.NonBlocking() || flags&unix.MSG_DONTWAIT != 0)
		if wait {
			return waitSocket(t, s, s.Base().SendTimeout, e)
		}
		if e != 0 {
			return kernel.Fail(e)
		}
	}
	total := iovLen(h.v)
	read := contentReader(of.File)
	for {
		n := 0
		m.Data, e = gatherFrom(t, h.v, int(t.Wait.Done), chunkOf(s, int64(total)-t.Wait.Done), read)
		if e == 0 {
			n, e = s.Send(t, &m)
		} else if m.To == nil {
			e = unsendable(t, s, flags, e)
		}
		t.Wait.Done += int64(n)
		wait := e == unix.EAGAIN && !of.NonBlocking() && flags&unix.MSG_DONTWAIT == 0 &&
			!t.Wait.TimedOut && !(t.Wait.Interrupted && t.Wait.Done > 0)
		switch {
		case wait:
			return waitSocket(t, s, s.Base().SendTimeout, unix.EAGAIN)
		case e != 0 && t.Wait.Done > 0:
			return kernel.Ret(t.Wait.Done)
		case e != 0:
			if e == unix.EPIPE && flags&unix.MSG_NOSIGNAL == 0 && isStream(s) {
				raise(t, int(unix.SIGPIPE))
			}
			return kernel.Fail(e)
		case t.Wait.Done >= int64(total) || !isStream(s):
			return kernel.Ret(t.Wait.Done)
		}
		m.Rights = nil // they went with the first bytes
	}
}

// unsendable is why nothing can be sent: bad is that it could not be read, but Linux finds out
// first that nobody is there.
func unsendable(t *kernel.Thread, s socket.Socket, flags int, bad kernel.Errno) kernel.Errno {
	if _, e := s.RemoteAddr(); e == 0 {
		return bad
	}
	if _, e := s.Send(t, &socket.OutMsg{Flags: flags}); e != 0 {
		return e
	}
	return bad
}

// fastOpen is what MSG_FASTOPEN does before data is sent: it connects. Data goes with the SYN only
// to a server that has given a cookie for it, and by default no server of Linux does.
func fastOpen(t *kernel.Thread, s socket.Socket, addr []byte, nonBlocking bool) (e kernel.Errno, wait bool) {
	if len(addr) >= 2 && le.Uint16(addr) == unix.AF_UNSPEC {
		return unix.EOPNOTSUPP, false
	}
	if _, e := s.RemoteAddr(); e == 0 && len(addr) == 0 {
		return unix.EISCONN, false
	}
	return connect(t, s, addr, nonBlocking)
}

// sysRecvfrom implements recvfrom(2).
func sysRecvfrom(t *kernel.Thread, a Args) kernel.Result {
	m, r := receive(t, a[0], []iovec{{a[1], min(a[2], maxIO)}}, int(int32(a[3])))
	dropRights(t, m.Rights, int(a[3])) // there is no room for them
	if r.Op == kernel.OpBlock || r.Value < 0 || a[4] == 0 {
		return r
	}
	if e := writeSockaddr(t, a[4], a[5], m.From); e != 0 {
		return kernel.Fail(e)
	}
	return r
}

// sysRecvmsg implements recvmsg(2).
func sysRecvmsg(t *kernel.Thread, a Args) kernel.Result {
	return recvmsg(t, a[0], a[1], int(int32(a[2])))
}

// recvmsg receives into the struct msghdr at the address at.
func recvmsg(t *kernel.Thread, fd, at uint64, flags int) kernel.Result {
	if _, _, e := socketOf(t, fd); e != 0 {
		return kernel.Fail(e)
	}
	h, e := readMsghdr(t, at)
	if e != 0 {
		return kernel.Fail(e)
	}
	m, r := receive(t, fd, h.v, flags)
	if r.Op == kernel.OpBlock || r.Value < 0 {
		return r
	}
	if h.name != 0 {
		if e := t.M.WriteMem(h.name, m.From[:min(len(m.From), int(h.nameLen))]); e != 0 {
			return kernel.Fail(e)
		}
		if e := writeU32(t, at+8, uint32(len(m.From))); e != 0 {
			return kernel.Fail(e)
		}
	}
	used, e := writeControls(t, h, &m, flags)
	if e == 0 {
		e = writeU64(t, at+40, used)
	}
	if e == 0 {
		e = writeU32(t, at+48, uint32(m.OutFlags))
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	return r
}

// msgWaitForOne is recvmmsg's: wait for the first message only.
const msgWaitForOne = 0x10000

// sysRecvmmsg implements recvmmsg(2). As in Linux the time-out is looked at only
// after a message has arrived.
func sysRecvmmsg(t *kernel.Thread, a Args) kernel.Result {
	end := ariadne.Never
	if a[4] != 0 {
		if t.Wait.Runs == 0 {
			d, e := readLimit(t, a[4])
			if e != 0 {
				return kernel.Fail(e)
			}
			t.Wait.Aux[1] = uint64(t.Node().Now + d)
		}
		end = ariadne.Time(t.Wait.Aux[1])
	}
	count := min(uint64(uint32(a[2])), maxMmsg)
	i := t.Wait.Aux[0]
	for i < count {
		flags := int(int32(a[3]))
		if flags&msgWaitForOne != 0 && i > 0 {
			flags |= unix.MSG_DONTWAIT
		}
		at := a[1] + i*sizeofMmsghdr
		r := recvmsg(t, a[0], at, flags&^msgWaitForOne)
		if r.Op == kernel.OpBlock && !(t.Wait.Interrupted && i > 0) {
			t.Wait.Aux[0] = i
			return r
		}
		if r.Op == kernel.OpBlock || r.Value < 0 {
			if i == 0 {
				return r
			}
			break
		}
		if e := writeU32(t, at+sizeofMsghdr, uint32(r.Value)); e != 0 {
			return kernel.Fail(e)
		}
		t.Wait.Done = 0
		t.ReadAgain()
		i++
		if t.Node().Now >= end {
			break
		}
	}
	if a[4] != 0 {
		left := max(0, end-t.Node().Now)
		if left > 0 {
			t.Node().TellTime()
		}
		if e := writeLimit(t, a[4], left); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(int64(i))
}

// receive receives one message into v. With MSG_WAITALL a stream has filled
// t.Wait.Done bytes in earlier runs.
func receive(t *kernel.Thread, fd uint64, v []iovec, flags int) (socket.InMsg, kernel.Result) {
	s, of, e := socketOf(t, fd)
	if e != 0 {
		return socket.InMsg{}, kernel.Fail(e)
	}
	if d := s.Base().Domain; flags&unix.MSG_ERRQUEUE != 0 && (d == unix.AF_INET || d == unix.AF_INET6) {
		return socket.InMsg{}, kernel.Fail(unix.EAGAIN) // nothing is ever in the queue of errors
	}
	nonblock := of.NonBlocking() || flags&unix.MSG_DONTWAIT != 0
	total := iovLen(v)
	all := isStream(s) && flags&unix.MSG_WAITALL != 0 && flags&unix.MSG_PEEK == 0
	for {
		m := socket.InMsg{Max: total - int(t.Wait.Done), Flags: flags, NoWait: nonblock, Got: int(t.Wait.Done),
			Sender: t.Wait.Sender}
		if isStream(s) && !nonblock && !t.Wait.TimedOut && !t.Wait.Interrupted {
			m.Least = min(total, leastBytes(s, flags))
		}
		e := s.Recv(t, &m)
		switch {
		case e == unix.EAGAIN && t.Wait.Done > 0 && (nonblock || t.Wait.TimedOut || t.Wait.Interrupted):
			m.Creds = t.Wait.Sender
			return m, kernel.Ret(t.Wait.Done)
		case e == unix.EAGAIN && !nonblock && !t.Wait.TimedOut:
			return m, waitSocket(t, s, s.Base().RecvTimeout, unix.EAGAIN)
		case e != 0:
			return m, kernel.Fail(e)
		}
		if e := scatter(t, skip(v, int(t.Wait.Done)), m.Data); e != 0 {
			if flags&unix.MSG_PEEK == 0 {
				unread(s, m.Data)
			}
			return m, kernel.Fail(e)
		}
		n := len(m.Data)
		if flags&unix.MSG_TRUNC != 0 {
			n = m.Len
		}
		if !all {
			return m, kernel.Ret(int64(n))
		}
		t.Wait.Done += int64(n)
		t.Wait.Sender = m.Creds
		if n == 0 || m.Last || t.Wait.Done >= int64(total) {
			return m, kernel.Ret(t.Wait.Done)
		}
	}
}

// leastBytes is how many bytes a blocking receive on a stream waits for.
func leastBytes(s socket.Socket, flags int) int {
	if flags&unix.MSG_WAITALL != 0 && flags&unix.MSG_PEEK != 0 {
		return maxIO
	}
	return s.Base().Opt(unix.SOL_SOCKET, unix.SO_RCVLOWAT)
}

// skip returns v without its first n bytes.
func skip(v []iovec, n int) []iovec {
	for len(v) > 0 && uint64(n) >= v[0].len {
		n -= int(v[0].len)
		v = v[1:]
	}
	if n == 0 || len(v) == 0 {
		return v
	}
	return append([]iovec{{v[0].base + uint64(n), v[0].len - uint64(n)}}, v[1:]...)
}

// readLimit and writeLimit access recvmmsg's struct timespec.
func readLimit(t *kernel.Thread, addr uint64) (ariadne.Time, kernel.Errno) {
	b, e := readBytes(t, addr, 16)
	if e != 0 {
		return 0, e
	}
	sec, nsec := int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
	if sec < 0 || nsec < 0 || nsec >= 1e9 {
		return 0, unix.EINVAL
	}
	return ariadne.Time(min(sec, 1<<31)*1e9 + nsec), 0
}

func writeLimit(t *kernel.Thread, addr uint64, d ariadne.Time) kernel.Errno {
	b := le.AppendUint64(nil, uint64(d)/1e9)
	return t.M.WriteMem(addr, le.AppendUint64(b, uint64(d)%1e9))
}
