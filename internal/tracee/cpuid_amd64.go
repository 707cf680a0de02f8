//go:build linux

package tracee

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// A processor tells each program what it can do (the instruction cpuid), also what must
// not be used here: random numbers that differ from run to run, transactions that abort
// when they like. And it tells on which core it is asked. Where the kernel and the
// processor can trap the instruction, it is answered here.

// archSetCPUID is ARCH_SET_CPUID of arch_prctl(2): 0 traps.
const archSetCPUID = 0x1012

// TrapCPUID has cpuid trapped in a process that has just executed a program; its
// threads and children inherit it. CanTrapCPUID says whether it can be.
func (t *Thread) TrapCPUID() error {
	r, err := t.Inject(unix.SYS_ARCH_PRCTL, archSetCPUID, 0)
	if err == nil && r != 0 {
		err = fmt.Errorf("tracee %d: trap cpuid: %w", t.TID, unix.Errno(-r))
	}
	return err
}

// CanTrapCPUID reports whether this machine can trap cpuid: it asks once, on a thread
// of its own.
var CanTrapCPUID = sync.OnceValue(func() bool {
	can := make(chan bool)
	go func() {
		// The thread is not used again when it may be left trapping.
		runtime.LockOSThread()
		_, _, e := unix.RawSyscall(unix.SYS_ARCH_PRCTL, archSetCPUID, 0, 0)
		if e == 0 {
			_, _, e = unix.RawSyscall(unix.SYS_ARCH_PRCTL, archSetCPUID, 1, 0)
		}
		can <- e == 0
	}()
	return <-can
})

// trapOwnCPUID has cpuid trapped in the executor's own thread, which never uses it. Linux
// changes a register of the processor whenever one task traps and the next does not,
// which in a virtual machine costs more than all else of a stop.
func trapOwnCPUID() {
	if CanTrapCPUID() {
		unix.RawSyscall(unix.SYS_ARCH_PRCTL, archSetCPUID, 0, 0)
	}
}

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

type leaf struct{ leaf, sub uint32 }

var (
	leavesMu sync.Mutex
	leaves   = map[leaf][4]uint32{}
)

// answer is what programs are told. To ask the processor is dear in a virtual machine,
// and for an executor's thread impossible.
func answer(l leaf) [4]uint32 {
	leavesMu.Lock()
	defer leavesMu.Unlock()
	r, ok := leaves[l]
	if !ok {
		told := make(chan [4]uint32)
		go func() {
			a, b, c, d := cpuid(l.leaf, l.sub)
			told <- [4]uint32{a, b, c, d}
		}()
		r = hide(l, <-told)
		leaves[l] = r
	}
	return r
}

// hide takes out of an answer what is random and what depends on the core.
func hide(l leaf, r [4]uint32) [4]uint32 {
	const a, b, c, d = 0, 1, 2, 3
	switch {
	case l.leaf == 1:
		r[b] &^= 0xff << 24 // number of the core
		r[c] &^= 1 << 30    // rdrand
	case l.leaf == 7 && l.sub == 0:
		r[b] &^= 1<<4 | 1<<11 | 1<<18 // hle, rtm, rdseed
		r[c] &^= 1 << 22              // rdpid, which tells the core
		r[d] &^= 1<<11 | 1<<13        // what rtm does, and does not
	case l.leaf == 0xb, l.leaf == 0x1f:
		r[d] = 0 // number of the core
	case l.leaf == 0x8000001e:
		r[a], r[b], r[c] = 0, r[b]&^0xff, r[c]&^0xff // of the core and its node
	}
	return r
}

// TrappedCPUID reports whether a thread that stops with SIGSEGV does so at cpuid.
func (t *Thread) TrappedCPUID() bool {
	var b [2]byte
	return t.loadRegs() == nil && t.ReadMem(t.regs.Rip, b[:]) == 0 && b == [2]byte{0x0f, 0xa2}
}

// SkipCPUID gives the trapped instruction its result.
func (t *Thread) SkipCPUID() error {
	r := answer(leaf{uint32(t.regs.Rax), uint32(t.regs.Rcx)})
	t.regs.Rip += 2
	t.regs.Rax, t.regs.Rbx, t.regs.Rcx, t.regs.Rdx = uint64(r[0]), uint64(r[1]), uint64(r[2]), uint64(r[3])
	return t.storeRegs()
}
