//go:build linux

package node

import "github.com/ariadne-mc/ariadne"

const (
	// settleTime is how far settle may run ahead: longer naps are not a scheduler's.
	settleTime = ariadne.Time(20e6)
	// settleTicks is how many naps in a row may end without another call.
	settleTicks = 3
)

// settle runs the timers that keep a language's scheduler alive until they change
// nothing more. Go's sysmon, napping some microseconds, takes the processor from a
// thread that blocks in a call and lets another thread run goroutines with it: until
// it has done so the node is not at rest.
func (n *Node) settle() {
	end := n.k.Now + settleTime
	for idle := 0; idle < settleTicks && !n.step.over() && !n.step.polls(); {
		t := n.k.NextTimer(true)
		if t == nil || !t.Silent || t.When > end {
			return
		}
		before := n.step.made()
		n.k.Now = max(n.k.Now, t.When)
		n.k.FireTimer(t)
		n.run()
		if idle++; n.step.made() > before+1 {
			idle = 0
		}
	}
}

// preempt takes the processor from th, which the watchdog found computing for long
// without a call: others have their turn, and timers that its time has made due
// fire, whose signals may be for th itself. It reports whether th goes on. How long
// "long" is depends on the real machine, so the step is marked.
func (n *Node) preempt(th *thread) bool {
	n.step.spun += ariadne.Time(n.watch.Patience())
	if t := n.k.NextTimer(true); t != nil && t.When <= n.k.Now+n.step.spun || th.k.CPULeft() <= n.step.spun {
		n.computes(th)
		n.step.unreplayable = true // though nobody may wait for it: the clock shows it
		n.k.Now += n.step.spun
		th.k.CPUTime += n.step.spun
		n.step.spun = 0
		n.fireDue(n.k.Now)
		th.k.ExpireCPU()
	}
	others := n.k.HasReady()
	if !others && !th.k.HasSignal() {
		return true
	}
	n.computes(th)
	n.step.unreplayable = true
	n.watch.Hurry()
	if others {
		n.requeue(th)
		return false
	}
	return n.deliverSignals(th)
}

// canPreempt reports whether preempt may find somebody to run, or a signal for th.
func (n *Node) canPreempt(th *thread) bool {
	return n.k.HasReady() || n.k.NextTimer(true) != nil || th.k.CPULeft() < ariadne.Never
}
