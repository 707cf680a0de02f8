package vdso

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
)

// TestSymbols: glibc and Go look these up by name and by the version LINUX_2.6.
func TestSymbols(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(Image))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, s := range syms {
		if s.Version == "LINUX_2.6" && s.Value != 0 {
			found[s.Name] = true
		}
	}
	for _, want := range []string{"__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time", "__vdso_clock_getres",
		"__vdso_getcpu"} {
		if !found[want] {
			t.Errorf("%s is not exported with version LINUX_2.6", want)
		}
	}
	if found["__vdso_getrandom"] {
		t.Error("getrandom must be a call: its bytes come from the node's seed")
	}
}

// TestImageIsFlat: the image is copied as it is: one segment, no relocation, no writable data.
func TestImageIsFlat(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(Image))
	if err != nil {
		t.Fatal(err)
	}
	loads := 0
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			loads++
			if p.Off != 0 || p.Vaddr != 0 || p.Flags&elf.PF_W != 0 || p.Memsz != p.Filesz {
				t.Errorf("segment %+v is not flat and read-only", p.ProgHeader)
			}
		}
	}
	if loads != 1 {
		t.Errorf("%d segments, want 1", loads)
	}
	if room := area.Scratch - area.VDSO; len(Image) > room {
		t.Errorf("image has %d bytes, room for %d", len(Image), room)
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_RELA || s.Type == elf.SHT_REL {
			t.Errorf("section %s: nobody applies relocations", s.Name)
		}
	}
}

func TestClockPage(t *testing.T) {
	c := Clock(make([]byte, 64))
	c.Set(42, 1, 2, 3)
	c[32] = 7
	if c.Now() != 42 || c.Reads() != 7 || c[8] != 1 || c[16] != 2 || c[24] != 3 {
		t.Errorf("clock page is %v", []byte(c))
	}
	c.SetLimit(50, 4)
	if c[40] != 50 || c[48] != 4 || c.Room() != 4 || c.Asked() {
		t.Errorf("clock page is %v", []byte(c))
	}
	c[56] = 1
	if !c.Asked() {
		t.Error("the page says that a read made a call")
	}
	if c.ResetReads(); c.Reads() != 0 {
		t.Error("reads not reset")
	}
}
