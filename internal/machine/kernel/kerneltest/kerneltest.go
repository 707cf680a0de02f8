// Package kerneltest lets tests drive kernel objects and system-call handlers
// without Linux: a Machine over byte slices, and a Driver that stands in for
// the node layer (runs handlers, parks and wakes threads, fires timers). It
// runs no programs and delivers no signal to a handler.
package kerneltest

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Where the ordinary memory of a fake process lies.
const (
	Base = 0x10000
	Size = 0x40000
)

// Memory is an address space: ordinary memory at Base and Ariadne's scratch
// area. Machines of one process share it.
type Memory struct {
	Bytes   []byte
	Scratch []byte
}

// NewMemory returns zeroed memory of Size bytes.
func NewMemory() *Memory {
	return &Memory{make([]byte, Size), make([]byte, area.ScratchSize)}
}

// at returns the n bytes at addr, or nil when they are not all mapped.
func (m *Memory) at(addr uint64, n int) []byte {
	for _, r := range []struct {
		base uint64
		b    []byte
	}{{Base, m.Bytes}, {area.Scratch, m.Scratch}} {
		if addr >= r.base && addr+uint64(n) <= r.base+uint64(len(r.b)) {
			return r.b[addr-r.base:][:n]
		}
	}
	return nil
}

// Native is a real system call that a handler injected.
type Native struct {
	NR   uint64
	Args []uint64
}

// Tracee is a fake kernel.Tracee.
type Tracee struct {
	Mem  *Memory
	Mask signal.Set
	TID  int
	// Natives are the injected calls so far, without those for descriptors.
	Natives []Native
	// Answer gives the result of injected calls by number; others get ENOSYS.
	// eventfd2 and close work on descriptor numbers by themselves.
	Answer map[uint64]func(args []uint64) int64
	// Shared are addresses with a backing object, for futexes between
	// processes: Shared[addr of a page] = object.
	Shared map[uint64]uint64

	fds  map[int]bool // descriptors; shared by the threads of a process
	host map[int]int  // those that are real files: ours
}

// NewMachine returns the machine of a process's first thread, with descriptors
// 0, 1 and 2 open.
func NewMachine() *Tracee {
	return &Tracee{Mem: NewMemory(), Answer: map[uint64]func([]uint64) int64{},
		fds: map[int]bool{0: true, 1: true, 2: true}, host: map[int]int{}}
}

// Thread returns a machine for another thread of the same process.
func (m *Tracee) Thread() *Tracee {
	return &Tracee{Mem: m.Mem, Mask: m.Mask, Answer: m.Answer, Shared: m.Shared, fds: m.fds, host: m.host}
}

// ReadMem implements kernel.Tracee.
func (m *Tracee) ReadMem(addr uint64, b []byte) kernel.Errno {
	s := m.Mem.at(addr, len(b))
	if s == nil && len(b) > 0 {
		return unix.EFAULT
	}
	copy(b, s)
	return 0
}

// WriteMem implements kernel.Tracee.
func (m *Tracee) WriteMem(addr uint64, b []byte) kernel.Errno {
	s := m.Mem.at(addr, len(b))
	if s == nil && len(b) > 0 {
		return unix.EFAULT
	}
	copy(s, b)
	return 0
}

// PeekMem and PokeMem implement kernel.Tracee.
func (m *Tracee) PeekMem(addr uint64, b []byte) kernel.Errno { return m.ReadMem(addr, b) }
func (m *Tracee) PokeMem(addr uint64, b []byte) kernel.Errno { return m.WriteMem(addr, b) }

// Syscall implements kernel.Tracee.
func (m *Tracee) Syscall(nr int, args ...uint64) int64 {
	switch nr {
	case unix.SYS_EVENTFD2:
		return m.lowest(0)
	case unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FCNTL:
		return m.dup(nr, args)
	case unix.SYS_CLOSE:
		if !m.fds[int(args[0])] {
			return -int64(unix.EBADF)
		}
		delete(m.fds, int(args[0]))
		return 0
	}
	m.Natives = append(m.Natives, Native{uint64(nr), args})
	if f := m.Answer[uint64(nr)]; f != nil {
		return f(args)
	}
	return -int64(unix.ENOSYS)
}

