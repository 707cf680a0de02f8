package unixsock

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

const maxSockaddrUn = 110 // sizeof(struct sockaddr_un)

// key is where a bound socket is found: an abstract name, or the file that
// a path name leads to.
type key struct {
	abstract string // with its leading NUL
	typ      int    // of an abstract name: each type of socket has names of its own
	file     inode.Key
}

// names are the names that sockets are bound to.
type names struct {
	bound map[key]*Socket
	last  int // name given by autobind
}

var bound = kernel.NewSlot[*kernel.Node, names]()

// sockaddrUn is an address as programs see it; of an unnamed socket it is the
// family alone.
func sockaddrUn(addr []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, unix.AF_UNIX), addr...)
}

// checkAddr checks the form of an address.
func checkAddr(b []byte) kernel.Errno {
	if len(b) <= 2 || len(b) > maxSockaddrUn || iface.SockaddrFamily(b) != unix.AF_UNIX {
		return unix.EINVAL
	}
	return 0
}

// Path is the path of an address, or "" when its name is abstract.
func Path(b []byte) string {
	if len(b) < 2 {
		return ""
	}
	path, _, _ := bytes.Cut(b[2:], []byte{0})
	return string(path)
}

// Bind implements Socket.
func (s *Socket) Bind(t *kernel.Thread, b []byte) kernel.Errno {
	if len(b) == 2 && iface.SockaddrFamily(b) == unix.AF_UNIX {
		if s.addr == nil {
			s.autobind()
		}
		return 0
	}
	if e := checkAddr(b); e != 0 {
		return e
	}
	if path := Path(b); path != "" {
		return s.bindPath(t, path)
	}
	if s.addr != nil {
		return unix.EINVAL
	}
	return s.bindName(string(b[2:]))
}

// bindPath makes a socket file: a real one, in the node's own tree.
func (s *Socket) bindPath(t *kernel.Thread, path string) kernel.Errno {
	askSocket(t, path)
	at, e := pathArg(t, path)
	if e != 0 {
		return e
	}
	if r := t.M.Syscall(unix.SYS_MKNODAT, atFDCWD, at, unix.S_IFSOCK|0o777, 0); r < 0 {
		if kernel.Errno(-r) == unix.EEXIST {
			return unix.EADDRINUSE
		}
		return kernel.Errno(-r)
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

func (s *Socket) bindName(name string) kernel.Errno {
	key := key{abstract: name, typ: s.Type}
	if bound.Of(s.Node).bound[key] != nil {
		return unix.EADDRINUSE
	}
	s.enter(key, []byte(name))
	return 0
}

// autobind gives the socket an abstract name of five hexadecimal digits.
func (s *Socket) autobind() {
	names := bound.Of(s.Node)
	for {
		names.last = (names.last + 1) & 0xfffff
		if s.bindName(fmt.Sprintf("\x00%05x", names.last)) == 0 {
			return
		}
	}
}

// enter makes the socket known. A file that another socket was bound to and that
// is gone may have left its number to this one.
func (s *Socket) enter(at key, addr []byte) {
	s.key, s.addr = at, addr
	names := bound.Of(s.Node)
	if names.bound == nil {
		names.bound = map[key]*Socket{}
	}
	names.bound[at] = s
}

func (s *Socket) forget() {
	if names := bound.Of(s.Node); s.addr != nil && names.bound[s.key] == s {
		delete(names.bound, s.key)
	}
}

// find returns the socket of s's type that is bound to an address.
func (s *Socket) find(t *kernel.Thread, b []byte) (*Socket, kernel.Errno) {
	key := key{abstract: string(b[2:]), typ: s.Type}
	if path := Path(b); path != "" {
		var e kernel.Errno
		askSocket(t, path)
		if key, e = socketFile(t, path); e != 0 {
			return nil, e
		}
	}
	x := bound.Of(s.Node).bound[key]
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
func pathArg(t *kernel.Thread, path string) (uint64, kernel.Errno) {
	return area.Scratch, t.M.WriteMem(area.Scratch, append([]byte(path), 0))
}

// askSocket notes that a socket file is looked up.
func askSocket(t *kernel.Thread, name string) {
	if name[0] != '/' {
		name = t.Proc.Cwd + "/" + name
	} else {
		name = t.Proc.Root + name
	}
	t.Node().NoteAsked(name)
}

// socketFile finds the socket file at a path, as the thread sees it; the thread
// must be allowed to write to it.
func socketFile(t *kernel.Thread, path string) (key, kernel.Errno) {
	at, e := pathArg(t, path)
	if e != 0 {
		return key{}, e
	}
	stat := at + unix.PathMax
	if r := t.M.Syscall(unix.SYS_NEWFSTATAT, atFDCWD, at, stat, 0); r < 0 {
		return key{}, kernel.Errno(-r)
	}
	var st unix.Stat_t
	if e := t.M.ReadMem(stat, (*[unsafe.Sizeof(st)]byte)(unsafe.Pointer(&st))[:]); e != 0 {
		return key{}, e
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return key{}, unix.ECONNREFUSED
	}
	if t.Cred.UID.Effective != 0 {
		if r := t.M.Syscall(unix.SYS_FACCESSAT, atFDCWD, at, unix.W_OK); r < 0 {
			return key{}, kernel.Errno(-r)
		}
	}
	return key{file: inode.Key{Dev: st.Dev, Ino: st.Ino}}, 0
}
