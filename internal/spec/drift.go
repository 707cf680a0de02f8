package spec

import "time"

// MaxDrift is how fast or slow a clock may run, in parts per million. Linux takes one for a broken one
// beyond half of it (adjtimex(2)), and quartz is off by less than a tenth.
const MaxDrift = 1000

// Parting is by how much the clocks of two nodes part, at most, because they run at different speeds, as
// long as an execution lasts.
func (s *Spec) Parting() time.Duration {
	var fast, slow int
	for i := range s.Nodes {
		d := s.Nodes[i].ClockDrift
		if i == 0 {
			fast, slow = d, d
		}
		fast, slow = max(fast, d), min(slow, d)
	}
	const million = 1_000_000
	all := time.Duration(fast - slow)
	return s.Limits.Time/million*all + (s.Limits.Time%million*all+million-1)/million
}

// TimerError is what is left of ClockError for timers to fire in another order than by their clocks. In
// all, those of two nodes are off by no more than ClockError: programs that hold leases rely on it.
func (s *Spec) TimerError() time.Duration { return s.ClockError - s.Parting() }
