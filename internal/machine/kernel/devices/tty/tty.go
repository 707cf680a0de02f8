// Package tty is pseudoterminals (pty(7)) with their line discipline, and the controlling terminals
// of sessions.
//
// Read next: line.go.
package tty

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Termios are a terminal's settings (termios(3)), as Linux's struct termios has them.
type Termios struct {
	Iflag, Oflag, Cflag, Lflag uint32
	Line                       byte
	CC                         [19]byte
}

// newTermios are the settings of a pseudoterminal that was just opened.
func newTermios() Termios {
	return Termios{
		Iflag: unix.ICRNL | unix.IXON, Oflag: unix.OPOST | unix.ONLCR, Cflag: unix.B38400 | unix.CS8 | unix.CREAD,
		Lflag: unix.ISIG | unix.ICANON | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE | unix.IEXTEN,
		CC: [19]byte{unix.VINTR: 3, unix.VQUIT: 0x1c, unix.VERASE: 0x7f, unix.VKILL: 0x15, unix.VEOF: 4, unix.VMIN: 1,
			unix.VSTART: 0x11, unix.VSTOP: 0x13, unix.VSUSP: 0x1a, unix.VREPRINT: 0x12, unix.VDISCARD: 0xf,
			unix.VWERASE: 0x17, unix.VLNEXT: 0x16},
	}
}

const (
	maxLine   = 4096    // what one line, or unread input, may hold
	maxOutput = 1 << 16 // output that the master has not read
)

// Terminal is a pseudoterminal (pty(7)): what is written to the master goes through the
// line discipline to who reads the slave, and what is written to the slave, and echoed,
// to the master.
type Terminal struct {
	N int // its name is /dev/pts/N
	Termios
	Size     [4]uint16 // rows, columns, and two that nobody uses
	Locked   bool      // until unlockpt(3)
	UID, GID int
	Mode     uint32

	Session int // whose controlling terminal it is, or 0
	Group   int // foreground process group, or 0

	slaves int  // open file descriptions
	opened bool // the slave has ever been open
	gone   bool // the master is: the slave's ends are dead

	lines   []input // what can be read
	edit    []byte  // the line that is being typed
	literal bool    // the next character has no meaning
	stopped bool    // by ^S
	out     []byte  // for the master
	column  int
	begin   int // column at which edit begins

	masterChanged, slaveChanged kernel.Queue
}

// input is a line with its end, or, read raw, what has come. eof: the end of file
// was typed behind it.
type input struct {
	data []byte
	eof  bool
}

// terminals are those of a node by number, as long as the master is open.
type terminals struct{ open map[int]*Terminal }

var ttys = kernel.NewSlot[*kernel.Node, terminals]()

func init() { kernel.Register("tty", kernel.Hooks{SessionEnds: leaderEnds}) }

// Numbered returns a terminal by its number, or nil.
func Numbered(n *kernel.Node, number int) *Terminal { return ttys.Of(n).open[number] }

// Any reports whether a node has a terminal.
func Any(n *kernel.Node) bool { return len(ttys.Of(n).open) > 0 }

// Master and Slave are the ends of a terminal. Each open of the slave makes one.
type Master struct{ *Terminal }

var _ = kernel.DeclareKind[*Master]()

type Slave struct {
	*Terminal
	path string
}

var _ = kernel.DeclareKind[*Slave]()

// Open makes a terminal of a user and returns its master end.
func Open(n *kernel.Node, owner int) *Master {
	x := &Terminal{Termios: newTermios(), Locked: true, UID: owner, GID: group, Mode: 0o620}
	all := ttys.Of(n)
	for all.open[x.N] != nil {
		x.N++
	}
	if all.open == nil {
		all.open = map[int]*Terminal{}
	}
	all.open[x.N] = x
	return &Master{x}
}

// group is the group of terminals, as devpts is mounted everywhere.
const group = 5

// ControllingOf returns the process's controlling terminal, or nil.
func ControllingOf(p *kernel.Process) *Terminal {
	for _, x := range ttys.Of(p.Node).open {
		if x.Session == p.SID {
			return x
		}
	}
	return nil
}

