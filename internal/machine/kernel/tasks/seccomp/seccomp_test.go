package seccomp

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"golang.org/x/net/bpf"
)

// TestValid: what Linux takes and refuses is also shown by
// internal/testing/guest/testdata/proc/seccomp.c.
func TestValid(t *testing.T) {
	ret := Instruction{Code: retK}
	for _, c := range []struct {
		name    string
		program []Instruction
		want    bool
	}{
		{"empty", nil, false},
		{"shortest", []Instruction{ret}, true},
		{"longest", append(make([]Instruction, MaxProgram-1), ret), true},
		{"too long", append(make([]Instruction, MaxProgram), ret), false},
		{"no end", []Instruction{ret, {Code: tax}}, false},
		{"last word", []Instruction{{Code: classLD | ldAbs, K: 60}, ret}, true},
		{"beyond", []Instruction{{Code: classLD | ldAbs, K: 64}, ret}, false},
		{"odd", []Instruction{{Code: classLD | ldAbs, K: 1}, ret}, false},
		{"bytes", []Instruction{{Code: classLD | ldAbs | 0x10}, ret}, false},
		{"unknown", []Instruction{{Code: 0xf7}, ret}, false},
		{"jump to the end", []Instruction{{Code: classJMP | jumpEQ, JT: 0, JF: 1}, ret, ret}, true},
		{"jump too far", []Instruction{{Code: classJMP | jumpEQ, JT: 0, JF: 2}, ret, ret}, false},
		{"jump around", []Instruction{{Code: classJMP | jumpAlways, K: 1<<32 - 1}, ret}, false},
		{"nothing stored", []Instruction{{Code: classLD | ldMem, K: 3}, ret}, false},
		{"stored on one way",
			[]Instruction{{Code: classJMP | jumpEQ, JF: 1}, {Code: classST, K: 3}, {Code: classLD | ldMem, K: 3}, ret},
			false},
		{"stored on both",
			[]Instruction{{Code: classST, K: 3}, {Code: classJMP | jumpEQ, JF: 1}, {Code: tax},
				{Code: classLD | ldMem, K: 3}, ret}, true},
	} {
		if got := Valid(c.program); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestPrograms compares programs that were made up with another implementation, which reads words
// in the order of the network and has no negation.
func TestPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	code := []uint16{classLD | ldAbs, classLD | ldImm, classLD | ldMem, classLDX | ldImm, classLDX | ldMem, classST,
		classSTX, tax, txa,
		classJMP | jumpAlways, retK, retA}
	for _, x := range []uint16{0, fromX} {
		for _, op := range []uint16{opAdd, opSub, opMul, opDiv, opOr, opAnd, opLsh, opRsh, opXor} {
			code = append(code, classALU|op|x)
		}
		for _, op := range []uint16{jumpEQ, jumpGT, jumpGE, jumpSet} {
			code = append(code, classJMP|op|x)
		}
	}
	tried := 0
	for tried < 20000 {
		p := make([]Instruction, 2+r.IntN(12))
		for i := range p {
			p[i] = Instruction{Code: code[r.IntN(len(code))], JT: uint8(r.IntN(3)), JF: uint8(r.IntN(3)),
				K: uint32(r.IntN(16)) << (4 * r.IntN(8))}
			if p[i].Code == classLD|ldAbs {
				p[i].K = uint32(4 * r.IntN(callSize/4))
			}
		}
		p[len(p)-1].Code = retA
		if !Valid(p) || shiftsFar(p) {
			continue
		}
		tried++
		raw := make([]bpf.RawInstruction, len(p))
		for i, x := range p {
			raw[i] = bpf.RawInstruction{Op: x.Code, Jt: x.JT, Jf: x.JF, K: x.K}
		}
		program, _ := bpf.Disassemble(raw)
		vm, err := bpf.NewVM(program)
		if err != nil {
			continue
		}
		c := Call{NR: int32(r.Uint32()), Arch: r.Uint32(), IP: r.Uint64(),
			Args: [6]uint64{r.Uint64(), uint64(r.IntN(4)), 0, r.Uint64(), 1, r.Uint64()}}
		var packet []byte
		for _, w := range c.words() {
			packet = binary.BigEndian.AppendUint32(packet, w)
		}
		want, err := vm.Run(packet)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Filter{Program: p}).run((*[16]uint32)(words(c))); got != uint32(want) {
			t.Fatalf("%v on %+v: %#x, want %#x", p, c, got, uint32(want))
		}
	}
}

func TestRunsAlone(t *testing.T) {
	for _, c := range []struct {
		program []Instruction
		want    uint32
	}{
		{[]Instruction{{Code: classLD | ldImm, K: 3}, {Code: classALU | opNeg}, {Code: retA}}, 1<<32 - 3},
		{[]Instruction{{Code: classLD | ldLen}, {Code: retA}}, 64},
		{[]Instruction{{Code: classLDX | ldLen}, {Code: txa}, {Code: retA}}, 64},
		{[]Instruction{{Code: classLD | ldImm, K: 1}, {Code: classLDX | ldImm, K: 33}, {Code: classALU | opLsh | fromX},
			{Code: retA}}, 2},
		{[]Instruction{{Code: classLD | ldImm, K: 9}, {Code: classALU | opDiv | fromX}, {Code: retK, K: Allow}},
			KillThread},
	} {
		if got := (&Filter{Program: c.program}).run(new([16]uint32)); !Valid(c.program) || got != c.want {
			t.Errorf("%v: %#x, want %#x", c.program, got, c.want)
		}
	}
}

func words(c Call) []uint32 { w := c.words(); return w[:] }

// shiftsFar: by how much X says, which may be more than there are bits.
func shiftsFar(p []Instruction) bool {
	for _, i := range p {
		if i.Code == classALU|opLsh|fromX || i.Code == classALU|opRsh|fromX {
			return true
		}
	}
	return false
}

func TestAnswers(t *testing.T) {
	with := func(answers ...uint32) (s State) {
		for _, a := range answers {
			s = State{ByFilter, &Filter{Program: []Instruction{{Code: retK, K: a}}, Older: s.Newest}}
		}
		return s
	}
	for _, c := range []struct {
		answers []uint32 // oldest first
		action  uint32
		data    int
	}{
		{nil, Allow, 0},
		{[]uint32{Allow | 7}, Allow, 0},
		{[]uint32{Errno | 1, Errno | 2}, Errno, 2},
		{[]uint32{Errno | 1, Log, Trace}, Errno, 1},
		{[]uint32{KillThread, KillProcess, Trap}, KillProcess, 0},
		{[]uint32{Trap | 3, Errno | 4}, Trap, 3},
		{[]uint32{0x00010000}, KillProcess, 0},
	} {
		a := with(c.answers...).Ask(Call{})
		if a.Action() != c.action || a.Data() != c.data {
			t.Errorf("%x: %x %d", c.answers, a.Action(), a.Data())
		}
	}
	if s := with(Allow, Allow, Allow); s.Count() != 3 || !s.Fits(maxPath-3*5) || s.Fits(maxPath-3*5+1) {
		t.Error("counted otherwise")
	}
	older := with(Allow)
	newer := State{ByFilter, &Filter{Older: older.Newest}}
	if !older.CanBecome(newer) || newer.CanBecome(older) || !(State{}).CanBecome(older) ||
		(State{Mode: Strict}).CanBecome(older) || with(Allow).CanBecome(older) {
		t.Error("threads that may have the same filters")
	}
}
