package sandbox

import (
	"sync"

	"ariadne/internal/sys"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	dataNR   = 0
	dataArch = 4
	dataArg2 = 16 + 2*8
	dataArg3 = 16 + 3*8
	dataArg5 = 16 + 5*8
)

// x32Bit marks the calls of the x32 ABI.
const x32Bit = 0x40000000

// filter returns the system-call filter, assembled from the table once.
var filter = sync.OnceValue(func() *unix.SockFprog {
	raw, err := bpf.Assemble(filterProgram(sys.Table[:]))
	if err != nil {
		panic("sandbox: " + err.Error())
	}
	f := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		f[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return &unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
})

// filterProgram lets the calls of level Passed run, and those that the tracer injects,
// anonymous private mmap, and madvise but for sys.StopsAdvice; all others stop. The rows come first: Linux remembers numbers that
// are always allowed and skips the program for them.
//
// Calls of 32-bit and x32 programs fail: their numbers mean other calls.
func filterProgram(table []sys.Row) []bpf.Instruction {
	ret := func(action uint32) bpf.Instruction { return bpf.RetConstant{Val: action} }
	allow := ret(unix.SECCOMP_RET_ALLOW)
	nosys := ret(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AUDIT_ARCH_X86_64, SkipTrue: 1},
		nosys,
		bpf.LoadAbsolute{Off: dataNR, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: x32Bit, SkipTrue: 1},
		nosys,
		// rseq fails once per thread of every program, and nobody minds.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_RSEQ, SkipTrue: 1},
		nosys,
	}
	for nr, row := range table {
		if row.Name != "" && row.Level == sys.Passed {
			p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: 1}, allow)
		}
	}
	n := uint8(len(sys.StopsAdvice))
	p = append(p,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_MADVISE, SkipTrue: n + 2},
		bpf.LoadAbsolute{Off: dataArg2, Size: 4})
	for i, advice := range sys.StopsAdvice {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: advice, SkipTrue: n - uint8(i)})
	}
	return append(p,
		allow,
		bpf.LoadAbsolute{Off: dataNR, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_MMAP, SkipTrue: 4},
		bpf.LoadAbsolute{Off: dataArg3, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.MAP_ANONYMOUS, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.MAP_SHARED | sys.MapDroppable, SkipTrue: 1},
		allow,
		bpf.LoadAbsolute{Off: dataArg5, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: InjectMagic & 0xffffffff, SkipTrue: 3},
		bpf.LoadAbsolute{Off: dataArg5 + 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: InjectMagic >> 32, SkipTrue: 1},
		allow,
		ret(unix.SECCOMP_RET_TRACE))
}