// lowest takes the lowest free descriptor number from least on.
func (m *Tracee) lowest(least int) int64 {
	for m.fds[least] {
		least++
	}
	m.fds[least] = true
	return int64(least)
}

// dup answers the calls that duplicate a descriptor; other fcntls succeed.
func (m *Tracee) dup(nr int, args []uint64) int64 {
	if !m.fds[int(args[0])] {
		return -int64(unix.EBADF)
	}
	switch {
	case nr == unix.SYS_DUP:
		return m.lowest(0)
	case nr == unix.SYS_DUP3:
		m.fds[int(args[1])] = true
		return int64(args[1])
	case args[1] == unix.F_DUPFD || args[1] == unix.F_DUPFD_CLOEXEC:
		return m.lowest(int(args[2]))
	}
	return 0
}

// Open gives the process a descriptor for a real file, which HostFD lends.
func (m *Tracee) Open(t *kernel.Thread, real, flags int) uint64 {
	var st unix.Stat_t
	unix.Fstat(real, &st)
	fd := int(m.lowest(0))
	m.host[fd] = real
	h := &kernel.HostFile{Path: "/file", Dev: st.Dev, Ino: st.Ino, Mode: st.Mode}
	t.FDs().Set(fd, &kernel.OpenFile{File: h, Flags: flags}, false)
	return uint64(fd)
}

// HostFD implements kernel.Tracee.
func (m *Tracee) HostFD(fd int) (int, kernel.Errno) {
	real, ok := m.host[fd]
	if !ok {
		return -1, unix.EBADF
	}
	dup, err := unix.Dup(real)
	if err != nil {
		return -1, err.(kernel.Errno)
	}
	return dup, 0
}

// Adopt implements kernel.Tracee.
func (m *Tracee) Adopt(host int, cloexec bool) (int, kernel.Errno) {
	return int(m.Syscall(unix.SYS_EVENTFD2)), 0
}

// SigMask and SetSigMask implement kernel.Tracee.
func (m *Tracee) SigMask() signal.Set     { return m.Mask }
func (m *Tracee) SetSigMask(s signal.Set) { m.Mask = s }

// RealTID implements kernel.Tracee.
func (m *Tracee) RealTID() int { return m.TID }

// Backing tells which object lies behind shared memory, by page.
func (m *Tracee) Backing(addr uint64) (key [2]uint64, off uint64, ok bool) {
	o, ok := m.Shared[addr&^4095]
	return [2]uint64{o, 0}, addr & 4095, ok
}

// Poke and Peek access memory in tests; they panic outside of it.
func (m *Tracee) Poke(addr uint64, b []byte) {
	if m.WriteMem(addr, b) != 0 {
		panic("kerneltest: Poke outside memory")
	}
}
func (m *Tracee) Peek(addr uint64, n int) []byte {
	b := make([]byte, n)
	if m.ReadMem(addr, b) != 0 {
		panic("kerneltest: Peek outside memory")
	}
	return b
}

// Driver runs system calls of a node's threads as the node layer does.
type Driver struct {
	T      testing.TB
	Node   *kernel.Node
	Handle func(*kernel.Thread) kernel.Result // sys.Handle

	results map[*kernel.Thread]kernel.Result
}

// NewDriver returns a driver for a new node named "n0".
func NewDriver(tb testing.TB, handle func(*kernel.Thread) kernel.Result) *Driver {
	return &Driver{T: tb, Node: kernel.NewNode(0, "n0", 1), Handle: handle,
		results: map[*kernel.Thread]kernel.Result{}}
}

// Refused returns what the node has refused of that name, or nil.
func (d *Driver) Refused(name string) *ariadne.Refusal {
	for i := range d.Node.Refusals {
		if r := &d.Node.Refusals[i]; r.Name == name {
			return r
		}
	}
	return nil
}

// Process adds a process with a fake machine and an empty descriptor table.
func (d *Driver) Process(parent *kernel.Process) (*kernel.Thread, *Tracee) {
	p, t := d.Node.NewProcess(parent)
	m := NewMachine()
	m.TID = t.TID
	t.M = m
	p.FDs = kernel.NewFDTable()
	return t, m
}

