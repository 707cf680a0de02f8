package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const maxSockaddrUn = 110 // sizeof(struct sockaddr_un)

// unixKey is where a bound socket is found: an abstract name, or the file that
// a path name leads to.
type unixKey struct {
	abstract string // with its leading NUL
	typ      int    // of an abstract name: each type of socket has names of its own
	dev, ino uint64
}

// unixNames are the names that sockets are bound to.
type unixNames struct {
	bound map[unixKey]*Unix
	last  int // name given by autobind
}

var unixBound = NewSlot[*Node, unixNames]()

// sockaddrUn is an address as programs see it; of an unnamed socket it is the
// family alone.
func sockaddrUn(addr []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, unix.AF_UNIX), addr...)
}

// checkUnixAddr checks the form of an address.
func checkUnixAddr(b []byte) Errno {
	if len(b) <= 2 || len(b) > maxSockaddrUn || SockaddrFamily(b) != unix.AF_UNIX {
		return unix.EINVAL
	}
	return 0
}

// UnixPath is the path of an address, or "" when its name is abstract.
func UnixPath(b []byte) string {
	if len(b) < 2 {
		return ""
	}
	path, _, _ := bytes.Cut(b[2:], []byte{0})
	return string(path)
}

// Bind implements Socket.
func (s *Unix) Bind(t *Thread, b []byte) Errno {
	if len(b) == 2 && SockaddrFamily(b) == unix.AF_UNIX {
		if s.addr == nil {
			s.autobind()
		}
		return 0
	}
	if e := checkUnixAddr(b); e != 0 {
		return e
	}
	if path := UnixPath(b); path != "" {
		return s.bindPath(t, path)
	}
	if s.addr != nil {
		return unix.EINVAL
	}
	return s.bindName(string(b[2:]))
}

// bindPath makes a socket file: a real one, in the node's own tree.
func (s *Unix) bindPath(t *Thread, path string) Errno {
	askSocket(t, path)
	at, e := pathArg(t, path)
	if e != 0 {
		return e
	}
	if r := t.M.Syscall(unix.SYS_MKNODAT, atFDCWD, at, unix.S_IFSOCK|0o777, 0); r < 0 {
		if Errno(-r) == unix.EEXIST {
			return unix.EADDRINUSE
		}
		return Errno(-r)
	}
	if s.addr != nil { // Linux makes the file before it looks
		t.M.Syscall(unix.SYS_UNLINKAT, atFDCWD, at, 0)
		return unix.EINVAL
	}
	key, e := socketFile(t, path)
	if e != 0 {
		return e
	}
	s.enter(key, append([]byte(path), 0))
	return 0
}

func (s *Unix) bindName(name string) Errno {
	key := unixKey{abstract: name, typ: s.Type}
	if unixBound.Of(s.Node).bound[key] != nil {
		return unix.EADDRINUSE
	}
	s.enter(key, []byte(name))
	return 0
}

// autobind gives the socket an abstract name of five hexadecimal digits.
func (s *Unix) autobind() {
	names := unixBound.Of(s.Node)
	for {
		names.last = (names.last + 1) & 0xfffff
		if s.bindName(fmt.Sprintf("\x00%05x", names.last)) == 0 {
			return
		}
	}
}

// enter makes the socket known. A file that another socket was bound to and that
// is gone may have left its number to this one.
func (s *Unix) enter(key unixKey, addr []byte) {
	s.key, s.addr = key, addr
	names := unixBound.Of(s.Node)
	if names.bound == nil {
		names.bound = map[unixKey]*Unix{}
	}
	names.bound[key] = s
}

func (s *Unix) forget() {
	if names := unixBound.Of(s.Node); s.addr != nil && names.bound[s.key] == s {
		delete(names.bound, s.key)
	}
}

// find returns the socket of s's type that is bound to an address.
func (s *Unix) find(t *Thread, b []byte) (*Unix, Errno) {
	key := unixKey{abstract: string(b[2:]), typ: s.Type}
	if path := UnixPath(b); path != "" {
		var e Errno
		askSocket(t, path)
		if key, e = socketFile(t, path); e != 0 {
			return nil, e
		}
	}
	x := unixBound.Of(s.Node).bound[key]
	switch {
	case x == nil:
		return nil, unix.ECONNREFUSED
	case x.Type != s.Type:
		return nil, unix.EPROTOTYPE
	}
	return x, 0
}

const atFDCWD = uint64(1<<64 - 100) // AT_FDCWD

// pathArg puts a path into scratch memory for an injected call.
func pathArg(t *Thread, path string) (uint64, Errno) {
	return ScratchAddr, t.M.WriteMem(ScratchAddr, append([]byte(path), 0))
}

// askSocket notes that a socket file is looked up.
func askSocket(t *Thread, name string) {
	if name[0] != '/' {
		name = t.Proc.Cwd + "/" + name
	} else {
		name = t.Proc.Root + name
	}
	t.Node().Ask(name)
}

// socketFile finds the socket file at a path, as the thread sees it; the thread
// must be allowed to write to it.
func socketFile(t *Thread, path string) (unixKey, Errno) {
	at, e := pathArg(t, path)
	if e != 0 {
		return unixKey{}, e
	}
	stat := at + unix.PathMax
	if r := t.M.Syscall(unix.SYS_NEWFSTATAT, atFDCWD, at, stat, 0); r < 0 {
		return unixKey{}, Errno(-r)
	}
	var st unix.Stat_t
	if e := t.M.ReadMem(stat, (*[unsafe.Sizeof(st)]byte)(unsafe.Pointer(&st))[:]); e != 0 {
		return unixKey{}, e
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return unixKey{}, unix.ECONNREFUSED
	}
	if t.Proc.UID != 0 {
		if r := t.M.Syscall(unix.SYS_FACCESSAT, atFDCWD, at, unix.W_OK); r < 0 {
			return unixKey{}, Errno(-r)
		}
	}
	return unixKey{dev: st.Dev, ino: st.Ino}, 0
}
