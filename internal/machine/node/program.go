//go:build linux

package node

import (
	"debug/elf"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// programs remembers what was found in program files. All nodes of the process share it, since
// they and their copies execute the same ones.
type programs[T any] struct {
	find func(*elf.File) T

	mu    sync.Mutex
	known map[programVersion]T
}

// programVersion is a file as it was when it was last written to.
type programVersion struct {
	dev, ino uint64
	written  int64 // ns
}

// of is what was found in a file that th's process has mapped; the zero value if it is no program,
// or is gone.
func (p *programs[T]) of(th *thread, file string) (found T) {
	where := fmt.Sprintf("/proc/%d/root%s", th.tr.TID, file)
	var st unix.Stat_t
	if unix.Stat(where, &st) != nil {
		return found
	}
	version := programVersion{st.Dev, st.Ino, st.Mtim.Nano()}
	p.mu.Lock()
	defer p.mu.Unlock()
	found, known := p.known[version]
	if known {
		return found
	}
	if f, err := elf.Open(where); err == nil {
		found = p.find(f)
		f.Close()
	}
	if p.known == nil {
		p.known = map[programVersion]T{}
	}
	p.known[version] = found
	return found
}

// functionsOf are the symbols of the functions that a program defines.
func functionsOf(f *elf.File) (all []elf.Symbol) {
	static, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, y := range slices.Concat(static, dynamic) {
		if elf.ST_TYPE(y.Info) == elf.STT_FUNC && y.Section != elf.SHN_UNDEF {
			all = append(all, y)
		}
	}
	return all
}

// offsetOf is where in a program's file that is which is loaded at an address.
func offsetOf(f *elf.File, addr uint64) (offset uint64, ok bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= addr && addr < p.Vaddr+p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}
