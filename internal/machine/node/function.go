//go:build linux

package node

import (
	"cmp"
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// Functions that the spec has fail return at once, with its value, and do nothing. They are
// found by their symbols when a program is executed or a library is mapped; a breakpoint
// stands at their first instruction, in the process's own copy of the page, which children and
// checkpoints inherit.

// breakpoint is the instruction int3.
const breakpoint = 0xcc

// functions are the alternatives of the functions that the spec has fail, by symbol.
type functions map[string][]string

func failingFunctions(values map[string]int64) functions {
	if len(values) == 0 {
		return nil
	}
	all := functions{}
	for name, v := range values {
		all[name] = []string{ariadne.CallFails + ":" + strconv.FormatInt(v, 10)}
	}
	return all
}

// breakCode sets breakpoints in the program files that th's process has mapped, wherever none
// is yet. The loader, which has functions of its own before there is a library, is left out.
func (n *Node) breakCode(th *thread, maps string) {
	if !n.breaks() {
		return
	}
	for _, r := range codeIn(maps) {
		if strings.HasPrefix(path.Base(r.file), "ld-linux") {
			continue
		}
		if n.probing != nil {
			n.probe(th, &r)
		}
		if n.functions == nil {
			continue
		}
		entries := entryPoints.of(th, r.file)
		for name := range n.functions {
			for _, at := range entries[name] {
				if at >= r.offset && at-r.offset < r.end-r.start {
					n.breakAt(th, r.start+at-r.offset, name, -1)
				}
			}
		}
	}
}

// breaks reports whether the node's programs have breakpoints.
func (n *Node) breaks() bool { return n.functions != nil || n.probing != nil }

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
	n.paging.noteChange() // its page is not one that the program may write
	var was [1]byte
	if th.tr.Peek(addr, was[:]) != 0 || th.tr.Poke(addr, []byte{breakpoint}) != 0 {
		return false
	}
	b.Was = was[0]
	p.Breaks = append(p.Breaks, b)
	// In the order of addresses, whatever that of the names was.
	slices.SortFunc(p.Breaks, func(a, b kernel.Break) int { return cmp.Compare(a.Addr, b.Addr) })
	return true
}

// mapsCode reports whether the call at whose entry a thread stands maps code of a file, in which
// functions are to be found.
func (n *Node) mapsCode(k *kernel.Thread) bool {
	return n.breaks() && k.Call.NR == unix.SYS_MMAP && k.Call.Args[2]&unix.PROT_EXEC != 0 && k.Call.Args[3]&unix.MAP_ANONYMOUS == 0
}

// atBreak handles th's arrival at a breakpoint of ours: the call of the function is a place of the
// step. It reports whether there is one.
func (n *Node) atBreak(th *thread) bool {
	if !n.breaks() {
		return false
	}
	must(th.tr.Refresh())
	k := th.k
	addr := th.tr.IP() - 1
	i := slices.IndexFunc(k.Proc.Breaks, func(b kernel.Break) bool { return b.Addr == addr })
	if i < 0 {
		return false
	}
	b := k.Proc.Breaks[i]
	defer n.keepAction(th, unix.SIGTRAP) // a step raises it again
	n.arrived(th, &b)
	f := &n.cfg.Faults.Fail
	if b.Function != "" && f.On("") && n.mayFail(k) {
		if what := n.take(th, b.Function+"()", "", n.functions[b.Function]); what != "" {
			v, err := strconv.ParseInt(what, 10, 64)
			must(err)
			n.step.stream.call(k.TID, returned, v)
			ok, err := th.tr.LeaveFunction(v)
			must(err)
			if !ok {
				must(fmt.Errorf("thread %d: no return address at the entry of %s", k.TID, b.Function))
			}
			return true
		}
	}
	n.stepOver(th, &b)
	return true
}

// returned stands in the call stream for a function that returned without having done anything.
const returned = -1 << 20

// endbr64 begins the functions of programs that are built to have their indirect branches
// checked. It does nothing.
var endbr64 = [4]byte{0xf3, 0x0f, 0x1e, 0xfa}

// stepOver executes the instruction in whose place a breakpoint stands.
func (n *Node) stepOver(th *thread, b *kernel.Break) {
	first := [4]byte{b.Was}
	if th.tr.Peek(b.Addr+1, first[1:]) == 0 && first == endbr64 {
		must(th.tr.Jump(b.Addr + uint64(len(endbr64))))
		return
	}
	th.tr.Poke(b.Addr, []byte{b.Was})
	must(th.tr.Jump(b.Addr))
	for {
		must(th.tr.Step(0))
		s, err := th.tr.Wait()
		must(err)
		if s.Kind == tracee.Signal && s.Signal == unix.SIGTRAP {
			break
		}
		if s.Kind != tracee.Signal || s.Signal != unix.SIGSTOP { // the watchdog's
			panic(toolError{fmt.Errorf("thread %d: %v stop (%v) at the instruction at %#x", th.k.TID, s.Kind, s.Signal, b.Addr)})
		}
	}
	th.tr.Poke(b.Addr, []byte{breakpoint})
	must(th.tr.Refresh())
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
