package spec

import (
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// MaxDrift is how fast or slow a clock may run, in parts per million. Linux takes one for a broken one
// beyond half of it (adjtimex(2)), and quartz is off by less than a tenth.
const MaxDrift = 1000

// Drift says whose clocks faults may have run faster or slower, within the budget of such faults.
type Drift struct {
	Nodes []ariadne.NodeID // nil: all but clients
	By    []int            // parts per million, besides the node's ClockDrift; slower when negative; nil: DefaultDrifts
}

// DefaultDrifts are by how much clocks run faster or slower when the spec does not say it: more than quartz
// is off, and less than Linux slews a clock by (500).
var DefaultDrifts = []int{100, -100}

func (d *Drift) by() []int {
	if d.By == nil {
		return DefaultDrifts
	}
	return d.By
}

// speeds are the greatest and the least number of parts per million by which clocks run fast, with the faults for which there is a
// budget, or without any.
func (s *Spec) speeds(faults bool) (fast, slow int) {
	for i := range s.Nodes {
		d := s.Nodes[i].ClockDrift
		if i == 0 {
			fast, slow = d, d
		}
		fast, slow = max(fast, d), min(slow, d)
		if faults && s.Faults[world.Drift] > 0 && slices.Contains(s.servers(s.Drift.Nodes), s.Nodes[i].ID) {
			fast, slow = max(fast, d+slices.Max(s.Drift.by())), min(slow, d+slices.Min(s.Drift.by()))
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

// Parting is by how much the clocks of two nodes part, at most, because they run at different speeds, as
// long as an execution lasts.
func (s *Spec) Parting() time.Duration { return s.parting(true) }

// TimerError is what is left of ClockError for timers to fire in another order than by their clocks. In
// all, those of two nodes are off by no more than ClockError: programs that hold leases rely on it.
func (s *Spec) TimerError() time.Duration { return s.ClockError - s.Parting() }

// cannotDrift says why clocks may not drift as the faults have it, or "".
func (s *Spec) cannotDrift() string {
	fast, slow := s.speeds(true)
	switch part := s.Parting(); {
	case max(fast, -slow) > MaxDrift:
		return fmt.Sprintf("faults: drift: with its clock_drift a node's clocks are off by %d parts per million, and %d are the most", max(fast, -slow), MaxDrift)
	case part > s.ClockError:
		return fmt.Sprintf("faults: drift: in %v the nodes' clocks part by %v, which is more than clock_error (%v): what timers may be off by", s.Limits.Time, part, s.ClockError)
	}
	return ""
}

func init() {
	faultRow(world.Drift, fault{
		fields:  func() schema { return object(driftFields) },
		set:     setDrift,
		nodes:   func(s *Spec) *[]ariadne.NodeID { return &s.Drift.Nodes },
		victims: func(s *Spec) []ariadne.NodeID { return s.servers(s.Drift.Nodes) },
		befalls: func(s *Spec) []world.NodeFaults {
			return []world.NodeFaults{world.Drifts(s.servers(s.Drift.Nodes), s.Drift.by()...)}
		},
		impossible: (*Spec).cannotDrift,
	})
}

// driftText is a Drift as written.
type driftText struct {
	budgetText
	by []text
}

var driftFields = []field[driftText]{
	timesField[driftText](),
	faultyField[driftText](),
	textsField("by", "By how much the clocks run faster, in parts per million, or slower, each as in +100ppm or -50ppm; default these of 100. Over limits.time clocks may part by no more than clock_error.", func(d *driftText) *[]text { return &d.by }),
	afterField[driftText](),
}

// setDrift reads a number, or whose clocks run faster or slower by how much.
func setDrift(r *reader, s *specText, v *yaml.Node) {
	var w driftText
	readBudget(r, s, world.Drift, driftFields, &w, v)
	for _, t := range w.by {
		d, err := ariadne.ParseDrift(t.string)
		switch {
		case err != nil:
			r.fail(t.line, "faults: drift: by: %v", err)
		case max(d, -d) > MaxDrift:
			r.fail(t.line, "faults: drift: by: %s is more than %dppm", t.string, MaxDrift)
		case slices.Contains(s.Drift.By, d):
			r.fail(t.line, "faults: drift: by: %s stands twice", t.string)
		}
		s.Drift.By = append(s.Drift.By, d)
	}
}
