package world

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// A variation is no event of its own: it is an input that an event means, given otherwise. It costs
// one of a budget for each of its choices that is a fault. Which variations an event has is known
// when it has been executed undisturbed (internal/explore/space), since what the node does says
// where anything else could happen.

// Varied is how an input is given otherwise; nil: it is not, as nearly always, so events and
// inputs have room for the pointer only. It does not change once it is made.
type Varied struct {
	vary  ariadne.Variation
	draw  *ariadne.Draw // or nil
	costs Faults        // of vary
	free  bool          // there is a choice in vary that costs nothing

	// Of an event of a kind that has several: which one it is (ariadne.Action.What), and what
	// of that the node is given.
	what      string
	fault     ariadne.NodeFault
	partition *Partition
	late      time.Duration // than the message's time

	// The next fields come from fault and vary, so that their texts are read once: what takes the
	// node down, between two steps or within one; the last choice of vary, or fault, if it takes
	// the node down; the hash of fault.
	falls, last ariadne.Outage
	key         hash.Hash
}

// variedByFault is that a fault hits a node between two steps.
func variedByFault(f ariadne.NodeFault) *Varied {
	v := &Varied{what: f.What(), fault: f, key: hash.OfText(ariadne.Alternative(f))}
	v.readFaults()
	return v
}

// readFaults enters which faults there are.
func (how *Varied) readFaults() {
	how.falls = ariadne.OutageOf(how.fault)
	how.last = how.falls
	for _, c := range how.vary.Choices() {
		if how.last = ariadne.OutageIn(c.Alternative); how.falls.Down == ariadne.Up {
			how.falls = how.last
		}
	}
}

// VariedBy is v as an input has it whose event paid for it.
func VariedBy(v ariadne.Variation) *Varied { return (*Varied)(nil).withVariation(v) }

// withVariation is the same event varied by v, for which it has not paid.
func (how *Varied) withVariation(v ariadne.Variation) *Varied {
	switch {
	case v == "" && how.What() == "":
		return nil
	case how == nil:
		how = &Varied{}
	}
	to := &Varied{vary: v, what: how.what, fault: how.fault, partition: how.partition, late: how.late, key: how.key}
	to.readFaults()
	return to
}

// VariedBy has the input varied by v, for which its event has paid.
func (in *Input) VariedBy(v ariadne.Variation) { in.Varied = in.Varied.withVariation(v) }

// Variation is what is different, "" when that is nothing or not known yet.
func (v *Varied) Variation() ariadne.Variation {
	if v == nil {
		return ""
	}
	return v.vary
}

// Draw is what is to be drawn, or nil.
func (v *Varied) Draw() *ariadne.Draw {
	if v == nil {
		return nil
	}
	return v.draw
}

// What distinguishes events of a kind at a node, or is "".
func (v *Varied) What() string {
	if v == nil {
		return ""
	}
	return v.what
}

// unnamed is how the node is given the input that an event means, but for which event it is.
func (v *Varied) unnamed() *Varied {
	if v == nil || v.vary == "" && v.draw == nil {
		return nil
	}
	to := *v
	to.what, to.late = "", 0
	return &to
}

// Fault is what hits the node between two steps, or nil.
func (v *Varied) Fault() ariadne.NodeFault {
	if v == nil {
		return nil
	}
	return v.fault
}

// takesDown reports whether the node goes down by it, or is paused.
func (v *Varied) takesDown() bool {
	return v.outage().Down != ariadne.Up
}

// outage is what takes the node down, between two steps or within one; zero: nothing.
func (v *Varied) outage() ariadne.Outage {
	if v == nil {
		return ariadne.Outage{}
	}
	return v.falls
}

// budgets are what it costs.
func (v *Varied) budgets() Faults {
	if v == nil {
		return Faults{}
	}
	return v.costs
}

// WithChoice is the event with one more choice in its variation.
func (e *Event) WithChoice(c ariadne.Choice) (Event, error) {
	return e.VariedAs(e.Varied.Variation().And(c))
}

// VariedAs is the event with another variation.
func (e *Event) VariedAs(v ariadne.Variation) (Event, error) {
	to := *e
	to.Varied = e.Varied.withVariation(v)
	if err := v.Check(); v == "" || err != nil {
		return to, err
	}
	how := *to.Varied
	for _, c := range v.Choices() {
		k, ok := KindNamed(c.Kind())
		if !ok || !kinds[k].Within || how.costs[k] == MaxFaults {
			return to, fmt.Errorf("bad variation %q: nothing in a step is of kind %q", v, c.Kind())
		}
		if kinds[k].isFree() {
			how.free = true
		} else {
			how.costs[k]++
		}
	}
	to.Varied = &how
	return to, nil
}

