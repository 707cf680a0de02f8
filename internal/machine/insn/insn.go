// Package insn finds in program files the instructions that make a program differ from run
// to run and that a tracer may not be able to trap: random numbers of the processor's, the number
// of the core, and the time stamp counter. It says where they are, not whether they are executed.
//
// Read next: internal/system/uncontrolled.go, which asks when two executions differ.
package insn

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Found is what a file holds.
type Found struct {
	// Doubtful are the first of each kind that are not among Instructions, in the order of their
	// names: they may be data, or have no section.
	Doubtful []Place
	// CPUID: it asks the processor what there is (the instruction cpuid).
	CPUID bool
}

// Place is an instruction with where it is.
type Place struct {
	Name   string // rdrand, rdseed, rdpid; rdtsc, rdtscp
	Symbol string // the function around it, or ""
	Offset uint64 // in the function, or else the address as the file has it
}

// ReadsClock reports whether the instruction reads the time stamp counter.
func (p Place) ReadsClock() bool { return p.Name == rdtsc || p.Name == rdtscp }

func (p Place) String() string {
	if p.Symbol == "" {
		return fmt.Sprintf("%s at %#x", p.Name, p.Offset)
	}
	return fmt.Sprintf("%s at %s+%#x", p.Name, p.Symbol, p.Offset)
}

// Scan looks through the code of a file. One that is no x86-64 ELF file holds nothing.
func Scan(path string) (Found, error) {
	f, err := elf.Open(path)
	var format *elf.FormatError
	if errors.As(err, &format) || errors.Is(err, io.EOF) {
		return Found{}, nil
	}
	if err != nil {
		return Found{}, err
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return Found{}, nil
	}
	var found Found
	parts, err := code(f)
	if err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range parts {
		found.scan(p, len(f.Sections) > 0)
	}
	slices.SortFunc(found.Doubtful, func(a, b Place) int { return cmp.Compare(a.Name, b.Name) })
	if len(found.Doubtful) > 0 {
		found.name(f)
	}
	return found, nil
}

// part is code with its address.
type part struct {
	at    uint64
	bytes []byte
}

// code is what can be executed of a file: its sections, or its segments when it has none,
// which may hold tables and strings besides.
func code(f *elf.File) (parts []part, err error) {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type != elf.SHT_PROGBITS {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{s.Addr, b})
	}
	if len(parts) > 0 {
		return parts, nil
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			return nil, err
		}
		parts = append(parts, part{p.Vaddr, b})
	}
	return parts, nil
}

const (
	cpuid  = "cpuid"
	rdtsc  = "rdtsc"
	rdtscp = "rdtscp"
)

// scan notes the first instruction of each kind that may be data; in a file without sections, the
// first of all. The bytes of one are also found inside of others, so each place where they are is
// disassembled.
func (f *Found) scan(p part, sections bool) {
	for i, name := range p.opcodes() {
		if f.has(name) {
			continue
		}
		if name == cpuid {
			f.CPUID = begin(p.bytes, i) >= 0
			continue
		}
		if at := begin(p.bytes, i); at >= 0 && (!sections || !isCode(p.bytes, at)) {
			f.Doubtful = append(f.Doubtful, Place{Name: name, Offset: p.at + uint64(at)})
		}
	}
}

// opcodes are the indices in the code at which the opcode of an instruction stands that is looked
// for, and its name.
func (p *part) opcodes() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(p.bytes); i++ {
			next := bytes.IndexByte(p.bytes[i:], 0x0f)
			if next < 0 {
				return
			}
			i += next
			if name := opcode(p.bytes[max(i-maxPrefixes, 0):], min(i, maxPrefixes)); name != "" && !yield(i, name) {
				return
			}
		}
	}
}

// Instructions are those of a file but for cpuid, with their addresses as the file has them. A
// caller that replaces one must not hit data among the code. So a place counts only where
// everything around it is code.
func Instructions(f *elf.File) (all []Place) {
	if f.Machine != elf.EM_X86_64 || len(f.Sections) == 0 {
		return nil
	}
	parts, err := code(f)
	if err != nil {
		return nil
	}
	for _, p := range parts {
		for i, name := range p.opcodes() {
			if name == cpuid {
				continue
			}
			if at := begin(p.bytes, i); at >= 0 && isCode(p.bytes, at) {
				all = append(all, Place{Name: name, Offset: p.at + uint64(at)})
			}
		}
	}
	return all
}

// So many bytes before and behind a place must be code. Of data, each instruction that one might
// read into them is one in about eight times none, or one that programs may not execute.
const (
	codeBefore = 128
	codeBehind = 64
)

// isCode reports whether all around an instruction is code that programs execute.
func isCode(b []byte, at int) bool {
	first := max(at-codeBefore, 0)
	last := first // where an instruction begins is known at the beginning of a section alone
	if first > 0 {
		last += maxLength - 1
	}
	for start := first; start <= last; start++ {
		i := start
		for i < at {
			n, ok := executable(b[i:])
			if !ok {
				break
			}
			i += n
		}
		if i != at {
			continue
		}
		for i < min(at+codeBehind, len(b)) {
			n, ok := executable(b[i:])
			if !ok {
				return i+maxLength > len(b) // cut off at the end of the section
			}
			i += n
		}
		return true
	}
	return false
}

// maxLength is that of an instruction.
const maxLength = 15

