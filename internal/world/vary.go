package world

import (
	"fmt"

	"ariadne"
)

// A variation is no event of its own: it is an input that an event means, given otherwise. It
// costs one of a budget for each of its choices. Which variations an event has is known when
// it has been executed undisturbed (internal/space), since what the node does says where
// anything else could happen.

// And is the event with one more choice in its variation.
func (e *Event) And(c ariadne.Choice) (Event, error) { return e.With(e.Vary.And(c)) }

// With is the event with another variation.
func (e *Event) With(v ariadne.Variation) (Event, error) {
	to := *e
	to.Vary, to.Draw, to.costs = v, nil, Faults{}
	if err := v.Check(); err != nil {
		return to, err
	}
	for _, c := range v.Choices() {
		k, ok := KindNamed(c.Kind())
		if !ok || !kinds[k].Within || to.costs[k] == MaxFaults {
			return to, fmt.Errorf("bad variation %q: nothing in a step is of kind %q", v, c.Kind())
		}
		to.costs[k]++
	}
	return to, nil
}

// Drawn is the event, to be varied at its nth alternative, if it has so many, by whatever s
// has a budget for.
func (s *State) Drawn(e Event, nth int) Event {
	e.Draw = &ariadne.Draw{Nth: nth}
	for _, k := range Kinds() {
		if kinds[k].Within && s.Faults[k] > 0 {
			e.Draw.Kinds = append(e.Draw.Kinds, kinds[k].Name)
		}
	}
	return e
}

// Costs is what the event takes of budgets.
func (e *Event) Costs() Faults {
	c := e.costs
	if kinds[e.Kind].Fault != "" {
		c[e.Kind]++
	}
	return c
}

// IsFault reports whether it costs anything.
func (e *Event) IsFault() bool { return e.Vary != "" || e.Draw != nil || kinds[e.Kind].Fault != "" }

// Varies reports whether there is a budget left for any variation.
func (s *State) Varies() bool {
	if s.Faults.number() == 0 {
		return false
	}
	for k := range kinds {
		if kinds[k].Within && s.Faults[k] > 0 {
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

// pay takes from the budgets what an event costs.
func (s *State) pay(costs Faults) {
	for k, n := range costs {
		s.Faults[k] -= n
	}
}

// Settle enters that an event that has happened was varied by v. Where nodes live that is
// known afterwards: it was drawn, or the node has not come to the places of a trace.
func (s *State) Settle(e *Event, v ariadne.Variation) error {
	if e.Vary == v && e.Draw == nil {
		return nil
	}
	to, err := e.With(v)
	if err != nil {
		return err
	}
	for k, n := range e.costs {
		s.Faults[k] += n
	}
	if !s.Affords(&Event{costs: to.costs}) {
		return fmt.Errorf("the variation %s is beyond the budgets", v)
	}
	s.pay(to.costs)
	*e = to
	return nil
}

// Choices is how many the event's variation has.
func (e *Event) Choices() int { return len(e.Vary.Choices()) }

// SameInput reports whether both are the same event but for how it is varied.
func (e *Event) SameInput(f *Event) bool {
	if e.Kind != f.Kind || e.Node != f.Node || (e.Packet == nil) != (f.Packet == nil) {
		return false
	}
	return e.Packet == f.Packet || e.Packet.SameDelivery(f.Packet)
}
