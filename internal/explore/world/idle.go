package world

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// A system in which a client waits for ever may never fall silent, because the runtimes
// of some languages wake now and then to look after themselves. What they do may matter:
// a collection of garbage closes connections that nobody holds any more. So such a
// system goes on until the housekeeping has had its time, and only when nothing has
// come of it counts nothing as left to happen.

// IsIdle reports whether a client waits and nothing can happen but housekeeping.
func (y *System) IsIdle(s *State) bool {
	waits, wakes := y.housekeeping(s)
	return waits && wakes
}

// HasOnlyHousekeeping reports whether no client waits and nothing can happen but housekeeping: what
// is left of such an execution is of no interest to anybody.
func (y *System) HasOnlyHousekeeping(s *State) bool {
	waits, wakes := y.housekeeping(s)
	return !waits && wakes
}

// housekeeping reports whether a client waits, and whether there is housekeeping that can
// happen and nothing else.
func (y *System) housekeeping(s *State) (waits, wakes bool) {
	if len(s.Flight) > 0 || lastsIn(s.Cuts) {
		return false, false
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		at := s.Nodes[i].Timer()
		if n.Start != ariadne.Never || at != ariadne.Never && n.Calm == 0 {
			return false, false
		}
		waits = waits || y.nodes[i].Client && !n.Ended
		wakes = wakes || at != ariadne.Never
	}
	return waits, wakes
}

// IsIdleForGood reports whether the system is idle and nothing more will come of it.
func (y *System) IsIdleForGood(s *State) bool { return y.IsIdle(s) && y.IsOver(s) }

// IsOver reports whether nothing can happen but faults that have no time of their own, or
// housekeeping of which nothing more will come.
func (y *System) IsOver(s *State) bool {
	if _, wakes := y.housekeeping(s); !wakes {
		return y.AtRest(s)
	}
	calm := ariadne.Time(0)
	for i := range s.Nodes {
		if s.Nodes[i].Timer() != ariadne.Never {
			calm = max(calm, s.Nodes[i].Calm)
		}
	}
	return s.firstDeadline() > calm
}

// Recovered reports whether no fault lasts that will end by itself: each node that comes back has
// done so and is awake, no partition stands, and no part of the network is slow, but for ever, and
// no sync is under way.
func (y *System) Recovered(s *State) bool {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; s.lastsAt(ariadne.NodeID(i)) || n.Falls != nil || n.Awake > s.Now {
			return false
		}
	}
	return !lastsIn(s.Cuts) && !lastsIn(s.Slow)
}

// Lasts reports whether a fault at a node, or a partition, lasts, and will end by an event of a
// kind that ends faults.
func (s *State) Lasts(id ariadne.NodeID) bool { return s.lastsAt(id) || lastsIn(s.Cuts) }

// lastsAt reports whether a node is down and comes back, or has a sync under way.
func (s *State) lastsAt(id ariadne.NodeID) bool {
	n := &s.Nodes[id]
	return n.Down != ariadne.Up && n.Start != ariadne.Never ||
		slices.ContainsFunc(s.Flight, func(f Flying) bool { return f.Flow.Proto == ariadne.Disk && f.To == id })
}

// lastsIn reports whether one of some faults of the network will end by itself.
func lastsIn(all []Standing) bool {
	return slices.ContainsFunc(all, func(c Standing) bool { return c.Until != ariadne.Never })
}

// ClearBudgets takes from a state what is left of its budgets: nothing happens from there on but
// what no budget is needed for.
func (s *State) ClearBudgets() { s.Delays, s.Faults = 0, Faults{} }
