package probe

import (
	"encoding/binary"
	"testing"
)

// TestSymbols: a number leads back to what it stands for, also from some way off.
func TestSymbols(t *testing.T) {
	m := &symbolic{}
	for i := range 300 {
		s := symbol{-1, i % 7, 8 * i}
		n := m.number(s)
		for _, off := range []int64{0, 8, -8, 4096, -70000, 1 << 20} {
			if got, o, ok := m.of(n + uint64(off)); !ok || got != s || o != off {
				t.Fatalf("symbol %d at %#x%+d: %v %d %v", i, n, off, got, o, ok)
			}
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		for _, x := range b {
			if x == 0 || b[7] >= 0x80 {
				t.Fatalf("symbol %d is %#x", i, n)
			}
		}
	}
	if _, _, ok := m.of(0x1000); ok {
		t.Error("an address that is no symbol is taken for one")
	}
}