// OpenSlave opens the other end. control: it becomes the controlling terminal of a
// session leader who has none.
func (x *Terminal) OpenSlave(p *kernel.Process, path string, control bool) (*Slave, kernel.Errno) {
	if x.Locked || x.gone {
		return nil, unix.EIO
	}
	x.slaves++
	x.opened = true
	if control && p.SID == p.PID && x.Session == 0 && ControllingOf(p) == nil {
		x.Session, x.Group = p.SID, p.PGID
	}
	x.masterChanged.Notify(0)
	return &Slave{Terminal: x, path: path}, 0
}

// Path is the slave's name.
func (x *Terminal) Path() string { return fmt.Sprintf("/dev/pts/%d", x.N) }

func (m *Master) Describe() string { return "/dev/ptmx" }
func (s *Slave) Describe() string  { return cmp.Or(s.path, s.Path()) }

// StatMode implements Moder.
func (m *Master) StatMode() uint32 { return unix.S_IFCHR | 0o666 }
func (s *Slave) StatMode() uint32  { return unix.S_IFCHR | s.Mode }

func (m *Master) Changed() *kernel.Queue { return &m.masterChanged }
func (s *Slave) Changed() *kernel.Queue  { return &s.slaveChanged }

// Release of the master hangs up the slave.
func (m *Master) Release(n *kernel.Node) {
	m.gone = true
	m.hangUp(n)
	delete(ttys.Of(n).open, m.N)
}

func (s *Slave) Release(n *kernel.Node) {
	s.slaves--
	s.masterChanged.Notify(0)
}

// hangUp ends the session's use of the terminal.
func (x *Terminal) hangUp(n *kernel.Node) {
	sid, group := x.Session, x.Group
	x.Session, x.Group = 0, 0
	if leader := n.Procs[sid]; sid != 0 && leader != nil {
		n.Kill(leader, signal.Info{Signo: int(unix.SIGHUP), Code: signal.SIKernel})
		n.Kill(leader, signal.Info{Signo: int(unix.SIGCONT), Code: signal.SIKernel})
	}
	signalGroup(n, group, unix.SIGHUP)
	x.masterChanged.Notify(0)
	x.slaveChanged.Notify(0)
}

// leaderEnds does what the end of a session's leader means for its terminal: it is
// nobody's then, and goes on.
func leaderEnds(p *kernel.Process) {
	if x := ControllingOf(p); x != nil {
		group := x.Group
		x.Session, x.Group = 0, 0
		signalGroup(p.Node, group, unix.SIGHUP)
	}
}

func signalGroup(n *kernel.Node, group int, s unix.Signal) {
	if group == 0 {
		return
	}
	for _, p := range n.Group(group) {
		n.Kill(p, signal.Info{Signo: int(s), Code: signal.SIKernel})
	}
}

// Ready implements File.
func (m *Master) Ready() (ev kernel.Events) {
	if len(m.out) > 0 {
		ev |= kernel.In | kernel.RdNorm
	}
	if m.opened && m.slaves == 0 {
		ev |= kernel.Hup
	}
	if m.room() > 0 {
		ev |= kernel.Out | kernel.WrNorm
	}
	return ev
}

// Ready implements File.
func (s *Slave) Ready() (ev kernel.Events) {
	if s.gone {
		return kernel.In | kernel.RdNorm | kernel.Out | kernel.WrNorm | kernel.Err | kernel.Hup
	}
	if s.canRead(maxLine) {
		ev |= kernel.In | kernel.RdNorm
	}
	if !s.stopped && len(s.out) < maxOutput {
		ev |= kernel.Out | kernel.WrNorm
	}
	return ev
}

// canRead reports whether a read of up to want bytes need not wait.
func (x *Terminal) canRead(want int) bool {
	if x.Lflag&unix.ICANON != 0 {
		return len(x.lines) > 0
	}
	least := 1
	if x.CC[unix.VTIME] == 0 {
		least = max(1, min(want, int(x.CC[unix.VMIN])))
	}
	return x.unread() >= least
}

func (x *Terminal) unread() (n int) {
	for _, l := range x.lines {
		n += len(l.data)
	}
	return n
}

// room is how much input is taken. A line that is too long loses its end instead.
func (x *Terminal) room() int {
	if x.Lflag&unix.ICANON != 0 && len(x.lines) == 0 {
		return maxLine
	}
	return maxLine - x.unread() - len(x.edit)
}

