package sandbox

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	dataNR   = 0
	dataArch = 4
	dataArgs = 16
)

// argument and argumentHigh load one half of a call's argument.
func argument(i uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: dataArgs + 8*i, Size: 4} }
func argumentHigh(i uint32) bpf.Instruction {
	return bpf.LoadAbsolute{Off: dataArgs + 8*i + 4, Size: 4}
}

// x32Bit marks the calls of the x32 ABI.
const x32Bit = 0x40000000

// Stops are calls that stop though they may run without.
type Stops struct {
	Memory bool // all calls that take memory
	Maps   bool // all that change mappings or what they hold; such a stop is a Quiet one
}

// Quiet is what a stop is marked by that is for Ariadne alone: its program is to notice nothing of
// it, not even in how much time passes.
const Quiet = 1

// filters are the system-call filters, assembled from the table once each.
var filters sync.Map // by Stops: []bpf.RawInstruction

func filterWith(s Stops) []bpf.RawInstruction {
	if f, ok := filters.Load(s); ok {
		return f.([]bpf.RawInstruction)
	}
	table := sys.Table[:]
	if s.Memory {
		table = stopAtMemory(table)
	}
	raw := assemble(table, s.Maps)
	filters.Store(s, raw)
	return raw
}

func assemble(table []sys.Row, maps bool) []bpf.RawInstruction {
	raw, err := bpf.Assemble(filterProgram(table, maps))
	if err != nil {
		panic("sandbox: " + err.Error())
	}
	return raw
}

// stopAtMemory is a table in which the calls that take memory do not run without a stop.
func stopAtMemory(table []sys.Row) []sys.Row {
	table = slices.Clone(table)
	for _, nr := range sys.TakesMemory {
		table[nr].Runs = sys.Stops
	}
	return table
}

// Filter is the system-call filter as seccomp(2) takes it, at address addr: a struct
// sock_fprog and what it points at.
//
// The process that Start or Join returned installs it before its first instruction. Start itself
// cannot install it: the exec would then need a way through it, which programs would find, too.
func Filter(addr uint64, stops Stops) []byte {
	raw := filterWith(stops)
	le := binary.LittleEndian
	const header = 16
	b := le.AppendUint64(le.AppendUint64(nil, uint64(len(raw))), addr+header)
	for _, r := range raw {
		b = le.AppendUint32(append(le.AppendUint16(b, r.Op), r.Jt, r.Jf), r.K)
	}
	return b
}

var (
	allow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	trace = bpf.RetConstant{Val: unix.SECCOMP_RET_TRACE}
	quiet = bpf.RetConstant{Val: unix.SECCOMP_RET_TRACE | Quiet}
	trap  = bpf.RetConstant{Val: unix.SECCOMP_RET_TRAP}
	nosys = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
)

// elsewhere lets a call pass whose first two arguments, address and length, name memory
// that is surely none of Ariadne's. At some others it stops, and the handler looks again.
// pass is what lets it pass.
func elsewhere(pass bpf.Instruction) []bpf.Instruction {
	const (
		high = area.Base >> 32
		low  = area.Base & 0xffffffff
		end  = low + area.Size
	)
	return []bpf.Instruction{
		argumentHigh(0),
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: high, SkipTrue: 15}, // allow
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: high, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: high - 1, SkipTrue: 14}, // trace
		argumentHigh(1),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 12}, // trace
		pass,
		// The upper halves are equal: the lower ones decide.
		argumentHigh(1),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 9}, // trace
		argument(0),
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: end, SkipTrue: 6}, // allow
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: low, SkipTrue: 6}, // trace
		bpf.TAX{},
		argument(1),
		bpf.ALUOpX{Op: bpf.ALUOpAdd},
		bpf.JumpIfX{Cond: bpf.JumpLessThan, SkipTrue: 2},             // an overflow: trace
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: low, SkipTrue: 1}, // trace
		pass,
		trace,
	}
}

// stopIf stops at a call when the word just loaded is so.
func stopIf(cond bpf.JumpTest, val uint32) []bpf.Instruction {
	return []bpf.Instruction{bpf.JumpIf{Cond: cond, Val: val, SkipFalse: 1}, trace}
}

// sometimes are what decides about the calls that run without a stop when their arguments say so.
func sometimes(maps bool) map[sys.Runs][]bpf.Instruction {
	pass := bpf.Instruction(allow)
	if maps {
		pass = quiet
	}
	advice := []bpf.Instruction{argument(2)}
	for _, a := range sys.StopsAdvice {
		advice = append(advice, stopIf(bpf.JumpEqual, a)...)
	}
	// Anonymous private memory where there is none yet.
	mmap := []bpf.Instruction{argument(3)}
	mmap = append(mmap, stopIf(bpf.JumpBitsNotSet, unix.MAP_ANONYMOUS)...)
	mmap = append(mmap, stopIf(bpf.JumpBitsSet, unix.MAP_SHARED|unix.MAP_LOCKED|sys.MapDroppable)...)
	// So much of it at once may be more than the node has.
	mmap = append(mmap, argumentHigh(1))
	mmap = append(mmap, stopIf(bpf.JumpNotEqual, 0)...)
	mmap = append(mmap, argument(1))
	mmap = append(mmap, stopIf(bpf.JumpGreaterThan, sys.LargeMapping)...)
	mmap = append(mmap, argument(3))
	mmap = append(mmap, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.MAP_FIXED, SkipTrue: 1}, pass)
	// Where it moves to is looked at by the handler.
	mremap := append([]bpf.Instruction{argument(3)}, stopIf(bpf.JumpBitsSet, unix.MREMAP_FIXED)...)
	base := []bpf.Instruction{argument(0)} // of a segment, set or get
	base = append(base, stopIf(bpf.JumpLessThan, sys.ArchSetGS)...)
	base = append(base, stopIf(bpf.JumpGreaterThan, sys.ArchGetGS)...)
	return map[sys.Runs][]bpf.Instruction{
		sys.Elsewhere:          elsewhere(pass),
		sys.MovedElsewhere:     append(mremap, elsewhere(pass)...),
		sys.AdvisedElsewhere:   append(advice, elsewhere(pass)...),
		sys.AnonymousElsewhere: append(mmap, elsewhere(pass)...),
		sys.OnSegment:          append(base, allow),
	}
}

// filterProgram lets calls run as their rows say; all others stop. Those that always run come
// first: Linux remembers numbers that are always allowed and skips the program for them.
//
// Calls of 32-bit and x32 programs raise SIGSYS, at which they are refused: their numbers
// mean other calls, and a stop does not tell of which kind a call is.
func filterProgram(table []sys.Row, maps bool) []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AUDIT_ARCH_X86_64, SkipTrue: 1},
		trap,
		bpf.LoadAbsolute{Off: dataNR, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: x32Bit, SkipTrue: 1},
		trap,
	}
	decide := func(nr int, body ...bpf.Instruction) {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: uint8(len(body))})
		p = append(p, body...)
	}
	for _, first := range []struct {
		runs sys.Runs
		with bpf.Instruction
	}{{sys.Unseen, nosys}, {sys.Always, allow}} {
		for nr, row := range table {
			switch {
			case row.Runs != first.runs:
			case maps && nr == unix.SYS_BRK:
				decide(nr, quiet)
			default:
				decide(nr, first.with)
			}
		}
	}
	some := sometimes(maps)
	for nr, row := range table {
		if body := some[row.Runs]; body != nil {
			decide(nr, body...)
		}
	}
	return append(p, trace)
}
