//go:build linux

package node

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net"
	"github.com/ariadne-mc/ariadne/internal/machine/node/watchdog"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
)

// Start makes a node that is not yet switched on; the input Start does that.
func Start(cfg Config) *Node {
	oomKillsBefore()
	n := &Node{setup: setupOf(cfg), home: &home{users: 1, told: map[ariadne.File]bool{}},
		threads: map[*kernel.Thread]*thread{}}
	n.state.k = newKernel(&n.cfg, 0)
	return n
}

func setupOf(cfg Config) setup {
	f := &cfg.Faults
	return setup{
		cfg:     cfg,
		failing: failures(&f.Fail), functions: failingFunctions(f.Fail.Functions),
		probing: probingOf(cfg.Probes),
		stalls:  stallsFor(f.Stall.For), outages: alternatives(f.Within),
		joins: f.Falls || f.Kill.May && f.Kill.Restart > 0 || cfg.Asks(),
	}
}

// Apply gives the node an input and runs it until every thread waits.
func (n *Node) Apply(in ariadne.Input) (out ariadne.Output, err error) {
	defer recoverTool(n, &err)
	in.At = n.drift().local(in.At)
	n.step = step{memory: hashMemory(n.cfg.TraceCalls), course: ariadne.NewCourse(&in), fate: n.newFate(&in)}
	n.showFiles()
	n.paging.beginStep()
	if n.interrupted() {
		return out, ariadne.ErrInterrupted
	}
	if n.watch == nil {
		n.watch = watchdog.Start(n.cfg.Limits.Divergence, n.k.MemTotal(), n.interrupted)
	}
	n.watch.Begin()
	defer n.watch.End()
	n.home.clearArea()
	n.k.ForgetLate()
	if in.Kind != ariadne.Fire {
		n.step.disturb()
	}
	switch in.Kind {
	case ariadne.Start:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		if err := n.boot(); err != nil {
			return out, &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", n.cfg.Name, err)}
		}
	case ariadne.Deliver:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		n.step.stream.message(in.Message)
		n.countDelivered(in.Message)
		switch in.Message.Flow.Proto {
		case ariadne.App:
			dialog.Deliver(n.k, in.Message)
		case ariadne.Disk:
			sys.EnterStores(n.k)
			slowdisk.Deliver(n.k, in.Message)
		default:
			net.Deliver(n.k, in.Message)
		}
	case ariadne.Fire:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		n.fireDue(in.At)
	case ariadne.Fault:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		n.applyFault(in.Fault)
	}
	began := n.k.Now
	n.k.Began = began
	n.step.resume() // it may have polled while catching up, before the input came
	n.beginReads()
	if err := n.relaunchDue(); err != nil {
		return out, err
	}
	n.run()
	n.settle()
	for !n.step.over() && !n.step.polls() && (n.hasDueTimer() || n.checkHasEnded() || n.k.HasDueAgain()) {
		if n.checkHasEnded() {
			if err := n.startNextCommand(); err != nil {
				return out, &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", n.cfg.Name, err)}
			}
		}
		n.fireDue(n.k.Now)
		if err := n.relaunchDue(); err != nil {
			return out, err
		}
		n.run()
		n.settle()
	}
	if n.k.ClockTold {
		n.step.looksAtClock()
	}
	n.polled.count(&n.step, began)
	n.dropKilledEnds()
	n.takeDownIfDue()
	if n.k.Files.Whole { // else a fault between two steps looks
		sys.EnterStores(n.k)
	}
	net.Flush(n.k)
	n.closeStale()
	n.exposeGrowth()
	n.exposePorts()
	n.exposeLooks()
	n.compareRead()
	n.calmDown(in.Kind == ariadne.Fire)
	return n.output(), nil
}

// catchUp runs the timers that merely keep runtimes alive up to time at: no
// other node can tell when they ran. A node that polls goes on with the input, and
// they have their turn in its midst.
func (n *Node) catchUp(at ariadne.Time) {
	for !n.step.over() && !n.k.HasReady() {
		t := n.k.NextTimer(true)
		if t == nil || t.When >= at || !t.Silent {
			return
		}
		n.k.Now = max(n.k.Now, t.When)
		n.k.FireTimer(t)
		n.run()
	}
}
