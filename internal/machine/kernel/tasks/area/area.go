// Package area is where Ariadne's own memory lies in the processes of a node.
package area

// Ariadne's own mapping in every process of a node: the same addresses in all.
// The first page is the clock (virtual time, read by the vDSO image without a
// stop), then the vDSO image, then scratch memory for injected calls. Clock and
// scratch are shared by the node's processes: only one thread runs at a time.
//
// It lies between the stack, which grows to 8 MiB, and the 128 MiB below its top from
// which Linux puts mappings downwards. Nobody else can want that place: sanitizers,
// Valgrind, Go's race detector and the collectors of the JVM keep large parts of the
// address space for themselves, but libraries and the stack have to lie here.
const (
	Base        = 0x7ffffa000000
	Clock       = Base
	VDSO        = Base + 0x1000
	Scratch     = Base + 0x3000
	ScratchSize = 0x3000
	Size        = 0x6000
)

// Holds reports whether an address lies there.
func Holds(addr uint64) bool { return addr-Base < Size }
