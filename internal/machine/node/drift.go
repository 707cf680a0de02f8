//go:build linux

package node

import (
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// drift is how a machine's clocks run: by so many parts per million fast, or slow when it is
// negative, since a time of the world's at which they showed another. All that a node knows of time
// is by its own clocks, its timers too: its kernel's time is that of the machine, and is converted
// where it meets the world's, in inputs and outputs.
type drift struct {
	ppm          ariadne.Time
	since, shown ariadne.Time
}

const million = 1_000_000

// none: the machine's clock shows the world's time.
func (d drift) none() bool { return d.ppm == 0 && d.since == d.shown }

// local is what the machine's clock shows at a time of the world's. It never runs backwards.
func (d drift) local(t ariadne.Time) ariadne.Time {
	if d.none() || t >= ariadne.Never {
		return t
	}
	t -= d.since
	return d.shown + t + t/million*d.ppm + t%million*d.ppm/million
}

// first is the first time of the world's at which the machine's clock has come to t.
func (d drift) first(t ariadne.Time) ariadne.Time {
	if d.none() || t >= ariadne.Never {
		return t
	}
	w := t - d.shown + d.since
	for range 8 { // each leaves so many millionths of the difference
		w -= d.local(w) - t
	}
	for d.local(w) >= t && w > 0 {
		w--
	}
	for d.local(w) < t {
		w++
	}
	return w
}

// last is the last time of the world's at which the machine's clock has not passed t.
func (d drift) last(t ariadne.Time) ariadne.Time {
	if d.none() || t >= ariadne.Never {
		return t
	}
	return d.first(t+1) - 1
}

// convert has an output say the world's times. A past event of the machine is at the last of these,
// so it is not before the step; a future event is at the first.
func (d drift) convert(out *ariadne.Output) {
	if d.none() {
		return
	}
	out.Clock, out.Deadline = d.last(out.Clock), d.first(out.Deadline)
	if out.Calm != 0 {
		out.Calm = d.first(out.Calm)
	}
	for i := range out.Messages {
		out.Messages[i].Sent = d.last(out.Messages[i].Sent)
	}
	for i := range out.Logs {
		out.Logs[i].At = d.last(out.Logs[i].At)
	}
	for i := range out.Exposures {
		out.Exposures[i].At = d.last(out.Exposures[i].At)
	}
	for i := range out.Notices {
		out.Notices[i].At = d.last(out.Notices[i].At)
	}
	for i := range out.Exits {
		out.Exits[i].At = d.last(out.Exits[i].At)
	}
}

// end is when a fault of some length is over that begins now, by the world's time and by the
// machine's.
func (n *Node) end(length time.Duration) (world, local ariadne.Time) {
	end := ariadne.EndOf
	if n.cfg.Coarse {
		end = ariadne.CoarseEndOf
	}
	world = end(n.drift().last(n.k.Now), length, 0)
	return world, n.drift().local(world)
}

// offUntil is what the clock shows of a machine that is off for some length: when it is switched
// on, or, if it never is, the next full second.
func (n *Node) offUntil(length time.Duration) (local ariadne.Time) {
	if length == ariadne.Ever {
		d := n.drift()
		return d.local(ariadne.NextOn(d.last(n.k.Now), ariadne.Grid))
	}
	_, local = n.end(length)
	return local
}

// drift is how the machine's clocks run now.
func (n *Node) drift() drift {
	k := n.k
	return drift{ariadne.Time(n.cfg.ClockDrift + k.Drift.By), k.Drift.Since, k.Drift.Shown}
}

func init() {
	strikesBy(ariadne.Drifted, func(n *Node, d ariadne.Drift) { n.drifts(d.By) })
}

// drifts has the machine's clocks run by so many parts per million faster than they do undisturbed.
func (n *Node) drifts(by int) {
	n.k.Drift = kernel.Drift{By: by, Since: n.drift().last(n.k.Now), Shown: n.k.Now}
}
