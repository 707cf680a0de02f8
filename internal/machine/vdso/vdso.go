// Package vdso holds the vDSO image that programs find in place of Linux's: it
// reads the node's virtual clock from a shared page, so that a clock read costs
// nanoseconds and no stop. The image is built from image/vdso.c and embedded; a test
// compares the two where a C compiler is at hand.
//
// There is no getrandom in it: programs fall back to the call, which is emulated.
package vdso

import (
	_ "embed"
	"encoding/binary"
)

//go:generate gcc -O2 -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none -fPIC -fno-jump-tables -ffreestanding -fno-builtin -nostdlib -shared -s -Wl,-T,image/vdso.lds -Wl,--hash-style=both -Wl,--build-id=none -Wl,-soname=linux-vdso.so.1 -Wl,-Bsymbolic -Wl,-z,max-page-size=4096 -o image/vdso.so image/vdso.c

// Image is an ELF shared object of one segment: file offsets are addresses.
//
//go:embed image/vdso.so
var Image []byte

// Clock is the page that the image reads: struct clock in vdso.c. All values in
// nanoseconds but counts.
type Clock []byte

func (c Clock) Now() uint64 { return binary.LittleEndian.Uint64(c) }

// Set writes all but Reads: the page lies in the program's memory, which may have
// written there itself.
func (c Clock) Set(now, mono, real, cost uint64) {
	for i, v := range [...]uint64{now, mono, real, cost} {
		binary.LittleEndian.PutUint64(c[8*i:], v)
	}
}

// Reads is the number of clock reads since ResetReads.
func (c Clock) Reads() uint64 { return binary.LittleEndian.Uint64(c[32:]) }
func (c Clock) ResetReads()   { binary.LittleEndian.PutUint64(c[32:], 0) }

// trapped is for how many reads one counts that has to be trapped, and takes as long.
const trapped = 256

// Trapped counts a read of the time stamp counter, and returns by how much it is to be
// hurried on, as a power of 2 (tick in vdso.c).
func (c Clock) Trapped() int {
	n := c.Reads() + trapped
	binary.LittleEndian.PutUint64(c[32:], n)
	return int(min(n>>20, 14))
}

// SetLimit says which time no read may reach, and how many reads may stand just below it
// before the next one makes a call instead.
func (c Clock) SetLimit(limit uint64, room int) {
	binary.LittleEndian.PutUint64(c[40:], limit)
	binary.LittleEndian.PutUint64(c[48:], uint64(room))
	binary.LittleEndian.PutUint64(c[56:], 0)
}

// Room is what is left of SetLimit's.
func (c Clock) Room() int { return int(binary.LittleEndian.Uint64(c[48:])) }

// Asked reports whether a read made a call because of the limit, since SetLimit.
func (c Clock) Asked() bool { return binary.LittleEndian.Uint64(c[56:]) != 0 }