// Countdown is of alternatives of a kind: how many until one is taken, then until the next.
type Countdown struct {
	Kind  ariadne.ActionKind
	After []int
	Only  []string // as in ariadne.Draw
}

// Drawn is the event, to be varied by whatever s has a budget for where the counts of alternatives
// in after, in order of kinds, come to their ends (ariadne.Draw). Choices that cost nothing are
// drawn wherever they occur, by random numbers from seed.
func (y *System) Drawn(s *State, e Event, after []Countdown, seed uint64) Event {
	if kinds[e.Kind].World {
		return e
	}
	d := &ariadne.Draw{Free: free, Seed: seed}
	for _, c := range after {
		if !y.rules.MayFollowWithin(s, c.Kind, e.Node) {
			continue
		}
		if n := min(len(c.After), int(s.Faults[c.Kind])); n > 0 {
			d.Kinds, d.After, d.Only = append(d.Kinds, kinds[c.Kind].Name), append(d.After, c.After[:n:n]),
				append(d.Only, c.Only)
			if l := y.rules.Seldom[c.Kind]; l != nil {
				for len(d.Seldom) < len(d.Kinds)-1 {
					d.Seldom = append(d.Seldom, nil)
				}
				d.Seldom = append(d.Seldom, l)
			}
		}
	}
	how := Varied{}
	if e.Varied != nil {
		how = *e.Varied
	}
	how.draw = d
	e.Varied = &how
	return e
}

// DrawnOn is the event, to be varied further at random by what costs nothing, from the place
// on before which there are so many.
func (e Event) DrawnOn(from int, seed uint64) Event {
	how := *e.Varied
	how.draw = &ariadne.Draw{Free: free, Seed: seed, From: from}
	e.Varied = &how
	return e
}

// Costs is what the event takes of budgets.
func (e *Event) Costs() Faults {
	c := e.Varied.budgets()
	if kinds[e.Kind].Fault != "" {
		c[e.Kind]++
	}
	return c
}

// IsFault reports whether it costs anything.
func (e *Event) IsFault() bool { return e.Disturbed() || kinds[e.Kind].Fault != "" }

// Disturbed reports whether its step is varied by anything that costs something.
func (e *Event) Disturbed() bool { return e.Varied != nil && !e.Varied.costs.None() }

// Chosen reports whether its step is varied by choices that cost nothing.
func (e *Event) Chosen() bool { return e.Varied != nil && e.Varied.free }

// Halts reports whether its node does nothing more in its step, so that there is nothing to vary
// but what costs nothing.
func (e *Event) Halts() bool { return kinds[e.Kind].Halts }

// Varies reports whether there is a budget left for any variation.
func (s *State) Varies() bool {
	if s.Faults.None() {
		return false
	}
	for _, k := range within {
		if s.Faults[k] > 0 {
			return true
		}
	}
	return false
}

// Affords reports whether the budgets are enough for the event.
func (s *State) Affords(e *Event) bool {
	for k, n := range e.Costs() {
		if s.Faults[k] < n {
			return false
		}
	}
	return true
}

// payCosts takes from the budgets what an event costs.
func (s *State) payCosts(costs Faults) {
	for k, n := range costs {
		s.Faults[k] -= n
	}
}

// SettleVariation enters that an event that has happened was varied by v. Where nodes live that is
// known afterwards: it was drawn, or the node has not come to the places of a trace.
func (s *State) SettleVariation(e *Event, v ariadne.Variation) error {
	if e.Varied.Variation() == v && e.Varied.Draw() == nil {
		return nil
	}
	to, err := e.VariedAs(v)
	if err != nil {
		return err
	}
	for k, n := range e.Varied.budgets() {
		s.Faults[k] += n
	}
	if !s.Affords(&Event{Varied: to.Varied}) {
		return fmt.Errorf("the variation %s is beyond the budgets", v)
	}
	s.payCosts(to.Varied.budgets())
	*e = to
	return nil
}

// Choices is how many the event's variation has that cost something.
func (e *Event) Choices() (n int) {
	for _, c := range e.Varied.budgets() {
		n += int(c)
	}
	return n
}

// WithoutLastChoice is the event without the last choice of its variation, which has one.
func (e *Event) WithoutLastChoice() (Event, error) {
	all := e.Varied.Variation().Choices()
	v := ariadne.Variation("")
	for _, c := range all[:len(all)-1] {
		v = v.And(c)
	}
	return e.VariedAs(v)
}

// SameInput reports whether both are the same event but for how it is varied.
func (e *Event) SameInput(f *Event) bool {
	if e.Kind != f.Kind || e.Node != f.Node || (e.Packet == nil) != (f.Packet == nil) {
		return false
	}
	if e.Varied != f.Varied && e.Varied.What() != f.Varied.What() {
		return false
	}
	return e.Packet == f.Packet || e.Packet.SameDelivery(f.Packet)
}