// executable returns the length of the instruction at the beginning of b; not ok: it is none that
// an ordinary program executes. hlt stands behind calls that do not return.
func executable(b []byte) (n int, ok bool) {
	if n := prefixes(b[:min(len(b), maxPrefixes)]); opcode(b, n) != "" {
		return length(b), true
	}
	if n := vector(b); n > 0 {
		return n, true
	}
	if len(b) >= 4 && b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa {
		return 4, true // endbr64, which x86asm does not know
	}
	inst, err := x86asm.Decode(b, 64)
	if err != nil || inst.Len == 0 {
		return 1, false
	}
	switch inst.Op {
	case x86asm.IN, x86asm.OUT, x86asm.INSB, x86asm.INSW, x86asm.INSD,
		x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD, x86asm.CLI, x86asm.STI,
		x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LRET, x86asm.LJMP, x86asm.LCALL,
		x86asm.INTO, x86asm.ICEBP, x86asm.WRMSR, x86asm.RDMSR, x86asm.RDPMC, x86asm.CLTS,
		x86asm.LMSW, x86asm.INVD, x86asm.WBINVD, x86asm.SYSRET, x86asm.SYSEXIT:
		return inst.Len, false
	}
	return inst.Len, true
}

func (f *Found) has(name string) bool {
	if name == cpuid {
		return f.CPUID
	}
	is := func(p Place) bool { return p.Name == name }
	return slices.ContainsFunc(f.Doubtful, is)
}

// maxPrefixes is how many prefixes compilers and people put before these instructions.
const maxPrefixes = 2

// opcode is the name of the instruction whose opcode is at b[i], if it is one of those
// that are looked for. It reads the bytes before i for prefixes.
func opcode(b []byte, i int) string {
	if len(b) < i+2 {
		return ""
	}
	switch {
	case b[i+1] == 0xa2:
		return cpuid
	case b[i+1] == 0x31:
		return rdtsc
	case b[i+1] == 0x01 && len(b) > i+2 && b[i+2] == 0xf9:
		return rdtscp
	}
	if b[i+1] != 0xc7 || len(b) < i+3 || b[i+2] < 0xf0 { // the operand is a register
		return ""
	}
	repeat := false
	for j := i - 1; j >= max(i-maxPrefixes, 0) && isPrefix(b[j]); j-- {
		repeat = repeat || b[j] == 0xf3
	}
	switch {
	case b[i+2] < 0xf8 && !repeat:
		return "rdrand"
	case b[i+2] >= 0xf8 && repeat:
		return "rdpid"
	case b[i+2] >= 0xf8:
		return "rdseed"
	}
	return ""
}

// Code is disassembled from so many bytes before a place. Wherever one begins, one soon
// comes to where the instructions are.
const (
	before = 256
	phases = 16
)

// begin is where the instruction begins that has its opcode at b[i], as most of those say
// that begin to disassemble some way before; -1 when they say that there is none.
func begin(b []byte, i int) int {
	var votes [1 + maxPrefixes]int // by the number of prefixes
	all := 0
	for start := max(i-before, 0); start <= i && all < phases; start++ {
		all++
		at := start
		for at < i && i-at != prefixes(b[at:min(i, at+maxPrefixes)]) {
			at += length(b[at:])
		}
		if at <= i {
			votes[i-at]++
		}
	}
	for n, v := range votes {
		if 2*v > all {
			return i - n
		}
	}
	return -1
}

// prefixes counts the prefixes at the beginning of an instruction.
func prefixes(b []byte) int {
	if n := slices.IndexFunc(b, func(c byte) bool { return !isPrefix(c) }); n >= 0 {
		return n
	}
	return len(b)
}

func isPrefix(c byte) bool { return c == 0x66 || c == 0xf2 || c == 0xf3 || c&0xf0 == 0x40 }

// length is how long the instruction at the beginning of b is, or 1 when that is none.
func length(b []byte) int {
	if n := prefixes(b[:min(len(b), maxPrefixes)]); opcode(b, n) != "" && b[n] == 0x0f {
		if b[n+1] == 0xa2 || b[n+1] == 0x31 {
			return n + 2
		}
		return n + 3
	}
	if n := vector(b); n > 0 {
		return n
	}
	if inst, err := x86asm.Decode(b, 64); err == nil && inst.Len > 0 {
		return inst.Len
	}
	return 1
}

// vector is the length of an instruction with a VEX or EVEX prefix, which x86asm does not
// know, or 0.
func vector(b []byte) int {
	n, table := 0, byte(0)
	switch {
	case len(b) > 2 && b[0] == 0xc5:
		n, table = 2, 1
	case len(b) > 3 && b[0] == 0xc4:
		n, table = 3, b[1]&0x1f
	case len(b) > 4 && b[0] == 0x62:
		n, table = 4, b[1]&0x7
	}
	if table < 1 || table > 3 || len(b) < n+2 {
		return 0
	}
	// What follows the opcode has the form of any other instruction: that of movups, which
	// has no immediate, or of shufps, which has one byte of it.
	op, like := b[n], byte(0x10)
	switch {
	case table == 1 && op == 0x77: // vzeroupper
		return n + 1
	case table == 3, table == 1 && (op >= 0x70 && op <= 0x73 || op == 0xc2 || op >= 0xc4 && op <= 0xc6):
		like = 0xc6
	}
	inst, err := x86asm.Decode(append([]byte{0x0f, like}, b[n+1:min(len(b), n+12)]...), 64)
	if err != nil {
		return 0
	}
	return n - 1 + inst.Len
}

// name replaces addresses by functions, as far as the file names them.
func (f *Found) name(file *elf.File) {
	symbols, _ := file.Symbols() // without them there are addresses
	dynamic, _ := file.DynamicSymbols()
	for i := range f.Doubtful {
		p := &f.Doubtful[i]
		for _, s := range append(symbols, dynamic...) {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value <= p.Offset && p.Offset < s.Value+s.Size {
				p.Symbol, p.Offset = s.Name, p.Offset-s.Value
				break
			}
		}
	}
}
