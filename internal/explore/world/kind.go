package world

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// MaxKinds is one more than the greatest ActionKind there may be. To have more, raise it by 8, and
// have Faults.None and State.Budget read one more word.
const MaxKinds = 40

// A Kind is all that there is to know of the events of a kind. Each has a file of its own,
// which registers it; nothing else knows kinds by name, except who gives users a choice
// among those that there are.
type Kind struct {
	// Name is the first word of its events' names, and what weights are given to.
	Name string
	Doc  string // which events these are, as in the description of their weight
	// Fault is what the budget of a kind of fault counts: an execution has at most so many of
	// its events, none unless its rules say so, and none of them is natural. "": it is no fault.
	Fault string
	// Once is one of them, as in "3 executions had a crash". Each fault has it.
	Once string
	// Within: it is a choice within the steps of others (ariadne.Choice). Where it has no events
	// of its own besides, what follows is not there. If it is no fault it is free: there may
	// be any number of them, and a step with them is as natural as without.
	Within bool
	// Whole: searches of states and orders take as many of them in one step as the budget has. Of
	// others they take Rules.Combined.
	Whole bool
	// Untimed: its events have no time of their own, or no more than what they hit. They come
	// after all that have, so that none is ever the natural one, and random strategies draw
	// when one strikes.
	Untimed bool
	// Halts, of one that is aside: its node does nothing more in its step, so there is nothing to
	// vary.
	Halts bool
	// Messages: it hits messages.
	Messages bool
	// Leaves, of one that hits messages: they stay in flight all the same.
	Leaves bool
	// Network is what a spec may say of it, if it hits the network.
	Network *Network
	// OnNodes is what a spec may say of it, if it hits nodes and is one of several.
	OnNodes *OnNodes
	// World: its events change what lies between the nodes, and give none an input.
	World bool
	// Ends: its events end a fault: a node starts, a partition or a slow sync is over.
	Ends bool
	// Overtakes: when one of its events happens although something else comes first in
	// time, that is held back.
	Overtakes bool
	// Alike: its node is given what an event of another kind gives it, at another time.
	Alike bool
	// Of are the kinds of faults of which its events come: if there are any, without a budget of
	// one of them there are none.
	Of []ariadne.ActionKind
	// Only: as long as one of its events is possible, nothing else is.
	Only bool
	// Starts: Clock.Start is the earliest time of its events and others, so while that is Never
	// there are none.
	Starts bool
	// With, when not 0, is the kind whose Enabled finds its events too.
	With ariadne.ActionKind
	// Enabled appends what may happen next in s, in any order but for what is Untimed. No fault
	// hits a node that is spared.
	Enabled func(y *System, s *State, c Clock, events []Event) []Event
	// Pending finds the event of which e has the node, and the packet if it has one: its
	// time and what Take needs. Not ok: there is none.
	Pending func(y *System, s *State, e *Event) bool
	// Take makes it happen, but for the budget of a fault: it takes from s what the event uses up,
	// and returns what the node is given.
	Take func(y *System, s *State, e *Event) Input
	// Footprint completes what it touches besides its node.
	Footprint func(y *System, e *Event, f Footprint) Footprint
	// Format is an action's name without the kind's, and Parse its inverse.
	Format func(n Names, a ariadne.Action) string
	Parse  func(n Names, rest string) (ariadne.Action, error)
}

// kinds are the registered ones, by ActionKind; those without a name are not there.
var kinds [MaxKinds]Kind

// free are the names of those of which choices cost nothing.
var free []string

func register(k ariadne.ActionKind, kind Kind) {
	if kinds[k].Name != "" {
		panic(fmt.Sprintf("two kinds of events have number %d: %s and %s", k, kinds[k].Name, kind.Name))
	}
	kinds[k] = kind
	if kind.isFree() {
		free = append(free, kind.Name)
	} else if kind.Within {
		within = append(within, k)
		slices.Sort(within)
	}
	if kind.Slows() {
		slowing = append(slowing, k)
	}
	if kind.hasEvents() {
		withEvents = append(withEvents, k)
		slices.Sort(withEvents)
	}
}

// within are those of which there is a budget for choices within steps, in order.
var within []ariadne.ActionKind

// withEvents are those that have events, in order.
var withEvents []ariadne.ActionKind

// KindOf is what there is to know of a kind.
func KindOf(k ariadne.ActionKind) *Kind { return &kinds[k] }

// Kinds are all kinds that there are, in order.
func Kinds() (all []ariadne.ActionKind) {
	for k := range kinds {
		if kinds[k].Name != "" {
			all = append(all, ariadne.ActionKind(k))
		}
	}
	return all
}

// KindNamed is the kind of a name.
func KindNamed(name string) (ariadne.ActionKind, bool) {
	i := slices.IndexFunc(kinds[:], func(k Kind) bool { return k.Name == name && name != "" })
	return ariadne.ActionKind(max(i, 0)), i >= 0
}

