package branch

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// program has instructions of one byte at addresses that are theirs, but for some that decide.
var program = Code{
	1: {0x90}, 2: {0x7c, 0x10}, // jl
	3: {0x90}, 4: {0x90}, 5: {0x90}, 6: {0x0f, 0x9f, 0xc0}, // setg al
	7: {0x41, 0x0f, 0x4c, 0xc0}, // cmovl
	8: {0xc3},
}

// execution makes one of addresses; behind -1 the flags say "less" up to the next -1.
func execution(places ...int) (all []Instruction) {
	flags := uint32(0)
	for _, at := range places {
		if at == -1 {
			flags ^= sign
			continue
		}
		all = append(all, Instruction{Thread: 1, IP: uint64(at), SP: 100, Flags: flags})
	}
	return all
}

func TestPartings(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []Instruction
		want []Parting
	}{
		"equal":                  {execution(1, 2, 3), execution(1, 2, 3), nil},
		"other flags, no branch": {execution(1, 3, 4), execution(1, -1, 3, -1, 4), nil},
		"a jump":                 {execution(1, 2, 3), execution(1, -1, 2, 5), []Parting{{1, 1, true}}},
		"a jump and more": {execution(1, 2, 3, 4, 6, 8), execution(1, -1, 2, -1, 4, -1, 6, -1, 8),
			[]Parting{{1, 1, true}, {4, 3, true}}},
		"a value": {execution(1, 6, 7, 4), execution(1, -1, 6, -1, 7, 4), []Parting{{1, 1, true}}},
		"a move":  {execution(1, 6, 7, 4), execution(1, 6, -1, 7, -1, 4), []Parting{{2, 2, true}}},
		"a return to elsewhere": {execution(1, 8, 3), execution(1, 8, 4, 3),
			[]Parting{{1, 1, false}}},
		"never together again": {execution(1, 2, 3, 3, 3, 6), execution(1, -1, 2, 5, 5, 5, -1),
			[]Parting{{1, 1, true}}},
		"other threads": {execution(1, 2), func() []Instruction {
			all := execution(1, -1, 2)
			all[1].Thread = 2
			return all
		}(), []Parting{{0, 0, false}}},
	} {
		if got := Partings(c.a, c.b, program, 10); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := Partings(execution(6, 6, 6), execution(-1, 6, 6, 6), program, 2); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestMeet: executions meet where both have done least since they parted.
func TestMeet(t *testing.T) {
	p, q, ok := meet(execution(3, 4, 5, 8), execution(7, 8, 4, 5))
	if !ok || p != 1 || q != 2 {
		t.Errorf("%d, %d, %v", p, q, ok)
	}
	other := execution(4)
	other[0].SP = 92 // a call of the same function from elsewhere
	if p, q, ok = meet(execution(3, 4), other); ok {
		t.Errorf("%d, %d", p, q)
	}
}

// TestConditions: a condition and its opposite are never both true, and each is as the processor's
// manual has it.
func TestConditions(t *testing.T) {
	for flags := range uint32(1 << 12) {
		for c := condition(0); c < 16; c += 2 {
			if c.holds(flags) == (c + 1).holds(flags) {
				t.Fatalf("%x, %x", c, flags)
			}
		}
	}
	for _, x := range []struct {
		c     condition
		flags uint32
	}{{0x0, overflow}, {0x2, carry}, {0x4, zero}, {0x6, carry}, {0x6, zero}, {0x8, sign}, {0xa, parity}, {0xc, sign},
		{0xc, overflow}, {0xd, sign | overflow}, {0xe, zero}, {0xe, sign}, {0xf, 0}, {0x7, 0}} {
		if !x.c.holds(x.flags) {
			t.Errorf("%x does not hold of %x", x.c, x.flags)
		}
	}
}

// TestValues: what instructions compare, in registers of all sizes, in memory and of their own.
func TestValues(t *testing.T) {
	registers := map[string]uint64{"rax": 0xfffffffffffffffe, "rbx": 0x1122334455667788, "rbp": 0x1000, "rcx": 2,
		"r8": 7, "r13": 0x80000000, "fs_base": 0x5000}
	var vector [16]byte
	binary.LittleEndian.PutUint64(vector[:], math.Float64bits(2.5))
	m := Machine{
		Register: func(name string) (uint64, bool) { v, ok := registers[name]; return v, ok },
		Vector:   func(n int) ([16]byte, bool) { return vector, n == 1 },
		Read: func(b []byte, at uint64) error {
			if at > 0x6000 {
				return errors.New("nothing there")
			}
			var all [8]byte
			binary.LittleEndian.PutUint64(all[:], at)
			copy(b, all[:])
			return nil
		},
	}
	for _, c := range []struct {
		code []byte
		want []string
	}{
		// cmp rax, rbx
		{[]byte{0x48, 0x39, 0xd8}, []string{"-2", "1234605616436508552"}},
		// cmp eax, ebx
		{[]byte{0x39, 0xd8}, []string{"-2", "1432778632"}},
		// cmp bl, bh
		{[]byte{0x38, 0xfb}, []string{"-120", "119"}},
		// cmp rax, [rbp-8]
		{[]byte{0x48, 0x3b, 0x45, 0xf8}, []string{"-2", "4088"}},
		// cmp eax, [rbp+rcx*4+8]
		{[]byte{0x3b, 0x44, 0x8d, 0x08}, []string{"-2", "4112"}},
		// cmp rax, 10
		{[]byte{0x48, 0x83, 0xf8, 0x0a}, []string{"-2", "10"}},
		// test eax, eax
		{[]byte{0x85, 0xc0}, []string{"-2"}},
		// ucomisd xmm0, xmm1
		{[]byte{0x66, 0x0f, 0x2e, 0xc1}, []string{"", "2.5"}},
		// cmp rax, [rip+0x10]
		{[]byte{0x48, 0x3b, 0x05, 0x10, 0x00, 0x00, 0x00}, []string{"-2", "279"}},
		// cmp rax, fs:8
		{[]byte{0x64, 0x48, 0x3b, 0x04, 0x25, 8, 0, 0, 0}, []string{"-2", "20488"}},
		// cmp rax, [rbx]
		{[]byte{0x48, 0x3b, 0x03}, []string{"-2", ""}},
		// cmp r13, r8
		{[]byte{0x4d, 0x39, 0xc5}, []string{"2147483648", "7"}},
		// cmp r8b, 5
		{[]byte{0x41, 0x80, 0xf8, 0x05}, []string{"7", "5"}},
		// cmp ax, 5
		{[]byte{0x66, 0x3d, 0x05, 0x00}, []string{"-2", "5"}},
		// cmp rax, rsi
		{[]byte{0x48, 0x39, 0xf0}, []string{"-2", ""}},
		// addsd sets no flags
		{[]byte{0xf2, 0x0f, 0x58, 0xc1}, nil},
		// ucomiss xmm1, [rbp]
		{[]byte{0x0f, 0x2e, 0x4d, 0x00}, []string{"0", "5.74e-42"}},
	} {
		got, ok := decode(c.code, 0x100)
		if !ok || got.setsFlags != (c.want != nil) {
			t.Errorf("% x: %v, %+v", c.code, ok, got)
			continue
		}
		if values := got.Values(m); got.setsFlags && !slices.Equal(values, c.want) {
			t.Errorf("%s: %q, want %q", got.Text, values, c.want)
		}
	}
}

func TestComparison(t *testing.T) {
	code := Code{1: {0x48, 0x39, 0xd8}, 2: {0xf2, 0x0f, 0x58, 0xc1}, 3: {0x7c, 0x10}, 4: {0xff, 0xff}, 5: {0x90}}
	all := execution(1, 2, 3)
	if at, c, ok := Comparison(all, 2, code); !ok || at != 0 || c.Text != "cmp rax, rbx" {
		t.Errorf("%d, %+v, %v", at, c, ok)
	}
	if _, _, ok := Comparison(execution(1, 4, 3), 2, code); ok {
		t.Error("what cannot be read may set the flags")
	}
	if _, _, ok := Comparison(execution(1, 5, 5, 5, 5, 5, 5, 5, 5, 3), 9, code); ok {
		t.Error("too far away")
	}
	all[0].Thread = 2
	if _, _, ok := Comparison(all, 2, code); ok {
		t.Error("another thread's")
	}
}
