// Package world is the system under test as the explorer sees it: nodes as automata, messages in
// flight, deadlines, and budgets. It has the rules: which events can happen next (Enabled), and
// what an event changes (Take, Absorb). It chooses nothing and checks nothing, and does not know
// what the automata are.
//
// Each node has a clock of its own (docs/internals/architecture.md, Time). Only inputs of the node
// advance it. These are the rules of time:
//
//   - A node is switched on at its start time, or within ClockError of an earlier start that has
//     not happened yet. A message that arrives at its machine before that is lost.
//   - A node that a fault has taken down is switched on again at its time, by the same rule.
//     Until then, its kernel may live on (ariadne.Crashed) and answer messages. If not
//     (ariadne.Down.Off), datagrams and requests for connections are lost. Other messages of
//     connections wait, as if their sender repeated them. A node whose clock is behind may send a
//     message after the machine was switched on. The message then arrives at the time at which
//     the machine was switched on.
//   - A message arrives at Sent + Latency, and never before an earlier message of the same TCP
//     connection. Of each direction of TCP only the oldest message can be delivered. Of datagrams
//     each can.
//   - T is the earliest deadline of all nodes. A timer may fire if its deadline is in [T,
//     T+ClockError]. So a clock is never wrong by more than ClockError.
//   - Messages that arrive until T+ClockError may be delivered in any order. The order of
//     messages of different connections costs nothing.
//   - A message may arrive at a node whose own timer is due. The node then gets it with a clock
//     just below that deadline: the clock is slow. Messages that the node sends then do not
//     arrive earlier because of that. So no node sees a timer of its own that is due and has not
//     fired.
//   - A timer may fire while messages with an earlier arrival are in flight. These are then
//     delayed: they arrive at the timer's deadline. A delay costs one unit of the budget, once
//     for each message. Later messages of the same connection wait with it at no cost. Without
//     budget, the timer waits.
//   - Where a fault has made the network slow, messages arrive later than that. They are not
//     delayed: timers that are due before fire at no cost.
//
// Invariants: no message is delivered before it was sent, or to a node before the node is switched
// on. Each direction of TCP keeps its order. No clock runs backwards. No more messages are delayed
// than the budget allows. If any event is enabled, the first one is the earliest of the system, so
// always taking the first one is the natural schedule.
//
// A System has the rules. A State is a global state: plain data that can be copied. Package
// internal/explore/space finds out what the nodes do.
//
// Read next: system.go and enabled.go, the rules; then internal/explore/search.
package world

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Node is one member of the system.
type Node struct {
	Name   string
	Addrs  []netip.Addr // the first one stands for the name in actions' names
	Start  ariadne.Time
	After  []ariadne.NodeID // those that must have been ready before it is switched on first
	Client bool             // when all clients are done, so is the execution
	// how many bytes its messages that have not arrived may take; 0: any number
	Transit int64
	// over all that its behaviour depends on besides its inputs, and which node it is
	Initial ariadne.Digest
}

// Rules are the network's and the clocks' parameters.
type Rules struct {
	Latency    time.Duration
	ClockError time.Duration
	Delays     int // budget of delayed messages in one execution
	// MaxDelay is how much later than it should a message arrives at most, for timers that overtake
	// it; 0: as late as may be.
	MaxDelay   time.Duration
	Faults     Faults
	NodeFaults []NodeFaults // which faults may hit which nodes
	// Seldom are further lengths of faults of a kind that take nodes down (length.go). They are not
	// among those of NodeFaults.
	Seldom     [MaxKinds][]time.Duration
	Partitions []*Partition // how faults may part the network, or make it slow
	// After are what a line must match that comes before any fault of a kind, or nil: a line of the
	// node that it hits, of either end of a message's way, or of any node for what hits the
	// network.
	After [MaxKinds]*regexp.Regexp
	// AfterOf are the nodes of which the line must be, by kind, instead of those.
	AfterOf map[ariadne.ActionKind]ariadne.NodeID
	// Where are the ends between which faults of a kind hit messages.
	Where [MaxKinds]Ends
	// Keeps are the calls, by name, with which programs make lasting what they have done. Random
	// searches draw faults there more often (Countdown).
	Keeps []string
	// GiveUp is how long an end of a TCP connection sends again what is not acknowledged, unless it
	// has a limit of its own; 0: for ever.
	GiveUp time.Duration
	Grid   ariadne.Time // as ariadne.Grid; 0: that
	Coarse bool         // short faults end on the grid, too (ariadne.CoarseEndOf)
	// Combined is the greatest number of choices by which a search of states or orders varies
	// one step, but for those of kinds that are Whole; 0: 1.
	Combined int
}

// Ends are those of messages: one of Nodes, the other of Peers. nil: any.
type Ends struct{ Nodes, Peers []ariadne.NodeID }

func (e *Ends) matches(from, to ariadne.NodeID) bool {
	in := func(ids []ariadne.NodeID, id ariadne.NodeID) bool { return ids == nil || slices.Contains(ids, id) }
	return in(e.Nodes, from) && in(e.Peers, to) || in(e.Nodes, to) && in(e.Peers, from)
}

// Nowhere reports whether no message has such ends: what a node sends to itself stays in it.
func (e *Ends) Nowhere() bool {
	for _, a := range e.Nodes {
		if slices.ContainsFunc(e.Peers, func(b ariadne.NodeID) bool { return a != b }) {
			return false
		}
	}
	return e.Nodes != nil && e.Peers != nil
}

// OnGrid is the last time on the grid that is not later than t.
func (r *Rules) OnGrid(t ariadne.Time) ariadne.Time { return t - t%cmp.Or(r.Grid, ariadne.Grid) }

// endOf is when what hits the network at time t for some length is over.
func (r *Rules) endOf(t ariadne.Time, length time.Duration) ariadne.Time {
	if r.Coarse {
		return ariadne.CoarseEndOf(t, length, r.Grid)
	}
	return ariadne.EndOf(t, length, r.Grid)
}

// Together is Combined, or what it is when nothing is said.
func (r *Rules) Together() int { return max(r.Combined, 1) }

// Combines reports whether a search of states or orders varies one step so.
func (r *Rules) Combines(e *Event) bool {
	sum := 0
	for k, n := range e.Varied.budgets() {
		if !kinds[k].Whole {
			sum += int(n)
		}
	}
	return sum <= r.Together()
}