// KindNames lists the names of those that have events, as in "a, b or c".
func KindNames() string {
	var names []string
	for _, k := range Kinds() {
		if kinds[k].hasEvents() {
			names = append(names, kinds[k].Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// isFree: choices of this kind cost nothing.
func (k *Kind) isFree() bool { return k.Within && k.Fault == "" }

// hasEvents: it is more than a choice within the steps of others.
func (k *Kind) hasEvents() bool { return k.Enabled != nil || k.With != 0 }

// FreeKind reports whether an alternative is of a kind that costs nothing.
func FreeKind(alternative string) bool {
	k, ok := KindNamed(ariadne.KindOf(alternative))
	return ok && kinds[k].isFree()
}

// Faults are budgets of faults, by kind.
type Faults [MaxKinds]uint8

// MaxFaults is the largest budget of a kind of fault.
const MaxFaults = 255

// None: there are none.
func (f *Faults) None() bool { // each step asks several times: five loads, and no call
	b := f[:]
	return binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:])|binary.LittleEndian.Uint64(b[32:]) == 0
}

// None and Budget read all of the words, or the program does not build.
var _ = [1]struct{}{}[len(Faults{})-40]

// Budget stands for what is left of all budgets.
func (s *State) Budget() hash.Hash {
	f := s.Faults[:]
	h := hash.Of(uint64(s.Delays), binary.LittleEndian.Uint64(f)+1, 2)
	if rest := f[8:]; !s.Faults.None() {
		h = h.Plus(hash.Of(binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:]),
			8+binary.LittleEndian.Uint64(rest[16:])<<8))
		if more := binary.LittleEndian.Uint64(f[32:]); f[31] != 0 || more != 0 {
			h = h.Plus(hash.Of(more, uint64(f[31]), 24))
		}
	}
	return h
}

// Clock is what all kinds look at when they say what may happen next.
type Clock struct {
	First ariadne.Time // the earliest deadline of a node, or Never
	// Horizon is how late anything may happen before it: by so much clocks may be off.
	Horizon ariadne.Time
	// the earliest time at which a node's commands are yet to be run, or a partition is to end, or
	// Never
	Start ariadne.Time
}

func (y *System) clock(s *State) Clock {
	c := Clock{First: ariadne.Never, Start: ariadne.Never}
	for i := range s.Cuts {
		c.Start = min(c.Start, s.Cuts[i].Until)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		c.First, c.Start = min(c.First, n.Timer()), min(c.Start, n.Start)
	}
	c.Horizon = c.First.Add(y.rules.ClockError)
	return c
}

// Footprint is what an event reads and changes of what nodes share, so that it can be told
// whether the order of two events matters. Its node, and what comes of the event
// there, are not in it.
type Footprint struct {
	At ariadne.Time
	// Takes is the message that it delivers, or nil; Last, unless it is 0, the number of the last
	// that arrives together with that. Leaves: it stays in flight all the same.
	Takes  *Packet
	Last   int
	Leaves bool
	// Peer is another node that must not be spared, or NoNode.
	Peer ariadne.NodeID
	// Costs is what it takes of budgets.
	Costs Faults
	// Slack is how much later than another node's deadline it may happen.
	Slack time.Duration
	// StartSlack is how much later than another node's start it may happen.
	StartSlack time.Duration
	// Start is the time of the start that it takes out of what is pending, or Never.
	Start ariadne.Time
	// Delays is the time up to which it holds back what should have arrived; -1: nothing.
	Delays ariadne.Time
	// Late is how much later than at its time the message arrives that it takes.
	Late time.Duration
	// Timer: it is what its node's earliest deadline was for.
	Timer bool
	// Present: it happens at the present time, in full seconds, once that is later than its
	// node's clock. So it is later when others have happened before.
	Present bool
	// All: its order with any other event matters.
	All bool
	// Partition is that of the network which it begins or ends. Back is when what it begins is
	// over, and Heal when what it ends was to be, or Never.
	Partition  *Partition
	Back, Heal ariadne.Time
}

// FootprintOf is the footprint of an event.
func (y *System) FootprintOf(e *Event) Footprint {
	f := Footprint{At: e.At, All: e.Varied.outage().With != "", Peer: ariadne.NoNode, Costs: e.Costs(),
		Slack: y.rules.ClockError, StartSlack: unlimited, Start: ariadne.Never, Back: ariadne.Never,
		Heal: ariadne.Never, Delays: -1}
	return kinds[e.Kind].Footprint(y, e, f)
}

// Shares reports whether both take of the same budget.
func (f *Footprint) Shares(g *Footprint) bool {
	if f.Costs.None() || g.Costs.None() {
		return false
	}
	for k, n := range f.Costs {
		if n > 0 && g.Costs[k] > 0 {
			return true
		}
	}
	return false
}

// Spends reports whether it takes of any budget. A budget is a counter, on which two uses
// commute: an execution in which both happen has them in either order, since both fit. But
// after a use there may be too little left for another.
func (f *Footprint) Spends() bool { return !f.Costs.None() }

// unlimited is more than any time may be off.
const unlimited = time.Duration(1<<63 - 1)
