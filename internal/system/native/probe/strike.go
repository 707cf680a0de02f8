//go:build linux && amd64

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ariadne-mc/ariadne"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"golang.org/x/sys/unix"
)

// A strike kills a process of a node right behind a system call that others or a later start of the
// node can notice: the program does nothing more. Such a moment lasts for microseconds, and a kill
// from outside hardly ever meets it. A program makes most of its calls at a few places. So a strike
// counts places, by the stack of the call, and not calls: each place counts once, however often the
// program comes there.

// Struck is a process that a strike has killed.
type Struck struct {
	Node int
	At   ariadne.Time // of native.Now
	Call string       // the system call behind which it was killed
}

// striking are strikes.
type striking struct {
	strike   *ebpf.Program
	state    *ebpf.Map // the strike that waits
	strikes  uint32    // how many there were
	attached link.Link // nil: none waits
	onStruck func(Struck)
}

// struckCalls are the system calls behind which processes are killed.
var struckCalls = map[uint32]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITEV: "writev",
	unix.SYS_PWRITEV: "pwritev", unix.SYS_PWRITEV2: "pwritev2", unix.SYS_SENDTO: "sendto",
	unix.SYS_SENDMSG: "sendmsg", unix.SYS_SENDMMSG: "sendmmsg", unix.SYS_SENDFILE: "sendfile",
	unix.SYS_SPLICE: "splice", unix.SYS_COPY_FILE_RANGE: "copy_file_range", unix.SYS_FSYNC: "fsync",
	unix.SYS_FDATASYNC: "fdatasync", unix.SYS_MSYNC: "msync", unix.SYS_TRUNCATE: "truncate",
	unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_FALLOCATE: "fallocate", unix.SYS_RENAME: "rename",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_LINK: "link",
	unix.SYS_LINKAT: "linkat", unix.SYS_UNLINK: "unlink", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_MKDIR: "mkdir", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_CONNECT: "connect",
}

const (
	// mostCalls bounds the numbers of system calls.
	mostCalls = 512
	// mostPlaces is how many places are told apart, and mostFrames how many calls of a stack.
	mostPlaces, mostFrames = 4096, 16

	// The strike that waits, in bytes: its node, its number (0: none waits), and how many more
	// places it waits for.
	strikeNode, strikeNumber, strikeLeft, strikeSize = 0, 4, 8, 16

	// The record of a strike begins as that of a call, and has the number of the system call.
	atStruck, struckSize = 16, 24
	strikes              = reads - 1
)

// PrepareStrikes makes strikes possible, and tells f of each when Calls is called.
func (k *Kernel) PrepareStrikes(f func(Struck)) error {
	if err := k.openRing(); err != nil {
		return err
	}
	calls, err := k.newMap(ebpf.MapSpec{Name: "struck_calls", Type: ebpf.Array, KeySize: 4, ValueSize: 4,
		MaxEntries: mostCalls})
	if err != nil {
		return err
	}
	for call := range struckCalls {
		if err := calls.Put(call, uint32(1)); err != nil {
			return fmt.Errorf("BPF: %w", err)
		}
	}
	stacks, err := k.newMap(ebpf.MapSpec{Name: "stacks", Type: ebpf.StackTrace, KeySize: 4,
		ValueSize: 8 * mostFrames, MaxEntries: mostPlaces})
	if err != nil {
		return err
	}
	places, err := k.newMap(ebpf.MapSpec{Name: "places", Type: ebpf.LRUHash, KeySize: 16, ValueSize: 4,
		MaxEntries: mostPlaces})
	if err != nil {
		return err
	}
	if k.state, err = k.newMap(ebpf.MapSpec{Name: "strike", Type: ebpf.Array, KeySize: 4, ValueSize: strikeSize,
		MaxEntries: 1}); err != nil {
		return err
	}
	k.onStruck = f
	k.strike, err = k.load(ebpf.ProgramSpec{Name: "strike", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp,
		AttachTo: "sys_exit", Instructions: k.atExit(calls, stacks, places)})
	return err
}

// origAx is where struct pt_regs has the number of the system call, in bytes.
const origAx = 15 * 8

