package futex

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// flat is a Machine over a few words of memory.
type flat struct {
	kernel.Tracee
	mem []byte
}

const flatBase = 0x1000

func (f flat) ReadMem(addr uint64, b []byte) kernel.Errno {
	if addr < flatBase || addr+uint64(len(b)) > flatBase+uint64(len(f.mem)) {
		return unix.EFAULT
	}
	copy(b, f.mem[addr-flatBase:])
	return 0
}

func (f flat) WriteMem(addr uint64, b []byte) kernel.Errno {
	if addr < flatBase || addr+uint64(len(b)) > flatBase+uint64(len(f.mem)) {
		return unix.EFAULT
	}
	copy(f.mem[addr-flatBase:], b)
	return 0
}

// TestBrokenRobustLists: whatever a program leaves in its robust list, its thread's end comes to an
// end, and only words that hold its id are changed.
func TestBrokenRobustLists(t *testing.T) {
	for seed := range uint64(500) {
		n := kernel.NewNode(0, "n0", seed)
		_, th := n.NewProcess(nil)
		f := flat{mem: make([]byte, 256)}
		th.M = f
		r := kernel.NewRand(seed)
		for i := 0; i < len(f.mem); i += 8 {
			v := uint64(th.TID)
			if r.Uint64()%3 > 0 {
				v = flatBase + r.Uint64()%uint64(len(f.mem)) // often a pointer into the list
			}
			for j := range 8 {
				f.mem[i+j] = byte(v >> (8 * j))
			}
		}
		before := append([]byte(nil), f.mem...)
		th.RobustList = flatBase + r.Uint64()%64*8
		th.Exit()
		for i := 0; i < len(before); i += 4 {
			old, now := getWord(before[i:]), getWord(f.mem[i:])
			if old != now && (old&TIDMask != uint32(th.TID) || now != old&Waiters|OwnerDied) {
				t.Fatalf("seed %d: word %#x became %#x", seed, old, now)
			}
		}
	}
}

func getWord(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
