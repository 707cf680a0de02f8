// Package processor says what programs are told of the processor: what the instruction
// cpuid answers, and what Linux shows besides (/proc/cpuinfo, the auxiliary vector, the
// caches in sysfs). That is either the real processor, without what would make a program
// differ from run to run (Hide), or a fixed Model, the same on all machines.
//
// It executes nothing and knows neither processes nor files. Invariants: the answers of
// a Model depend on the model and the number of processors alone; nothing that Missing
// does not ask of the real processor is promised to a program.
//
// Read next: internal/machine/tracee/cpuid_amd64.go, which traps the instruction.
package processor

import (
	"fmt"
	"math/bits"
	"strings"
)

// Regs are the registers EAX, EBX, ECX and EDX.
type Regs [4]uint32

const eax, ebx, ecx, edx = 0, 1, 2, 3

// Model is a fixed processor. Its features are those of a level of the x86-64 psABI
// (System V ABI, AMD64 supplement, table 3.1) and those that every such processor has.
type Model struct {
	Name                    string
	level                   int
	family, model, stepping uint32 // of an Intel processor of that level
}

// models begin with the oldest. The steppings are ones of which libraries know no
// erratum.
var models = []*Model{
	{"x86-64", 1, 6, 15, 11},
	{"x86-64-v2", 2, 6, 26, 5},
	{"x86-64-v3", 3, 6, 60, 4},
	{"x86-64-v4", 4, 6, 85, 7},
}

// Host is the name for the real processor.
const Host = "host"