// atExit are instructions behind each system call.
func (k *Kernel) atExit(calls, stacks, places *ebpf.Map) asm.Instructions {
	const call, key, zero = -16, -40, -24 // on the stack
	code := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), // the result
		asm.JSLT.Imm(asm.R1, 0, "out"),
	}
	code = append(code, k.lookUpCurrent()...)
	return append(append(code,
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.Word),
		// Is this node to be struck?
		asm.StoreImm(asm.R10, zero, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, k.state.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, zero),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.LoadMem(asm.R1, asm.R9, strikeNode, asm.Word),
		asm.JNE.Reg(asm.R1, asm.R7, "out"),
		asm.LoadMem(asm.R1, asm.R9, strikeNumber, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.StoreMem(asm.R10, key, asm.R1, asm.Word),
		// Behind this call?
		asm.Mov.Reg(asm.R1, asm.R10), asm.Add.Imm(asm.R1, call),
		asm.Mov.Imm(asm.R2, 8),
		asm.LoadMem(asm.R3, asm.R6, 0, asm.DWord), asm.Add.Imm(asm.R3, origAx),
		asm.FnProbeReadKernel.Call(),
		asm.LoadMapPtr(asm.R1, calls.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, call),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.LoadMem(asm.R8, asm.R10, call, asm.Word),
		asm.StoreMem(asm.R10, key+4, asm.R8, asm.Word),
		// At a new place?
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.LoadMapPtr(asm.R2, stacks.FD()),
		asm.Mov.Imm(asm.R3, unix.BPF_F_USER_STACK|unix.BPF_F_FAST_STACK_CMP|unix.BPF_F_REUSE_STACKID),
		asm.FnGetStackid.Call(),
		asm.StoreMem(asm.R10, key+8, asm.R0, asm.DWord),
		asm.LoadMapPtr(asm.R1, places.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, key),
		asm.Mov.Reg(asm.R3, asm.R10), asm.Add.Imm(asm.R3, zero),
		asm.Mov.Imm(asm.R4, unix.BPF_NOEXIST),
		asm.FnMapUpdateElem.Call(),
		asm.JNE.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R1, asm.R9, strikeLeft, asm.DWord),
		asm.Sub.Imm(asm.R1, 1),
		asm.StoreMem(asm.R9, strikeLeft, asm.R1, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "out"),
		asm.StoreImm(asm.R9, strikeNumber, 0, asm.Word),
		asm.Mov.Reg(asm.R9, asm.R8),
	), append(append(k.beginRecord(struckSize, strikes, "strike"),
		asm.StoreMem(asm.R8, atStruck, asm.R9, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Mov.Imm(asm.R2, unix.BPF_RB_NO_WAKEUP),
		asm.FnRingbufSubmit.Call(),
		asm.Mov.Imm(asm.R1, int32(unix.SIGKILL)).WithSymbol("strike"),
		asm.FnSendSignal.Call(),
	), end("out")...)...)
}

// Strike has a process of a node killed right behind a system call, when it has been at so many
// different places of calls. Another strike that waits ends.
func (k *Kernel) Strike(node, places int) error {
	if _, err := k.EndStrike(); err != nil {
		return err
	}
	k.strikes++
	var state [strikeSize]byte
	binary.LittleEndian.PutUint32(state[strikeNode:], uint32(node))
	binary.LittleEndian.PutUint32(state[strikeNumber:], k.strikes)
	binary.LittleEndian.PutUint64(state[strikeLeft:], uint64(places))
	if err := k.state.Put(uint32(0), state[:]); err != nil {
		return fmt.Errorf("BPF: %w", err)
	}
	l, err := link.AttachTracing(link.TracingOptions{Program: k.strike})
	if err != nil {
		return fmt.Errorf("BPF: tracepoint sys_exit: %w", err)
	}
	k.attached = l
	return nil
}

// EndStrike ends a strike that waits. It returns for how many more places the strike has waited.
// One that has killed a process may not have been told yet.
func (k *Kernel) EndStrike() (left int, err error) {
	if k.attached == nil {
		return 0, nil
	}
	l := k.attached
	k.attached = nil
	var state [strikeSize]byte
	if err := errors.Join(l.Close(), k.state.Lookup(uint32(0), &state)); err != nil {
		return 0, fmt.Errorf("BPF: %w", err)
	}
	return int(binary.LittleEndian.Uint64(state[strikeLeft:])), nil
}

// tellStruck tells of a record, if it is that of a strike.
func (k *Kernel) tellStruck(b []byte) (ok bool) {
	if len(b) < struckSize || binary.LittleEndian.Uint32(b[atSite:]) != strikes {
		return false
	}
	k.onStruck(Struck{Node: int(binary.LittleEndian.Uint32(b[atNode:])),
		At:   ariadne.Time(binary.LittleEndian.Uint64(b[atTime:])),
		Call: struckCalls[binary.LittleEndian.Uint32(b[atStruck:])]})
	return true
}
