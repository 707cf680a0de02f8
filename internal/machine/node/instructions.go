//go:build linux

package node

import (
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// instructions is the debugger that shows each instruction of a process before it is executed.
type instructions struct {
	n    *Node
	see  func(*inspect.Instruction) (more bool, err error)
	over bool
	th   *thread // of the last one
}

// GoesOn implements inspect.Debugger.
func (i *instructions) GoesOn(tid int, _ inspect.Arrival) (step bool, err error) {
	if i.over {
		return false, nil
	}
	if i.th == nil || i.th.k.TID != tid {
		i.th = i.n.find(func(k *kernel.Thread) bool { return k.TID == tid })
	}
	tr := i.th.tr
	if err := tr.Refresh(); err != nil {
		return false, err
	}
	at := inspect.Instruction{PID: i.th.k.Proc.PID, TID: tid, IP: tr.IP(), SP: tr.SP(), Flags: tr.Flags()}
	was := at
	more, err := i.see(&at)
	i.over = !more
	if err == nil && at.Flags != was.Flags {
		err = tr.SetFlags(at.Flags)
	}
	if err == nil && at.IP != was.IP {
		err = tr.Jump(at.IP)
	}
	return more, err
}