// Names are what a spec may name, beginning with the default.
func Names() []string {
	names := []string{Host}
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

// Named is the model of a name, or nil.
func Named(name string) *Model {
	for _, m := range models {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Leaves of cpuid that are named here more than once.
const (
	leafFeatures   = 1
	leafExtended   = 7
	leafTopology   = 0xb
	leafState      = 0xd
	leafTSC        = 0x15
	leafFrequency  = 0x16
	leafHypervisor = 0x40000010
	leafAMD        = 0x80000001
	lastBasic      = leafFrequency
	lastExtended   = 0x80000008
)

// place is a bit of an answer.
type place struct {
	leaf, sub uint32
	reg       int
	bit       uint
}

// feature is a bit that Linux shows in /proc/cpuinfo.
type feature struct {
	name  string
	level int // from which models have it
	place
	// user: a program can use it. The real processor may lack features that only a kernel can use:
	// a hypervisor hides some.
	user bool
}

// features are in the order in which Linux shows them. Those without a leaf are Linux's own
// names for what it has found out.
var features = []feature{
	{"fpu", 1, place{leafFeatures, 0, edx, 0}, true},
	{"vme", 1, place{leafFeatures, 0, edx, 1}, false},
	{"de", 1, place{leafFeatures, 0, edx, 2}, false},
	{"pse", 1, place{leafFeatures, 0, edx, 3}, false},
	{"tsc", 1, place{leafFeatures, 0, edx, 4}, true},
	{"msr", 1, place{leafFeatures, 0, edx, 5}, false},
	{"pae", 1, place{leafFeatures, 0, edx, 6}, false},
	{"mce", 1, place{leafFeatures, 0, edx, 7}, false},
	{"cx8", 1, place{leafFeatures, 0, edx, 8}, true},
	{"apic", 1, place{leafFeatures, 0, edx, 9}, false},
	{"sep", 1, place{leafFeatures, 0, edx, 11}, false},
	{"mtrr", 1, place{leafFeatures, 0, edx, 12}, false},
	{"pge", 1, place{leafFeatures, 0, edx, 13}, false},
	{"mca", 1, place{leafFeatures, 0, edx, 14}, false},
	{"cmov", 1, place{leafFeatures, 0, edx, 15}, true},
	{"pat", 1, place{leafFeatures, 0, edx, 16}, false},
	{"pse36", 1, place{leafFeatures, 0, edx, 17}, false},
	{"clflush", 1, place{leafFeatures, 0, edx, 19}, true},
	{"mmx", 1, place{leafFeatures, 0, edx, 23}, true},
	{"fxsr", 1, place{leafFeatures, 0, edx, 24}, true},
	{"sse", 1, place{leafFeatures, 0, edx, 25}, true},
	{"sse2", 1, place{leafFeatures, 0, edx, 26}, true},
	{ht, 1, place{leafFeatures, 0, edx, 28}, false},
	{"syscall", 1, place{leafAMD, 0, edx, 11}, true},
	{"nx", 1, place{leafAMD, 0, edx, 20}, false},
	{"pdpe1gb", 2, place{leafAMD, 0, edx, 26}, false},
	{"rdtscp", 2, place{leafAMD, 0, edx, 27}, true},
	{"lm", 1, place{leafAMD, 0, edx, 29}, true},
	{name: "constant_tsc", level: 1},
	{name: "rep_good", level: 1},
	{name: "nopl", level: 1},
	{name: "xtopology", level: 1},
	{"nonstop_tsc", 1, place{0x80000007, 0, edx, 8}, false},
	{name: "cpuid", level: 1},
	{"pni", 2, place{leafFeatures, 0, ecx, 0}, true}, // SSE3
	{"ssse3", 2, place{leafFeatures, 0, ecx, 9}, true},
	{"fma", 3, place{leafFeatures, 0, ecx, 12}, true},
	{"cx16", 2, place{leafFeatures, 0, ecx, 13}, true},
	{"sse4_1", 2, place{leafFeatures, 0, ecx, 19}, true},
	{"sse4_2", 2, place{leafFeatures, 0, ecx, 20}, true},
	{"movbe", 3, place{leafFeatures, 0, ecx, 22}, true},
	{"popcnt", 2, place{leafFeatures, 0, ecx, 23}, true},
	{"xsave", 3, place{leafFeatures, 0, ecx, 26}, true},
	{"avx", 3, place{leafFeatures, 0, ecx, 28}, true},
	{"f16c", 3, place{leafFeatures, 0, ecx, 29}, true},
	{"lahf_lm", 2, place{leafAMD, 0, ecx, 0}, true},
	{"abm", 3, place{leafAMD, 0, ecx, 5}, true}, // LZCNT
	{"bmi1", 3, place{leafExtended, 0, ebx, 3}, true},
	{"avx2", 3, place{leafExtended, 0, ebx, 5}, true},
	{"bmi2", 3, place{leafExtended, 0, ebx, 8}, true},
	{"avx512f", 4, place{leafExtended, 0, ebx, 16}, true},
	{"avx512dq", 4, place{leafExtended, 0, ebx, 17}, true},
	{"avx512cd", 4, place{leafExtended, 0, ebx, 28}, true},
	{"avx512bw", 4, place{leafExtended, 0, ebx, 30}, true},
	{"avx512vl", 4, place{leafExtended, 0, ebx, 31}, true},
	// Without it, libc saves the vector registers with XSAVE, which writes all that the real
	// processor has, whatever programs were told.
	{"xsavec", 3, place{leafState, 1, eax, 1}, true},
}

// ht says that there may be several processors.
const ht = "ht"

// osxsave says that Linux has switched XSAVE on. It is not shown in /proc/cpuinfo.
var osxsave = place{leafFeatures, 0, ecx, 27}

// States of XSAVE (Intel SDM volume 1, 13.1), as bits of the register XCR0.
const (
	stateAVX = 1<<0 | 1<<1 | 1<<2            // x87, SSE, AVX
	states   = stateAVX | 1<<5 | 1<<6 | 1<<7 // and AVX-512: masks, upper halves, registers 16 to 31
)

// Reading XCR0 and XSAVE cannot be trapped: whatever the model, they are the real
// processor's. So room is promised for all that processors of today save, and what
// processors with AVX may have of AVX-512 is described.
const (
	stateSize = 11008 // up to the tiles of AMX
	// SignalStack is how much stack a signal takes at most (AT_MINSIGSTKSZ): the states
	// and the frame around them.
	SignalStack = 12288
)

// components are the places of states in the standard format of XSAVE: size, offset.
var components = map[uint32][2]uint32{2: {256, 576}, 5: {64, 1088}, 6: {512, 1152}, 7: {1024, 1664}}

// caches are the same in all models: level, type (1 data, 2 instructions, 3 both), ways, sets.
// Lines have 64 bytes. The last one is everyone's.
var caches = []struct{ level, kind, ways, sets uint32 }{{1, 1, 8, 64}, {1, 2, 8, 64}, {2, 3, 8, 512}, {3, 3, 16, 8192}}

const lineSize = 64

// Real is what is to be known of the real processor.
type Real struct {
	CPUID       func(leaf, sub uint32) Regs
	XCR0        uint64 // 0 where Linux has not switched XSAVE on
	SignalStack uint64 // AT_MINSIGSTKSZ, or 0
}

// Missing names what the model has and the real processor has not. A program would find it
// and fail.
func (m *Model) Missing(r Real) (names []string) {
	for _, f := range features {
		if f.level <= m.level && f.user && r.CPUID(f.leaf, f.sub)[f.reg]>>f.bit&1 == 0 {
			names = append(names, f.name)
		}
	}
	if want := m.states(); r.XCR0&want != want {
		names = append(names, "registers that Linux saves")
	}
	if r.SignalStack > SignalStack {
		names = append(names, fmt.Sprintf("signals within %d bytes of stack", SignalStack))
	}
	return names
}

// states are those of XCR0 that the model's programs use.
func (m *Model) states() uint64 {
	switch m.level {
	case 3:
		return stateAVX
	case 4:
		return states
	}
	return 0
}

// CPUID is the answer to the instruction, on the first of so many processors.
func (m *Model) CPUID(leaf, sub uint32, cpus int) (r Regs) {
	if leaf > lastBasic && (leaf < 0x80000000 || leaf > lastExtended) {
		leaf = lastBasic // as Intel's processors do
	}
	switch leaf {
	case 4, leafExtended, leafTopology, leafState:
	default:
		sub = 0 // the register is not looked at
	}
	for _, f := range features {
		if f.leaf == leaf && f.sub == sub && m.has(&f, cpus) {
			r[f.reg] |= 1 << f.bit
		}
	}
	switch leaf {
	case 0:
		const vendor = "GenuineIntel"
		r = Regs{lastBasic, word(vendor), word(vendor[8:]), word(vendor[4:])}
	case leafFeatures:
		r[eax] = m.stepping | m.model&0xf<<4 | m.family<<8 | m.model>>4<<16
		r[ebx] = lineSize/8<<8 | uint32(min(cpus, 255))<<16
		if m.states() != 0 {
			r[ecx] |= 1 << osxsave.bit
		}
	case 2:
		r = Regs{0x00feff01, 0xf0, 0, 0} // see leaf 4; lines of 64 bytes are fetched ahead
	case 4:
		if int(sub) < len(caches) {
			c := caches[sub]
			sharing := uint32(0)
			if int(sub) == len(caches)-1 {
				sharing = ids(cpus) - 1
			}
			r = Regs{c.kind | c.level<<5 | 1<<8 | sharing<<14 | min(ids(cpus)-1, 63)<<26, lineSize - 1 | (c.ways-1)<<22,
				c.sets - 1, 0}
		}
	case 6:
		r[eax] = 1 << 2 // the timer of the local APIC goes on in all states
	case leafTopology:
		r[ecx] = sub & 0xff
		switch sub {
		case 0: // threads of a core
			r = Regs{0, 1, 1<<8 | sub, 0}
		case 1: // cores
			r = Regs{uint32(bits.Len32(uint32(cpus - 1))), uint32(cpus), 2<<8 | sub, 0}
		}
	case leafState:
		if m.states() == 0 {
			break
		}
		switch sub {
		case 0:
			r = Regs{states, stateSize, stateSize, 0}
		case 1:
			r[ebx] = stateSize
		default:
			c := components[sub]
			r = Regs{c[0], c[1], 0, 0}
		}
	case leafTSC, leafFrequency:
		r = clock(leaf)
	case 0x80000000:
		r[eax] = lastExtended
	case 0x80000002, 0x80000003, 0x80000004:
		name := make([]byte, 48)
		copy(name, m.brand())
		for i := range r {
			r[i] = word(string(name[int(leaf-0x80000002)*16+4*i:]))
		}
	case 0x80000006:
		l2 := caches[2]
		r[ecx] = lineSize | 6<<12 | l2.ways*l2.sets*lineSize/1024<<16 // 6: eight ways
	case 0x80000008:
		r[eax] = physicalBits | virtualBits<<8
	}
	return r
}

const physicalBits, virtualBits = 46, 48

func (m *Model) has(f *feature, cpus int) bool {
	return f.level <= m.level && (f.name != ht || cpus > 1)
}

func (m *Model) brand() string { return "Ariadne " + m.Name + " processor" }

// ids is how many numbers of processors there is room for: a power of two.
func ids(cpus int) uint32 { return 1 << bits.Len32(uint32(cpus-1)) }

// word is the first four letters of a text as a register holds them.
func word(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// Frequency is how often in a second the time stamp counter counts, which is trapped and
// answered from the node's clock.
const Frequency = 1_000_000_000

// clock is the answer of the leaves that tell of the time stamp counter.
func clock(leaf uint32) Regs {
	const crystal = 25_000_000
	if leaf == leafTSC {
		return Regs{1, Frequency / crystal, crystal, 0}
	}
	return Regs{Frequency / 1e6, Frequency / 1e6, 100, 0}
}

// Hide takes out of the real processor's answer what is random, what depends on the core
// and what is not so in a node.
func Hide(leaf, sub uint32, r Regs) Regs {
	switch {
	case leaf == leafFeatures:
		r[ebx] &^= 0xff << 24 // number of the core
		r[ecx] &^= 1 << 30    // rdrand
	case leaf == leafExtended && sub == 0:
		r[ebx] &^= 1<<4 | 1<<11 | 1<<18 // hle, rtm, rdseed
		// waitpkg, which ends by real time; rdpid, which tells the core
		r[ecx] &^= 1<<5 | 1<<22
		r[edx] &^= 1<<11 | 1<<13 | 1<<16 // what rtm does, and does not
		r[edx] &^= 1 << 15               // cores of several kinds: see leaf 0x1a
	case leaf == leafTopology, leaf == 0x1f:
		r[edx] = 0 // number of the core
	case leaf == leafState && sub == 1:
		r[eax] &^= 1 << 2 // xgetbv of what is in use, which a change of threads decides
	case leaf == leafTSC && r[ebx] != 0, leaf == leafFrequency && r != Regs{}:
		return clock(leaf)
	case leaf == leafHypervisor && r[eax] != 0:
		r[eax] = Frequency / 1000
	case leaf == 0x1a:
		return Regs{} // kind of the core
	case leaf == leafAMD:
		r[ecx] &^= 1 << 29 // mwaitx, which ends by real time
	case leaf == lastExtended:
		r[ebx] &^= 1 << 4 // rdpru, counters of real time
	case leaf == 0x8000001e:
		r[eax], r[ebx], r[ecx] = 0, r[ebx]&^0xff, r[ecx]&^0xff // of the core and its node
	}
	return r
}

// HWCAP are AT_HWCAP and AT_HWCAP2 (getauxval(3)).
func (m *Model) HWCAP(cpus int) (hwcap, hwcap2 uint64) {
	return uint64(m.CPUID(leafFeatures, 0, cpus)[edx]), 0
}

// Info is /proc/cpuinfo.
func (m *Model) Info(cpus int) string {
	var flags []string
	for _, f := range features {
		if m.has(&f, cpus) {
			flags = append(flags, f.name)
		}
	}
	last := caches[len(caches)-1]
	var s strings.Builder
	for i := range cpus {
		fmt.Fprintf(&s, "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: %d\nmodel\t\t: %d\nmodel name\t: %s\nstepping\t: %d\nmicrocode\t: 0x1\n"+
			"cpu MHz\t\t: %d.000\ncache size\t: %d KB\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\napicid\t\t: %d\ninitial apicid\t: %d\n"+
			"fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %d\nwp\t\t: yes\nflags\t\t: %s\nbugs\t\t:\nbogomips\t: %d.00\nclflush size\t: %d\n"+
			"cache_alignment\t: %d\naddress sizes\t: %d bits physical, %d bits virtual\npower management:\n\n",
			i, m.family, m.model, m.brand(), m.stepping, Frequency/1_000_000, last.ways*last.sets*lineSize/1024, cpus,
			i, cpus, i, i,
			lastBasic, strings.Join(flags, " "), 2*Frequency/1_000_000, lineSize, lineSize, physicalBits, virtualBits)
	}
	return s.String()
}

// Caches are the files of /sys/devices/system/cpu/cpuN/cache of one of so many processors,
// by name.
func (m *Model) Caches(cpu, cpus int) map[string]string {
	files := map[string]string{}
	for i, c := range caches {
		first, last := cpu, cpu
		if i == len(caches)-1 {
			first, last = 0, cpus-1
		}
		list := fmt.Sprint(first)
		if last > first {
			list = fmt.Sprintf("%d-%d", first, last)
		}
		for name, value := range map[string]any{
			"level": c.level, "type": [...]string{"", "Data", "Instruction", "Unified"}[c.kind],
			"size":                fmt.Sprintf("%dK", c.ways*c.sets*lineSize/1024),
			"coherency_line_size": lineSize, "ways_of_associativity": c.ways, "number_of_sets": c.sets,
			"physical_line_partition": 1,
			"shared_cpu_list":         list,
		} {
			files[fmt.Sprintf("index%d/%s", i, name)] = fmt.Sprintln(value)
		}
	}
	return files
}
