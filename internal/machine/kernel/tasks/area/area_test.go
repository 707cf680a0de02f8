package area

import "testing"

// TestHolds: the area ends where its last page does, and has room for all that lies in it.
func TestHolds(t *testing.T) {
	for addr, want := range map[uint64]bool{
		0: false, Base - 1: false, Base: true, VDSO: true, Scratch: true,
		Base + Size - 1: true, Base + Size: false, ^uint64(0): false,
	} {
		if Holds(addr) != want {
			t.Errorf("%#x: %v", addr, !want)
		}
	}
}
