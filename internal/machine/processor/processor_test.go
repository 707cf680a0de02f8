package processor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAnswers goes through the leaves of two models as a program sees them.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		model     string
		leaf, sub uint32
		cpus      int
		want      Regs
	}{
		{"x86-64", 0, 0, 1, Regs{0x16, 0x756e6547, 0x6c65746e, 0x49656e69}}, // Genu, ntel, ineI
		{"x86-64", 1, 0, 1, Regs{0x6fb, 0x10800, 0, 0x078bfbff}},
		{"x86-64", 1, 0xffff0001, 1, Regs{0x6fb, 0x10800, 0, 0x078bfbff}}, // has no sub-leaves
		{"x86-64", 7, 0, 1, Regs{}},
		{"x86-64", 0xd, 0, 1, Regs{}},
		{"x86-64", 0x80000001, 0, 1, Regs{0, 0, 0, 1<<29 | 1<<20 | 1<<11}},
		{"x86-64-v2", 1, 0, 2, Regs{0x106a5, 0x20800, 0x982201, 0x178bfbff}},
		{"x86-64-v2", 0x80000001, 0, 1, Regs{0, 0, 1, 1<<29 | 1<<27 | 1<<26 | 1<<20 | 1<<11}},
		{"x86-64-v3", 1, 0, 1,
			Regs{0x306c4, 0x10800, 0x982201 | 1<<12 | 1<<22 | 1<<26 | 1<<27 | 1<<28 | 1<<29, 0x078bfbff}},
		{"x86-64-v3", 4, 0, 1, Regs{0x121, 7<<22 | 63, 63, 0}},
		{"x86-64-v3", 4, 3, 6, Regs{7<<26 | 7<<14 | 0x163, 15<<22 | 63, 8191, 0}},
		{"x86-64-v3", 4, 4, 6, Regs{}},
		{"x86-64-v3", 7, 0, 1, Regs{0, 1<<3 | 1<<5 | 1<<8, 0, 0}},
		{"x86-64-v3", 7, 1, 1, Regs{}},
		{"x86-64-v3", 0xb, 0, 6, Regs{0, 1, 0x100, 0}},
		{"x86-64-v3", 0xb, 1, 6, Regs{3, 6, 0x201, 0}},
		{"x86-64-v3", 0xb, 2, 6, Regs{0, 0, 2, 0}},
		{"x86-64-v3", 0xd, 0, 1, Regs{0xe7, 11008, 11008, 0}},
		{"x86-64-v3", 0xd, 1, 1, Regs{2, 11008, 0, 0}},
		{"x86-64-v3", 0xd, 2, 1, Regs{256, 576, 0, 0}},
		{"x86-64-v3", 0xd, 9, 1, Regs{}},
		{"x86-64-v4", 1, 0, 1,
			Regs{0x50657, 0x10800, 0x982201 | 1<<12 | 1<<22 | 1<<26 | 1<<27 | 1<<28 | 1<<29, 0x078bfbff}},
		{"x86-64-v4", 7, 0, 1, Regs{0, 1<<3 | 1<<5 | 1<<8 | 1<<16 | 1<<17 | 1<<28 | 1<<30 | 1<<31, 0, 0}},
		{"x86-64-v4", 0x15, 0, 1, Regs{1, 40, 25e6, 0}},
		{"x86-64-v4", 0x17, 0, 1, Regs{1000, 1000, 100, 0}}, // beyond the last one: that
		{"x86-64-v4", 0x40000000, 0, 1, Regs{1000, 1000, 100, 0}},
		{"x86-64-v4", 0x80000009, 0, 1, Regs{1000, 1000, 100, 0}},
		{"x86-64-v4", 0x80000000, 0, 1, Regs{0x80000008, 0, 0, 0}},
		{"x86-64-v4", 0x80000006, 0, 1, Regs{0, 0, 256<<16 | 6<<12 | 64, 0}},
		{"x86-64-v4", 0x80000007, 0, 1, Regs{0, 0, 0, 1 << 8}},
		{"x86-64-v4", 0x80000008, 0, 1, Regs{48<<8 | 46, 0, 0, 0}},
	} {
		if got := Named(c.model).CPUID(c.leaf, c.sub, c.cpus); got != c.want {
			t.Errorf("%s, leaf %#x.%d, %d processors: %#x, want %#x", c.model, c.leaf, c.sub, c.cpus, got, c.want)
		}
	}
}

func TestBrand(t *testing.T) {
	var text []byte
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		for _, w := range Named("x86-64-v2").CPUID(leaf, 0, 1) {
			text = append(text, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
		}
	}
	if got := strings.TrimRight(string(text), "\x00"); got != "Ariadne x86-64-v2 processor" {
		t.Errorf("%q", got)
	}
}