// Read implements Reader.
func (m *Master) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	switch {
	case len(b) == 0:
		return 0, 0
	case len(m.out) == 0 && m.opened && m.slaves == 0:
		return 0, unix.EIO
	case len(m.out) == 0:
		return 0, unix.EAGAIN
	}
	n := copy(b, m.out)
	m.out = m.out[n:]
	m.slaveChanged.Notify(kernel.Out)
	return n, 0
}

// Write implements Writer.
func (m *Master) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if m.opened && m.slaves == 0 {
		return 0, unix.EIO
	}
	n := 0
	for n < len(b) && m.room() > 0 {
		m.receive(t.Node(), b[n])
		n++
	}
	if n == 0 && len(b) > 0 {
		return 0, unix.EAGAIN
	}
	return n, 0
}

// Read implements Reader.
func (s *Slave) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if s.gone {
		return 0, 0
	}
	if e := s.foreground(t, unix.SIGTTIN); e != 0 {
		return 0, e
	}
	if len(b) == 0 {
		return 0, 0
	}
	defer func() { s.masterChanged.Notify(kernel.Out) }()
	if s.Lflag&unix.ICANON != 0 {
		if len(s.lines) == 0 {
			return 0, unix.EAGAIN
		}
		l := &s.lines[0]
		n := copy(b, l.data)
		if l.data = l.data[n:]; len(l.data) == 0 {
			s.lines = s.lines[1:]
		}
		return n, 0
	}
	if s.CC[unix.VTIME] != 0 && s.CC[unix.VMIN] == 0 && s.unread() == 0 {
		t.Node().Refuse(t, "read of a terminal with a time limit", "VTIME", true)
		return 0, 0
	}
	if s.CC[unix.VMIN] == 0 && s.unread() == 0 {
		return 0, 0
	}
	if !s.canRead(len(b)) {
		return 0, unix.EAGAIN
	}
	n := 0
	for n < len(b) && len(s.lines) > 0 {
		l := &s.lines[0]
		k := copy(b[n:], l.data)
		n += k
		if l.data = l.data[k:]; len(l.data) == 0 {
			s.lines = s.lines[1:]
		}
	}
	return n, 0
}

// Write implements Writer.
func (s *Slave) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if s.gone {
		return 0, unix.EIO
	}
	if s.Lflag&unix.TOSTOP != 0 {
		if e := s.foreground(t, unix.SIGTTOU); e != 0 {
			return 0, e
		}
	}
	n := 0
	for n < len(b) && !s.stopped && len(s.out) < maxOutput {
		s.emit(b[n])
		n++
	}
	s.masterChanged.Notify(kernel.In)
	if n == 0 && len(b) > 0 {
		return 0, unix.EAGAIN
	}
	return n, 0
}

// foreground holds up who uses its controlling terminal from the background. EAGAIN:
// its group has been sent a signal that stops it.
func (x *Terminal) foreground(t *kernel.Thread, s unix.Signal) kernel.Errno {
	p := t.Proc
	if x.Session != p.SID || x.Group == 0 || p.PGID == x.Group {
		return 0
	}
	if p.Ignores(int(s)) || t.M.SigMask().Has(int(s)) {
		if s == unix.SIGTTIN {
			return unix.EIO
		}
		return 0
	}
	if p.Node.Orphaned(p.PGID, nil) {
		return unix.EIO
	}
	signalGroup(p.Node, p.PGID, s)
	return unix.EAGAIN
}

