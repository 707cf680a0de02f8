package insn

import (
	"debug/elf"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestScan: each piece of code stands between others, as in a program.
func TestScan(t *testing.T) {
	nops := slices.Repeat([]byte{0x90}, 40)
	for _, c := range []struct {
		name  string
		code  []byte
		found string
		cpuid bool
	}{
		{"rdrand eax", []byte{0x0f, 0xc7, 0xf0}, "rdrand at 0x1028", false},
		{"rdrand r8", []byte{0x49, 0x0f, 0xc7, 0xf0}, "rdrand at 0x1028", false},
		{"rdrand ax", []byte{0x66, 0x0f, 0xc7, 0xf0}, "rdrand at 0x1028", false},
		{"rdseed edx", []byte{0x0f, 0xc7, 0xfa}, "rdseed at 0x1028", false},
		{"rdpid rdx", []byte{0xf3, 0x0f, 0xc7, 0xfa}, "rdpid at 0x1028", false},
		{"pause, rdseed edx", []byte{0xf3, 0x90, 0x0f, 0xc7, 0xfa}, "rdseed at 0x102a", false},
		{"rdtsc", []byte{0x0f, 0x31}, "rdtsc at 0x1028", false},
		{"in; rdtsc", []byte{0xec, 0x0f, 0x31}, "rdtsc at 0x1029", false},
		{"rdtscp; out", []byte{0x0f, 0x01, 0xf9, 0xee}, "rdtscp at 0x1028", false},
		{"sgdt (rdi)", []byte{0x0f, 0x01, 0x07}, "", false},
		{"mov eax, imm", []byte{0xb8, 0x00, 0x0f, 0x31, 0x00}, "", false},
		{"senduipi rax", []byte{0xf3, 0x0f, 0xc7, 0xf0}, "", false},
		{"cmpxchg8b (rdi)", []byte{0x0f, 0xc7, 0x0f}, "", false},
		{"cpuid", []byte{0x0f, 0xa2}, "", true},
		{"mov eax, imm", []byte{0xb8, 0x0f, 0xc7, 0xf0, 0x00}, "", false},
		{"mov eax, imm", []byte{0xb8, 0x00, 0x0f, 0xa2, 0x00}, "", false},
		{"call", []byte{0xe8, 0x00, 0x0f, 0xc7, 0xf8}, "", false},
		{"vpshufd ymm0, [rdi+disp], imm; rdrand eax",
			[]byte{0xc5, 0xfd, 0x70, 0x87, 0, 1, 0, 0, 0x0f, 0x0f, 0xc7, 0xf0}, "rdrand at 0x1031", false},
		{"vpaddb ymm0, ymm1, [rdi+disp]", []byte{0xc5, 0xf5, 0xfc, 0x87, 0x0f, 0xc7, 0xf0, 0x00}, "", false},
		{"vpxord zmm0, zmm1, [rdi+disp]", []byte{0x62, 0xf1, 0x75, 0x48, 0xef, 0x87, 0x0f, 0xc7, 0xf8, 0x00}, "",
			false},
	} {
		var f Found
		f.scan(part{0x1000, slices.Concat(nops, c.code, nops)}, false)
		var names []string
		for _, p := range f.Doubtful {
			names = append(names, p.String())
		}
		if got := strings.Join(names, ", "); got != c.found || f.CPUID != c.cpuid {
			t.Errorf("%s: found %q, cpuid %v", c.name, got, f.CPUID)
		}
	}
}

// TestScanOfFiles: this program is one of Go's, which ask for what there is and have no random
// numbers of the processor's.
func TestScanOfFiles(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if f, err := Scan(self); err != nil || !f.CPUID {
		t.Errorf("this program: %v, %v", f, err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n\x0f\xc7\xf0"), 0o666); err != nil {
		t.Fatal(err)
	}
	if f, err := Scan(text); err != nil || f.CPUID || len(f.Doubtful) > 0 {
		t.Errorf("a script: %v, %v", f, err)
	}
	if _, err := Scan(text + "-missing"); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestIsCode(t *testing.T) {
	nops := slices.Repeat([]byte{0x90}, 200)
	data := make([]byte, 400)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	rdtsc := []byte{0x0f, 0x31}
	rest := []byte{0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3} // shl rdx, 32; or rax, rdx; ret
	for _, c := range []struct {
		name string
		code []byte
		at   int
		is   bool
	}{
		{"among code", slices.Concat(nops, rdtsc, rest, nops), 200, true},
		{"at the beginning", slices.Concat(rdtsc, rest, nops), 0, true},
		{"at the end", slices.Concat(nops, rdtsc, rest), 200, true},
		{"two in a row", slices.Concat(nops, rdtsc, rdtsc, []byte{0x31, 0xff}, rest, nops), 200, true},
		{"behind endbr64", slices.Concat(nops, []byte{0xf3, 0x0f, 0x1e, 0xfa}, rdtsc, rest, nops), 204, true},
		{"in data", slices.Concat(data[:200], rdtsc, data[200:]), 200, false},
		{"before data", slices.Concat(nops, rdtsc, data), 200, false},
		{"behind data", slices.Concat(data, rdtsc, rest, nops), 400, false},
		{"behind a privileged instruction", slices.Concat(nops, []byte{0xec}, rdtsc, rest, nops), 201, false},
	} {
		if got := isCode(c.code, c.at); got != c.is {
			t.Errorf("%s: %v", c.name, got)
		}
	}

	// Random bytes are next to never code.
	wrong := 0
	for range 2000 {
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if isCode(data, 200) {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 2000 pieces of random data are taken for code", wrong)
	}
}

// TestInstructions: those that a compiler has written are found, and none of them is in doubt.
func TestInstructions(t *testing.T) {
	source := filepath.Join(t.TempDir(), "clock.c")
	program := strings.TrimSuffix(source, ".c")
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	const text = `int main(void)
{
	unsigned long long a = __builtin_ia32_rdtsc(), d;
	unsigned b, c;
	while (!__builtin_ia32_rdrand32_step(&c) || !__builtin_ia32_rdseed_di_step(&d))
		;
	return __builtin_ia32_rdtscp(&b) < a + c + d + __builtin_ia32_rdpid();
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-mrdrnd", "-mrdseed", "-mrdpid", "-o", program,
		source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for _, p := range Instructions(f) {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "rdpid rdrand rdseed rdtsc rdtscp" {
		t.Errorf("found %s", got)
	}
	if found, err := Scan(program); err != nil || len(found.Doubtful) > 0 {
		t.Errorf("none is in doubt, and %v are found, %v", found.Doubtful, err)
	}
}
