package spec

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestParting: timers are off by no more than clock_error, whether by how fast clocks run or by the
// order in which they fire.
func TestParting(t *testing.T) {
	for _, c := range []struct {
		drifts []int
		time   time.Duration
		want   time.Duration
	}{
		{nil, time.Minute, 0},
		{[]int{100, 100}, time.Minute, 0},
		{[]int{0, 100}, time.Minute, 6 * time.Millisecond},
		{[]int{-100, 0, 50}, time.Minute, 9 * time.Millisecond},
		{[]int{-1000, 1000}, 10 * 365 * 24 * time.Hour, 20 * 365 * 24 * time.Hour / 1000},
		{[]int{0, 1}, 1500 * time.Microsecond, 2}, // a part of a nanosecond counts as one
	} {
		s := Spec{ClockError: time.Second, Limits: Limits{Time: c.time}}
		for _, d := range c.drifts {
			s.Nodes = append(s.Nodes, Node{ClockDrift: d})
		}
		if got := s.Parting(); got != c.want || s.TimerError() != time.Second-c.want {
			t.Errorf("%v in %v: %v, want %v; left %v", c.drifts, c.time, got, c.want, s.TimerError())
		}
	}
}

// TestPartingByFaults: what faults do to the speed of clocks counts as what the spec says of it,
// for the nodes that they hit.
func TestPartingByFaults(t *testing.T) {
	for _, c := range []struct {
		drift OnNodes
		want  time.Duration
	}{
		{OnNodes{}, 12*time.Millisecond + 50*60*time.Microsecond},
		{OnNodes{Nodes: []ariadne.NodeID{0}}, 12 * time.Millisecond},
		{OnNodes{Nodes: []ariadne.NodeID{1}, By: []ariadne.NodeFault{ariadne.Drift{By: -50}, ariadne.Drift{By: 20}}},
			70 * 60 * time.Microsecond},
		{OnNodes{Nodes: []ariadne.NodeID{2}, By: []ariadne.NodeFault{ariadne.Drift{By: 900}}},
			900 * 60 * time.Microsecond},
	} {
		s := Spec{ClockError: time.Second, Limits: Limits{Time: time.Minute},
			Nodes: []Node{{ID: 0}, {ID: 1, ClockDrift: 50}, {ID: 2, Client: true}}}
		s.OnNodes[world.Drift] = c.drift
		if got, want := s.Parting(), 3*time.Millisecond; got != want {
			t.Errorf("without faults: %v, want %v", got, want)
		}
		s.Faults[world.Drift] = 1
		if got := s.Parting(); got != c.want || s.TimerError() != time.Second-c.want {
			t.Errorf("%v: %v, want %v; left %v", c.drift, got, c.want, s.TimerError())
		}
	}
}
