//go:build linux

package node

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"
)

// output collects what the step did.
func (n *Node) output() ariadne.Output {
	k := n.k
	n.hearLines()
	done, ended := n.done()
	out := ariadne.Output{
		Messages: k.Out, Logs: k.Logs, Exposures: k.Exposures, Notices: k.Notices, Exits: k.Exits,
		Calls: n.step.made(), Places: n.step.course.Places, Diverged: n.step.diverged, Refusals: k.Refusals,
		Left: ariadne.Left{
			Clock: k.Now, Deadline: ariadne.Never, Calm: n.until(),
			Done: done, Ended: ended,
			Spared: dialog.Spared(k),
			Ready:  n.ready(k.Logs),
		},
		Noted: ariadne.Noted{
			CallTrace: n.step.trace, Unreplayable: n.step.unreplayable || n.step.cut != "", Cut: n.step.cut,
			Files:     n.usedFiles(),
			Unsynced:  !k.Files.Log.Durable(),
			ReadClock: k.ClockTold, CutAt: n.step.cutAt,
		},
	}
	if n.cfg.Faults.Parted {
		out.Limits = net.Limits(k)
	}
	if n.cfg.Faults.Kill.May {
		processes := n.victims()
		out.Processes = &processes
	}
	n.reportFate(&out)
	out.Looks = n.lookedAt()
	k.Out, k.Told, k.Exits, k.Refusals = nil, kernel.Told{}, nil, nil
	slices.SortFunc(out.Refusals, func(a, b ariadne.Refusal) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Program, b.Program))
	})
	if t := k.NextTimer(false); t != nil {
		out.Deadline = t.When
		out.Timer = timerName(t)
		if t.When <= k.Now && !n.step.over() {
			panic(toolError{fmt.Errorf("the clock is at %v, and the timer of %v (%s) has not fired", k.Now, t.When,
				out.Timer)})
		}
	}
	n.tellPolling(&out)
	n.drift().convert(&out)
	out.Digest = out.Sum(n.step.stream.value())
	out.Others = n.othersOf(&out)
	return out
}

// timerName is a stable name for what a timer ends: call and thread.
func timerName(t *kernel.Timer) string {
	switch e := t.Exp.(type) {
	case *kernel.Thread:
		return fmt.Sprintf("%s/%d", callName(e.Call.NR), e.TID)
	case *tcp.Socket:
		return "TCP"
	case *timerfd.File:
		return "TimerFD"
	case fmt.Stringer:
		return e.String()
	default:
		panic(toolError{fmt.Errorf("a timer of a %T has no name", e)})
	}
}