// Thread adds a thread to t's process.
func (d *Driver) Thread(t *kernel.Thread) (*kernel.Thread, *Tracee) {
	u := t.Proc.NewThread()
	m := t.M.(*Tracee).Thread()
	m.TID = u.TID
	u.M = m
	return u, m
}

// Call lets t make a call and runs the node until nothing is runnable. It
// returns the result, or false when t waits.
func (d *Driver) Call(t *kernel.Thread, nr int, args ...uint64) (kernel.Result, bool) {
	d.T.Helper()
	if t.State != kernel.Runnable || t.Call.InCall {
		d.T.Fatalf("thread %d cannot make call %d: it is in one or dead", t.TID, nr)
	}
	t.Call = kernel.Call{NR: nr, InCall: true}
	copy(t.Call.Args[:], args)
	delete(d.results, t)
	d.run(t)
	d.Settle()
	return d.Result(t)
}

// Must is Call for a call that must not wait; it returns the value.
func (d *Driver) Must(t *kernel.Thread, nr int, args ...uint64) int64 {
	d.T.Helper()
	r, ok := d.Call(t, nr, args...)
	if !ok {
		d.T.Fatalf("thread %d: call %d%v waits", t.TID, nr, args)
	}
	return r.Value
}

// Waits is Call for a call that must wait.
func (d *Driver) Waits(t *kernel.Thread, nr int, args ...uint64) {
	d.T.Helper()
	if r, ok := d.Call(t, nr, args...); ok {
		d.T.Fatalf("thread %d: call %d%v returned %d, should wait", t.TID, nr, args, r.Value)
	}
}

// Result returns the result of t's last call, or false while it waits.
func (d *Driver) Result(t *kernel.Thread) (kernel.Result, bool) {
	r, ok := d.results[t]
	return r, ok
}

// Done returns the value that t's last call has returned by now.
func (d *Driver) Done(t *kernel.Thread) int64 {
	d.T.Helper()
	r, ok := d.results[t]
	if !ok {
		d.T.Fatalf("thread %d still waits in call %d", t.TID, t.Call.NR)
	}
	return r.Value
}

// Settle runs woken threads until the node is quiescent.
func (d *Driver) Settle() {
	for {
		t := d.Node.NextReady()
		if t == nil {
			return
		}
		if t.Call.InCall {
			d.run(t)
		}
	}
}

// Fire lets the earliest timer expire at its time, and settles.
func (d *Driver) Fire() {
	d.T.Helper()
	tm := d.Node.NextTimer(true)
	if tm == nil {
		d.T.Fatal("no timer is pending")
	}
	d.Node.Now = max(d.Node.Now, tm.When)
	d.Node.FireTimer(tm)
	d.Settle()
}

// run runs t's handler; a call that a signal interrupts ends with EINTR.
func (d *Driver) run(t *kernel.Thread) {
	r := d.Handle(t)
	if r.Op == kernel.OpBlock {
		if !t.Wait.Interrupted {
			t.Park()
			return
		}
		r = kernel.Result{Value: -int64(unix.EINTR), Restart: r.Restart}
	}
	if r.Op == kernel.OpNative {
		r.Value = t.M.Syscall(t.Call.NR, t.Call.Args[:]...)
	}
	t.EndWait()
	t.Call.InCall = false
	d.results[t] = r
}

// Fork adds what clone with these flags makes of t: a thread, or a process with
// a copy of t's memory (or the same memory with CLONE_VM).
func (d *Driver) Fork(t *kernel.Thread, a kernel.CloneArgs) (*kernel.Thread, *Tracee) {
	c := d.Node.Fork(t, a)
	m := t.M.(*Tracee).Thread()
	m.TID = c.TID
	if a.Flags&unix.CLONE_VM == 0 {
		m.Mem = &Memory{append([]byte(nil), m.Mem.Bytes...), m.Mem.Scratch}
	}
	if a.Flags&unix.CLONE_FILES == 0 {
		fds := map[int]bool{}
		for fd := range m.fds {
			fds[fd] = true
		}
		m.fds = fds
	}
	c.M = m
	return c, m
}