// psABI is table 3.1 of the psABI, by the names of Linux.
var psABI = map[string][]string{
	"x86-64":    {"cmov", "cx8", "fpu", "fxsr", "mmx", "syscall", "sse", "sse2"},
	"x86-64-v2": {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"},
	"x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
	"x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}

// TestLevels: a model shows what its level and those below have, and not what is above.
func TestLevels(t *testing.T) {
	for have, m := range models {
		_, rest, _ := strings.Cut(m.Info(1), "\nflags\t\t: ")
		line, _, _ := strings.Cut(rest, "\n")
		flags := strings.Fields(line)
		for want, n := range models {
			for _, f := range psABI[n.Name] {
				if got := slices.Contains(flags, f); got != (want <= have) {
					t.Errorf("%s shows %s: %v", m.Name, f, got)
				}
			}
		}
	}
}

// TestMissing: a model can be shown where it is the real processor, and on a higher one;
// on one that lacks a feature, that is named.
func TestMissing(t *testing.T) {
	real := func(m *Model) Real {
		return Real{CPUID: func(leaf, sub uint32) Regs { return m.CPUID(leaf, sub, 1) }, XCR0: m.states(),
			SignalStack: SignalStack}
	}
	for have, r := range models {
		for want, m := range models {
			if missing := m.Missing(real(r)); (len(missing) == 0) != (want <= have) {
				t.Errorf("%s on %s lacks %v", m.Name, r.Name, missing)
			}
		}
	}
	without := real(models[2])
	without.CPUID = func(leaf, sub uint32) Regs {
		r := models[2].CPUID(leaf, sub, 1)
		if leaf == 7 && sub == 0 {
			r[ebx] &^= 1 << 5
		}
		return r
	}
	without.XCR0, without.SignalStack = 3, 16384
	want := fmt.Sprint([]string{"avx2", "registers that Linux saves", "signals within 12288 bytes of stack"})
	if got := fmt.Sprint(models[2].Missing(without)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHide: of a processor that has everything nothing random is left.
func TestHide(t *testing.T) {
	all := Regs{1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}
	for _, c := range []struct {
		name string
		p    place
	}{
		{"rdrand", place{1, 0, ecx, 30}}, {"rdseed", place{7, 0, ebx, 18}}, {"rtm", place{7, 0, ebx, 11}},
		{"hle", place{7, 0, ebx, 4}},
		{"rdpid", place{7, 0, ecx, 22}}, {"waitpkg", place{7, 0, ecx, 5}}, {"hybrid", place{7, 0, edx, 15}},
		{"xgetbv1", place{0xd, 1, eax, 2}},
		{"mwaitx", place{0x80000001, 0, ecx, 29}}, {"rdpru", place{0x80000008, 0, ebx, 4}},
		{"core", place{1, 0, ebx, 24}},
		{"core", place{0xb, 1, edx, 0}}, {"core", place{0x1f, 0, edx, 0}}, {"kind", place{0x1a, 0, eax, 24}},
	} {
		if Hide(c.p.leaf, c.p.sub, all)[c.p.reg]>>c.p.bit&1 != 0 {
			t.Errorf("%s is shown", c.name)
		}
	}
	if r := Hide(7, 0, all); r[ebx]>>5&1 == 0 {
		t.Error("avx2 is hidden")
	}
	for leaf, want := range map[uint32]Regs{0x15: {1, 40, 25e6, 0}, 0x16: {1000, 1000, 100, 0}} {
		if got := Hide(leaf, 0, all); got != want {
			t.Errorf("leaf %#x: %v", leaf, got)
		}
		if got := Hide(leaf, 0, Regs{}); got != (Regs{}) {
			t.Errorf("leaf %#x of a processor without it: %v", leaf, got)
		}
	}
}

// TestCaches: cpuid and sysfs describe the same caches.
func TestCaches(t *testing.T) {
	m := Named("x86-64-v3")
	files := m.Caches(1, 4)
	for i := range uint32(4) {
		r := m.CPUID(4, i, 4)
		size := (r[ebx]>>22 + 1) * (r[ebx]&0xfff + 1) * (r[ecx] + 1) / 1024
		if got, want := files[fmt.Sprintf("index%d/size", i)], fmt.Sprintf("%dK\n", size); got != want {
			t.Errorf("cache %d: %q, and cpuid says %q", i, got, want)
		}
	}
	if one, all := files["index0/shared_cpu_list"], files["index3/shared_cpu_list"]; one != "1\n" || all != "0-3\n" {
		t.Errorf("shared by %q and %q", one, all)
	}
}
