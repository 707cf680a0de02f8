package kernel

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// WaitFor selects children as waitid(2) does; zero fields do not restrict.
type WaitFor struct {
	PID, PGID int
	Proc      *Process // by pidfd
	Options   int      // WEXITED, WSTOPPED, WCONTINUED, WNOWAIT, __WCLONE, __WALL
}

// WCLONE and WALL are wait's options for children with another exit signal.
const (
	WCLONE = 0x80000000
	WALL   = 0x40000000
)

// Change is a child's change of state: what SIGCHLD and waitid say of it.
type Change struct {
	PID, UID int
	Code     int          // CLDExited, ...
	Status   int          // exit status or signal
	CPU      ariadne.Time // used by it and its reaped children
}

// WaitStatus is the change as wait4 tells it.
func (c Change) WaitStatus() int {
	switch c.Code {
	case signal.CLDExited:
		return c.Status & 0xff << 8
	case signal.CLDDumped:
		return c.Status | 0x80
	case signal.CLDStopped:
		return c.Status<<8 | 0x7f
	case signal.CLDContinued:
		return 0xffff
	}
	return c.Status
}

// Wait takes a change of a child's state. Without one it returns a Change
// without PID, or ECHILD when no child could ever have one.
func (p *Process) Wait(w WaitFor) (Change, Errno) {
	any := false
	for _, c := range p.Children() {
		if !w.selects(c) {
			continue
		}
		if c.Dead && w.Options&unix.WEXITED == 0 {
			continue // nothing else will come of it
		}
		any = true
		ch, ok := c.nextChange(w.Options)
		if !ok {
			continue
		}
		if w.Options&unix.WNOWAIT == 0 {
			c.markReported(ch)
		}
		return ch, 0
	}
	if !any {
		return Change{}, unix.ECHILD
	}
	return Change{}, 0
}

func (w WaitFor) selects(c *Process) bool {
	if w.PID != 0 && c.PID != w.PID || w.PGID != 0 && c.PGID != w.PGID || w.Proc != nil && c != w.Proc {
		return false
	}
	clone := c.ExitSig != int(unix.SIGCHLD)
	return w.Options&WALL != 0 || clone == (w.Options&WCLONE != 0)
}

// nextChange returns what there is to tell of c.
func (c *Process) nextChange(options int) (Change, bool) {
	switch {
	case c.Dead:
		return c.exitChange(), options&unix.WEXITED != 0
	case c.StopReport != 0 && options&unix.WSTOPPED != 0:
		return c.newChange(signal.CLDStopped, c.StopReport), true
	case c.ContReport != 0 && options&unix.WCONTINUED != 0:
		return c.newChange(signal.CLDContinued, c.ContReport), true
	}
	return Change{}, false
}

// exitChange tells how c ended.
func (c *Process) exitChange() Change {
	switch {
	case c.ExitSignal == 0:
		return c.newChange(signal.CLDExited, c.ExitStatus&0xff)
	case c.Core:
		return c.newChange(signal.CLDDumped, c.ExitSignal)
	}
	return c.newChange(signal.CLDKilled, c.ExitSignal)
}

func (c *Process) newChange(code, status int) Change {
	return Change{c.PID, c.Leader.Cred.UID.Real, code, status, c.CPU() + c.ChildCPUTime}
}

// markReported marks a change as told; a dead child goes away with it.
func (c *Process) markReported(ch Change) {
	switch ch.Code {
	case signal.CLDStopped:
		c.StopReport = 0
	case signal.CLDContinued:
		c.ContReport = 0
	default:
		c.Parent.ChildCPUTime += ch.CPU
		c.reap()
	}
}

// reap removes a dead process for good.
func (c *Process) reap() {
	delete(c.Node.Procs, c.PID)
	c.Parent = nil
	c.Ended.Notify(0)
}

// notifyExit tells the parent of the dead process c, or removes c when nobody
// wants to know.
func (c *Process) notifyExit() {
	p := c.Parent
	c.Ended.Notify(In)
	if p == nil {
		c.reap()
		return
	}
	gone, send := false, c.ExitSig
	if chld := int(unix.SIGCHLD); c.ExitSig == chld {
		a := p.Actions[chld]
		gone = a.Handler == signal.Ign || a.Flags&signal.SANoCldWait != 0
		if a.Handler == signal.Ign {
			send = 0
		}
	}
	if send > signal.Max {
		send = 0 // clone(2) takes any number up to 255
	}
	if send != 0 {
		e := c.exitChange()
		p.Node.Kill(p,
			signal.Info{Signo: send, Code: e.Code, PID: c.PID, UID: c.Leader.Cred.UID.Real, Status: e.Status})
	}
	if gone {
		c.reap()
	}
	p.ChildChanged.Notify(In)
}
