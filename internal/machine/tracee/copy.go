//go:build linux

package tracee

import (
	"bytes"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A live process is copied in two halves. ForkProcess copies its memory, its
// descriptors and one thread; a Context, saved from each thread, is what the
// processor and Linux hold of it. SpawnThread and Load put the threads back.
//
// Both processes go on to live: a checkpoint is a copy that is only ever copied.

// Context is a stopped thread apart from its memory.
type Context struct {
	regs, entry unix.PtraceRegs
	inCall      bool
	xstate      []byte // NT_X86_XSTATE
	mask        uint64 // blocked signals
}

// Save reads the context of a thread that stands in a call or at an instruction.
func (t *Thread) Save() (*Context, error) {
	c := &Context{entry: t.entry, inCall: t.pos != elsewhere}
	if !c.inCall {
		if err := t.loadRegs(); err != nil {
			return nil, err
		}
	}
	c.regs = t.regs
	c.mask = t.SigMask()
	if t.halted != nil {
		c.xstate = t.halted.xstate
		return c, nil
	}
	buf := make([]byte, xstateMax)
	n, err := t.regset(unix.PTRACE_GETREGSET, buf)
	if err != nil {
		return nil, err
	}
	c.xstate = append([]byte(nil), buf[:n]...)
	t.halted = c
	return c, nil
}

// Registers are the general ones: of a thread in a call, as it made the call.
func (c *Context) Registers() *unix.PtraceRegs {
	if c.inCall {
		return &c.entry
	}
	return &c.regs
}

// Current are the general ones as they are: of a thread whose call is over, behind it.
func (c *Context) Current() *unix.PtraceRegs { return &c.regs }

// Extended are the other registers, as the processor saves them (XSAVE).
func (c *Context) Extended() []byte { return c.xstate }

// Load gives t the context of the thread that it is a copy of. If that thread stood at the entry of
// a call, t must enter the call again: see Consumed.
func (t *Thread) Load(c *Context) error {
	t.entry, t.regs, t.pos = c.entry, c.entry, atExit
	if !c.inCall {
		t.regs, t.pos = c.regs, elsewhere
	}
	t.regs.Orig_rax = ^uint64(0)
	if t.loaded && t.halted.loadsAs(c) {
		return nil
	}
	if err := t.storeRegs(); err != nil {
		return err
	}
	if t.halted == nil || !bytes.Equal(t.halted.xstate, c.xstate) {
		if _, err := t.regset(unix.PTRACE_SETREGSET, c.xstate); err != nil {
			return err
		}
	}
	if err := t.SetSigMask(c.mask); err != nil {
		return err
	}
	t.halted, t.loaded = c, true
	return nil
}

// loadsAs reports whether a thread is the same after c was loaded as after other was.
func (c *Context) loadsAs(other *Context) bool {
	return c == other || c.inCall == other.inCall && c.entry == other.entry && (c.inCall || c.regs == other.regs) &&
		c.mask == other.mask && bytes.Equal(c.xstate, other.xstate)
}

const (
	ntX86XState = 0x202
	xstateMax   = 16 << 10 // with AVX-512 and AMX, 11 KB
)

func (t *Thread) regset(req int, b []byte) (int, error) {
	v := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(req), uintptr(t.TID), ntX86XState,
		uintptr(unsafe.Pointer(&v)), 0, 0); e != 0 {
		return 0, fmt.Errorf("ptrace %d: extended state: %w", t.TID, e)
	}
	return int(v.Len), nil
}

// InCall reports whether t stands in a call, so that others can be injected.
func (t *Thread) InCall() bool { return t.pos != elsewhere }

// ForkProcess copies the process of t, which stands in a call. The copy has one
// thread, stopped where t is; nobody is told of its end.
func (t *Thread) ForkProcess() (*Thread, error) {
	return t.copyInto(unix.CLONE_PARENT, false)
}

// threadFlags are those that pthread_create and Go use.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM

// SpawnThread adds a thread to the process of t, which stands in a call.
// The caller loads a context before the thread runs.
func (t *Thread) SpawnThread() (*Thread, error) {
	return t.copyInto(threadFlags, true)
}

func (t *Thread) copyInto(flags uint64, thread bool) (*Thread, error) {
	if t.pos == elsewhere {
		return nil, fmt.Errorf("tracee %d: copy of a thread that stands in no call", t.TID)
	}
	if err := t.SetCall(unix.SYS_CLONE, flags, 0, 0, 0, 0); err != nil {
		return nil, err
	}
	s, err := t.nextStop(unix.PTRACE_SYSCALL)
	if err != nil {
		return nil, err
	}
	if s.Kind != CloneEvent {
		t.loadRegs()
		if s.Kind == CallExit && t.Result() < 0 {
			return nil, fmt.Errorf("tracee %d: copy it: %w", t.TID, unix.Errno(-t.Result()))
		}
		return nil, fmt.Errorf("tracee %d: %v stop in clone, result %d", t.TID, s.Kind, t.Result())
	}
	c, err := Adopt(t, s.Child, thread, thread)
	if err != nil {
		return nil, err
	}
	if s, err = t.nextStop(unix.PTRACE_SYSCALL); err != nil {
		return nil, err
	}
	if s.Kind != CallExit {
		return nil, fmt.Errorf("tracee %d: %v stop at the end of clone", t.TID, s.Kind)
	}
	c.entry, c.pos = t.entry, atExit
	return c, nil
}