// ioctl answers what both ends are asked. slave: whose end it is, or nil for the master.
func (x *Terminal) ioctl(t *kernel.Thread, cmd, arg uint64, slave *Slave) (int64, kernel.Errno) {
	p := t.Proc
	own := x.Session != 0 && x.Session == p.SID
	switch cmd {
	case unix.TCGETS:
		return 0, t.M.WriteMem(arg, x.Termios.encode())
	case unix.TCGETA:
		return 0, t.M.WriteMem(arg, x.Termios.encodeOld())
	case unix.TCSETS, unix.TCSETSW, unix.TCSETSF:
		if e := x.foreground(t, unix.SIGTTOU); e != 0 {
			return 0, e
		}
		return 0, x.setTermios(t, arg, cmd == unix.TCSETSF)
	case tcSetA, tcSetAW, tcSetAF:
		if e := x.foreground(t, unix.SIGTTOU); e != 0 {
			return 0, e
		}
		return 0, x.setOld(t, arg, cmd == tcSetAF)
	case unix.TIOCGWINSZ:
		var b []byte
		for _, v := range x.Size {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
		return 0, t.M.WriteMem(arg, b)
	case unix.TIOCSWINSZ:
		return 0, x.resize(t, arg)
	case unix.TIOCGPGRP:
		if slave != nil && !own {
			return 0, unix.ENOTTY
		}
		return 0, t.StoreInt(arg, x.Group)
	case unix.TIOCSPGRP:
		if e := x.foreground(t, unix.SIGTTOU); e != 0 {
			return 0, e
		}
		return 0, x.setGroup(t, arg)
	case unix.TIOCGSID:
		if slave != nil && !own || x.Session == 0 {
			return 0, unix.ENOTTY
		}
		return 0, t.StoreInt(arg, x.Session)
	case unix.TIOCSCTTY:
		switch {
		case x.Session == p.SID && p.SID == p.PID:
			return 0, 0
		case p.SID != p.PID || ControllingOf(p) != nil:
			return 0, unix.EPERM
		case x.Session != 0 && (arg != 1 || !t.Capable(unix.CAP_SYS_ADMIN)):
			return 0, unix.EPERM
		}
		x.Session, x.Group = p.SID, p.PGID
		return 0, 0
	case unix.TIOCINQ:
		return 0, t.StoreInt(arg, x.unread())
	case unix.TIOCOUTQ:
		return 0, t.StoreInt(arg, 0)
	case unix.TCFLSH:
		if e := x.change(t, slave); e != 0 {
			return 0, e
		}
		if arg > unix.TCIOFLUSH {
			return 0, unix.EINVAL
		}
		if arg != unix.TCOFLUSH {
			x.lines, x.edit = nil, nil
		}
		if arg != unix.TCIFLUSH {
			x.out = nil
		}
		x.masterChanged.Notify(kernel.Out)
		return 0, 0
	case unix.TCXONC:
		if e := x.change(t, slave); e != 0 {
			return 0, e
		}
		x.stopped = arg == unix.TCOOFF || arg != unix.TCOON && x.stopped
		x.slaveChanged.Notify(kernel.Out)
		return 0, 0
	case unix.TCSBRK, unix.TCSBRKP, unix.TIOCEXCL, unix.TIOCNXCL:
		return 0, 0
	case unix.TIOCGETD:
		return 0, t.StoreInt(arg, 0)
	}
	return 0, unix.ENOTTY
}

// Ioctl implements Ioctler.
func (m *Master) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	switch cmd {
	case unix.TIOCGPTN:
		return 0, t.StoreInt(arg, m.N)
	case unix.TIOCSPTLCK:
		var b [4]byte
		e := t.M.ReadMem(arg, b[:])
		if e == 0 {
			m.Locked = b != [4]byte{}
		}
		return 0, e
	case unix.TIOCGPTLCK:
		locked := 0
		if m.Locked {
			locked = 1
		}
		return 0, t.StoreInt(arg, locked)
	case unix.TIOCGPTPEER:
		s, e := m.OpenSlave(t.Proc, "", arg&unix.O_NOCTTY == 0)
		if e != 0 {
			return 0, e
		}
		fd, e := t.NewFD(s, int(arg)&(unix.O_ACCMODE|unix.O_NONBLOCK|unix.O_CLOEXEC))
		return int64(fd), e
	}
	return m.ioctl(t, cmd, arg, nil)
}

// Ioctl implements Ioctler.
func (s *Slave) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	p := t.Proc
	switch {
	case s.gone && cmd == unix.TIOCSPGRP:
		return 0, unix.ENOTTY
	case s.gone:
		return 0, unix.EIO
	}
	switch cmd {
	case unix.TIOCNOTTY:
		if s.Session != p.SID {
			return 0, unix.ENOTTY
		}
		if p.SID == p.PID {
			group := s.Group
			s.Session, s.Group = 0, 0
			signalGroup(p.Node, group, unix.SIGHUP)
			signalGroup(p.Node, group, unix.SIGCONT)
			return 0, 0
		}
		p.Node.Refuse(t, "TIOCNOTTY of one process of a session", "", true)
		return 0, 0
	}
	return s.ioctl(t, cmd, arg, s)
}

