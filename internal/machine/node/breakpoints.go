//go:build linux

package node

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/insn"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// breakCode sets breakpoints in the program files that th's process has mapped, wherever none
// is yet. The loader, which has functions of its own before there is a library, is left out.
func (n *Node) breakCode(th *thread, maps string) {
	for _, r := range codeIn(maps) {
		n.breakRange(th, &r)
	}
}

// breakMapped sets breakpoints in the code of a file that th's call has mapped at addr. A negative
// addr is the call's error.
func (n *Node) breakMapped(th *thread, addr int64) {
	if addr < 0 {
		return
	}
	a := &th.k.Call.Args
	file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", th.tr.TID, int32(a[4])))
	must(err)
	start, size := uint64(addr), (a[1]+tracee.PageSize-1)&^(tracee.PageSize-1)
	n.breakRange(th, &codeRange{start, start + size, a[5], strings.TrimSuffix(file, " (deleted)")})
}

// breakRange sets breakpoints in one mapping of a program file.
func (n *Node) breakRange(th *thread, r *codeRange) {
	n.breakInstructions(th, r)
	if strings.HasPrefix(path.Base(r.file), "ld-linux") {
		return
	}
	if n.probing != nil {
		n.probe(th, r)
	}
	if n.functions != nil {
		entries := entryPoints.of(th, r.file)
		for name := range n.functions {
			for _, at := range entries[name] {
				if addr, ok := r.address(at); ok {
					n.breakAt(th, addr, name, -1)
				}
			}
		}
	}
	if n.cfg.Faults.Late {
		n.breakLocks(th, r)
	}
}

// clocksNeedBreaks reports whether reads of the time stamp counter are to be stopped at by
// breakpoints, since the processor does not trap them here.
func clocksNeedBreaks() bool {
	can, err := tracee.CanTrapTSC()
	return !can && err == nil
}

// replaceable are the instructions of a program file that Ariadne executes itself, with their
// offsets in it.
var replaceable = programs[[]insn.Place]{find: func(f *elf.File) (all []insn.Place) {
	for _, p := range insn.Instructions(f) {
		if at, ok := offsetOf(f, p.Offset); ok {
			p.Offset = at
			all = append(all, p)
		}
	}
	return all
}}

// breakInstructions sets breakpoints at the instructions of a program file whose results would
// differ from run to run.
func (n *Node) breakInstructions(th *thread, r *codeRange) {
	for _, p := range replaceable.of(th, r.file) {
		if p.ReadsClock() && !clocksNeedBreaks() {
			continue
		}
		if addr, ok := r.address(p.Offset); ok {
			n.breakWith(th, addr, func(b *kernel.Break) bool {
				was := b.Instead
				b.Instead = true
				return !was
			})
		}
	}
}

// breakOf is the breakpoint of a process at an address.
func breakOf(p *kernel.Process, addr uint64) (b kernel.Break, ok bool) {
	i, ok := slices.BinarySearchFunc(p.Breaks, addr, func(b kernel.Break, addr uint64) int {
		return cmp.Compare(b.Addr, addr)
	})
	if ok {
		b = p.Breaks[i]
	}
	return b, ok
}

// breakAt sets a breakpoint: at a function that may fail, with its name, or at a site of the
// probing, if it is not -1. It reports whether there was none of the kind.
func (n *Node) breakAt(th *thread, addr uint64, name string, site int) bool {
	return n.breakWith(th, addr, func(b *kernel.Break) bool {
		if name != "" && b.Function == "" {
			b.Function = name
		} else if site < 0 || slices.Contains(b.Sites, site) {
			return false
		}
		if site >= 0 {
			b.Sites = append(slices.Clip(b.Sites), site)
		}
		return true
	})
}

// breakBehind sets one where a function returns to that another one has jumped to at its end. It
// reports whether there is one.
func (n *Node) breakBehind(th *thread, addr uint64) bool {
	there := false
	set := n.breakWith(th, addr, func(b *kernel.Break) bool {
		there, b.Behind = b.Behind, true
		return !there
	})
	return set || there
}

// breakWith adds to what a breakpoint is for, and sets it if there is none yet. It reports whether
// that was so.
func (n *Node) breakWith(th *thread, addr uint64, add func(*kernel.Break) bool) bool {
	p := th.k.Proc
	i := slices.IndexFunc(p.Breaks, func(b kernel.Break) bool { return b.Addr == addr })
	b := kernel.Break{Addr: addr}
	if i >= 0 {
		b = p.Breaks[i]
	}
	if !add(&b) {
		return false
	}
	p.Breaks = slices.Clone(p.Breaks) // others may share it
	if i >= 0 {
		p.Breaks[i] = b
		return true
	}
	n.paging.noteChange(th.tr.PID) // its page is not one that the program may write
	var was [1]byte
	if th.tr.Peek(addr, was[:]) != 0 || th.tr.Poke(addr, []byte{breakpoint}) != 0 {
		return false
	}
	b.Was = was[0]
	if lock := lockAt(p, addr); lock != nil {
		b.Was = lock.was
	}
	p.Breaks = append(p.Breaks, b)
	// In the order of addresses, whatever that of the names was.
	slices.SortFunc(p.Breaks, func(a, b kernel.Break) int { return cmp.Compare(a.Addr, b.Addr) })
	return true
}

// mapsCode reports whether the call at whose entry a thread stands maps code of a file, in which
// functions are to be found.
func (n *Node) mapsCode(k *kernel.Thread) bool {
	return k.Call.NR == unix.SYS_MMAP && k.Call.Args[2]&unix.PROT_EXEC != 0 &&
		k.Call.Args[3]&unix.MAP_ANONYMOUS == 0
}

var entryPoints = programs[map[string][]uint64]{find: entriesIn}

// entriesIn are the offsets in a program file at which its functions begin, by name. A name
// may be that of several, in several files of the source.
func entriesIn(f *elf.File) map[string][]uint64 {
	all := map[string][]uint64{}
	for _, y := range functionsOf(f) {
		if at, ok := offsetOf(f, y.Value); ok && !slices.Contains(all[y.Name], at) {
			all[y.Name] = append(all[y.Name], at)
		}
	}
	return all
}
