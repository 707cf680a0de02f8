//go:build linux

package node

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
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

// atBreak handles th's arrival at a breakpoint of ours: the call of the function is a place of the
// step. It reports whether there is one, and whether th goes on running.
func (n *Node) atBreak(th *thread) (ours, goesOn bool) {
	k := th.k
	if len(k.Proc.Breaks)+len(k.Proc.Locks) == 0 {
		return false, false
	}
	must(th.tr.Refresh())
	addr := th.tr.IP() - 1
	b, ok := breakOf(k.Proc, addr)
	lock := lockAt(k.Proc, addr)
	if lock != nil {
		b.Addr, b.Was = addr, lock.was
	} else if !ok {
		return false, false
	}
	defer n.keepAction(th, unix.SIGTRAP) // a step raises it again
	if lock != nil && n.overtakenAtLock(th, lock.function, addr) {
		return true, false
	}
	if b.Instead {
		return true, n.executeAt(th, &b)
	}
	n.exposeAtBreak(th, &b)
	f := &n.cfg.Faults.Fail
	if b.Function != "" && f.On("") && n.mayFail(k) {
		if what := n.take(th, b.Function+"()", "", n.functions[b.Function]); what != "" {
			v, err := strconv.ParseInt(what, 10, 64)
			must(err)
			n.step.stream.addCall(k.TID, returned, v)
			ok, err := th.tr.LeaveFunction(v)
			must(err)
			if !ok {
				must(fmt.Errorf("thread %d: no return address at the entry of %s", k.TID, b.Function))
			}
			return true, true
		}
	}
	n.stepOver(th, &b)
	return true, true
}

// executeAt executes the instruction in whose place a breakpoint stands. It reports whether th goes
// on running.
func (n *Node) executeAt(th *thread, b *kernel.Break) bool {
	must(th.tr.Jump(b.Addr))
	th.tr.Poke(b.Addr, []byte{b.Was})
	length, aux := th.tr.TrappedTSC()
	read, isRead := th.tr.ProcessorRead()
	th.tr.Poke(b.Addr, []byte{breakpoint})
	switch {
	case length > 0 && th.k.NoTSC:
		th.k.Send(signal.Info{Signo: int(unix.SIGSEGV), Code: signal.SIKernel})
	case length > 0:
		n.readTSC(th, length, aux)
	case isRead && read.Random:
		var v [8]byte
		n.k.Rand.Fill(v[:])
		must(th.tr.SkipRead(read, binary.LittleEndian.Uint64(v[:])))
	case isRead:
		must(th.tr.SkipRead(read, 0)) // as rdtscp has it
	default:
		panic(toolError{fmt.Errorf("thread %d: none of the instructions that Ariadne executes is at %#x", th.k.TID, b.Addr)})
	}
	return n.deliverSignals(th)
}

// returned stands in the call stream for a function that returned without having done anything.
const returned = -1 << 20

// endbr64 begins the functions of programs that are built to have their indirect branches
// checked. It does nothing.
var endbr64 = [4]byte{0xf3, 0x0f, 0x1e, 0xfa}

// nop does nothing either. Go has it where a copy of a function begins within another one.
const nop = 0x90

// stepOver executes the instruction in whose place a breakpoint stands.
func (n *Node) stepOver(th *thread, b *kernel.Break) {
	if b.Was == nop {
		return
	}
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
			panic(toolError{fmt.Errorf("thread %d: %v stop (%v) at the instruction at %#x", th.k.TID, s.Kind, s.Signal,
				b.Addr)})
		}
	}
	th.tr.Poke(b.Addr, []byte{breakpoint})
	must(th.tr.Refresh())
}
