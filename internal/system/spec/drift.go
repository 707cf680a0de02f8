package spec

import (
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// speeds are the greatest and the least number of parts per million by which clocks run fast, with
// the faults for which there is a budget, or without any.
func (s *Spec) speeds(faults bool) (fast, slow int) {
	for i := range s.Nodes {
		d := s.Nodes[i].ClockDrift
		if i == 0 {
			fast, slow = d, d
		}
		fast, slow = max(fast, d), min(slow, d)
		if !faults || s.Faults[world.Drift] == 0 ||
			!slices.Contains(s.Servers(s.OnNodes[world.Drift].Nodes), s.Nodes[i].ID) {
			continue
		}
		for _, f := range s.nodeFaultsBy(world.Drift) {
			by := f.(ariadne.Drift).By
			fast, slow = max(fast, d+by), min(slow, d+by)
		}
	}
	return fast, slow
}

// parting is by how much clocks part as long as an execution lasts.
func (s *Spec) parting(faults bool) time.Duration {
	const million = 1_000_000
	fast, slow := s.speeds(faults)
	all := time.Duration(fast - slow)
	return s.Limits.Time/million*all + (s.Limits.Time%million*all+million-1)/million
}

// Parting is by how much the clocks of two nodes part, at most, because they run at different
// speeds, as long as an execution lasts.
func (s *Spec) Parting() time.Duration { return s.parting(true) }

// TimerError is what is left of ClockError for timers to fire in another order than by their
// clocks. In all, those of two nodes are off by no more than ClockError: programs that hold leases
// rely on it.
func (s *Spec) TimerError() time.Duration { return s.ClockError - s.Parting() }

// cannotDrift says why clocks may not drift as the faults have it, or "".
func (s *Spec) cannotDrift() string {
	fast, slow := s.speeds(true)
	switch part := s.Parting(); {
	case max(fast, -slow) > world.MaxDrift:
		return fmt.Sprintf("faults: drift: together with clock_drift a node's clocks are off by %d parts per million; the limit is %d", max(fast, -slow), world.MaxDrift)
	case part > s.ClockError:
		return fmt.Sprintf("faults: drift: in %v the nodes' clocks drift apart by %v, which is more than clock_error (%v)", s.Limits.Time, part, s.ClockError)
	}
	return ""
}

func init() {
	row := onNodesRow(world.Drift, world.KindOf(world.Drift))
	row.impossible = (*Spec).cannotDrift
	faultRow(world.Drift, *row)
}
