//go:build linux

package tracee

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/machine/processor"

	"golang.org/x/sys/unix"
)

// A processor tells each program what it can do (the instruction cpuid), also what must
// not be used here: random numbers that differ from run to run, transactions that abort
// when they like. And it tells on which core it is asked. Where the kernel and the
// processor can trap the instruction, it is answered as internal/machine/processor says.

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

func xgetbv() (low, high uint32)

type leaf struct{ leaf, sub uint32 }

var (
	leavesMu sync.Mutex
	leaves   = map[leaf]processor.Regs{}
)

// CPUID is what the processor answers. To ask it is dear in a virtual machine, and for an
// executor's thread impossible.
func CPUID(l, sub uint32) processor.Regs {
	leavesMu.Lock()
	defer leavesMu.Unlock()
	r, ok := leaves[leaf{l, sub}]
	if !ok {
		told := make(chan processor.Regs)
		go func() {
			a, b, c, d := cpuid(l, sub)
			told <- processor.Regs{a, b, c, d}
		}()
		r = <-told
		leaves[leaf{l, sub}] = r
	}
	return r
}

// Processor is what is to be known of this machine's processor.
func Processor() processor.Real {
	r := processor.Real{CPUID: CPUID}
	const osxsave = 1 << 27
	if CPUID(1, 0)[2]&osxsave != 0 {
		low, high := xgetbv()
		r.XCR0 = uint64(low) | uint64(high)<<32
	}
	if b, err := os.ReadFile("/proc/self/auxv"); err == nil {
		const atMinSigStkSz = 51
		for ; len(b) >= 16; b = b[16:] {
			if binary.LittleEndian.Uint64(b) == atMinSigStkSz {
				r.SignalStack = binary.LittleEndian.Uint64(b[8:])
			}
		}
	}
	return r
}

// TrappedCPUID returns the length of the instruction at which a thread stops with SIGSEGV if that
// is cpuid, or 0.
func (t *Thread) TrappedCPUID() (length int) {
	code, prefixes := t.opcode()
	if !bytes.HasPrefix(code, []byte{0x0f, 0xa2}) {
		return 0
	}
	return prefixes + 2
}

// SkipCPUID gives the trapped instruction its result.
func (t *Thread) SkipCPUID(length int, answer func(leaf, sub uint32) processor.Regs) error {
	r := answer(uint32(t.regs.Rax), uint32(t.regs.Rcx))
	t.regs.Rip += uint64(length)
	t.regs.Rax, t.regs.Rbx, t.regs.Rcx, t.regs.Rdx = uint64(r[0]), uint64(r[1]), uint64(r[2]), uint64(r[3])
	return t.storeRegs()
}
