//go:build linux

package node

import (
	"errors"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

var _ inspect.Steppable = (*Node)(nil)

// Debug implements inspect.Steppable.
func (n *Node) Debug(pid int, by inspect.Debugger) (err error) {
	defer recoverTool(n, &err)
	if d := n.debugging; d != nil {
		for addr := range d.breaks {
			err = errors.Join(err, n.ClearBreakpoint(addr))
		}
		n.debugging = nil
	}
	if by != nil {
		n.debugging = &debugging{by, pid, map[uint64]byte{}}
	}
	return err
}

// StepFromRead implements inspect.Steppable.
func (n *Node) StepFromRead(see func(*inspect.Instruction) (more bool, err error)) {
	n.atJump(func(th *thread) {
		n.debugging = &debugging{&instructions{n: n, see: see}, th.k.Proc.PID, map[uint64]byte{}}
	})
}

// SetBreakpoint implements inspect.Steppable.
func (n *Node) SetBreakpoint(addr uint64) error {
	d := n.debugging
	th, err := n.process(d.pid)
	if err != nil {
		return err
	}
	if !d.set(th, addr) {
		return fmt.Errorf("process %d has no code at %#x", d.pid, addr)
	}
	return nil
}

// ClearBreakpoint implements inspect.Steppable.
func (n *Node) ClearBreakpoint(addr uint64) error {
	d := n.debugging
	was, ok := d.breaks[addr]
	if !ok {
		return nil
	}
	delete(d.breaks, addr)
	th, err := n.process(d.pid)
	if err != nil {
		return nil // it has ended, and its memory with it
	}
	if e := th.tr.Poke(addr, []byte{was}); e != 0 {
		return fmt.Errorf("process %d has no code at %#x any more", d.pid, addr)
	}
	return nil
}

// Process implements inspect.Steppable.
func (n *Node) Process(pid int) (p inspect.Process, ok bool) {
	k, ok := n.k.Procs[pid]
	if ok {
		p = look(k)
	}
	return p, ok
}