// change is asked before a terminal is changed through its slave.
func (x *Terminal) change(t *kernel.Thread, slave *Slave) kernel.Errno {
	if slave == nil {
		return 0
	}
	return x.foreground(t, unix.SIGTTOU)
}

func (c *Termios) encode() []byte {
	var b []byte
	for _, v := range []uint32{c.Iflag, c.Oflag, c.Cflag, c.Lflag} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(append(b, c.Line), c.CC[:]...)
}

func (x *Terminal) setTermios(t *kernel.Thread, addr uint64, flush bool) kernel.Errno {
	var b [36]byte
	if e := t.M.ReadMem(addr, b[:]); e != 0 {
		return e
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	c := Termios{Iflag: word(0), Oflag: word(1), Cflag: word(2), Lflag: word(3), Line: b[16]}
	copy(c.CC[:], b[17:])
	x.set(c, flush)
	return 0
}

// The older ioctls, whose flags have 16 bits and which know the first characters only.
const (
	tcSetA  = 0x5406
	tcSetAW = 0x5407
	tcSetAF = 0x5408

	oldSize = 17 // of struct termio, without what fills it up
)

func (c *Termios) encodeOld() []byte {
	var b []byte
	for _, v := range []uint32{c.Iflag, c.Oflag, c.Cflag, c.Lflag} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return append(append(b, c.Line), c.CC[:oldSize-len(b)-1]...)
}

func (x *Terminal) setOld(t *kernel.Thread, addr uint64, flush bool) kernel.Errno {
	var b [oldSize]byte
	if e := t.M.ReadMem(addr, b[:]); e != 0 {
		return e
	}
	c := x.Termios
	for i, v := range []*uint32{&c.Iflag, &c.Oflag, &c.Cflag, &c.Lflag} {
		*v = *v&^0xffff | uint32(binary.LittleEndian.Uint16(b[2*i:]))
	}
	c.Line = b[8]
	copy(c.CC[:], b[9:])
	x.set(c, flush)
	return 0
}

func (x *Terminal) set(c Termios, flush bool) {
	raw := x.Lflag&unix.ICANON == 0
	x.Termios = c
	// A pseudoterminal has 8 bits and no parity, and always receives.
	x.Cflag = x.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8 | unix.CREAD
	switch {
	case flush:
		x.lines, x.edit = nil, nil
	case !raw && x.Lflag&unix.ICANON == 0 && len(x.edit) > 0:
		x.lines, x.edit = append(x.lines, input{data: x.edit}), nil
	}
	if x.Iflag&unix.IXON == 0 {
		x.stopped = false
	}
	x.masterChanged.Notify(kernel.Out)
	x.slaveChanged.Notify(0)
}

// Is reports whether a file is an end of a terminal.
func Is(f kernel.File) bool {
	switch f.(type) {
	case *Master, *Slave:
		return true
	}
	return false
}

func (x *Terminal) resize(t *kernel.Thread, addr uint64) kernel.Errno {
	var b [8]byte
	if e := t.M.ReadMem(addr, b[:]); e != 0 {
		return e
	}
	old := x.Size
	for i := range x.Size {
		x.Size[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	if x.Size != old {
		signalGroup(t.Node(), x.Group, unix.SIGWINCH)
	}
	return 0
}

func (x *Terminal) setGroup(t *kernel.Thread, addr uint64) kernel.Errno {
	var b [4]byte
	if x.Session == 0 || x.Session != t.Proc.SID {
		return unix.ENOTTY
	}
	if e := t.M.ReadMem(addr, b[:]); e != 0 {
		return e
	}
	group := int(int32(binary.LittleEndian.Uint32(b[:])))
	if group < 0 {
		return unix.EINVAL
	}
	members := t.Node().Group(group)
	switch {
	case len(members) == 0:
		return unix.ESRCH
	case members[0].SID != t.Proc.SID:
		return unix.EPERM
	}
	x.Group = group
	x.slaveChanged.Notify(0) // those in the background try again
	x.masterChanged.Notify(0)
	return 0
}
