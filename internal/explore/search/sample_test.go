package search_test

import (
	"maps"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// TestSampleBoundsTries: a search that tries some steps at other times executes a bounded number of
// transitions for that, however many there are, finds the turn of the kind of step that it tries
// first, and comes to the same states each time.
func TestSampleBoundsTries(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond, Delays: 1, MaxDelay: 20 * time.Millisecond}, instant: true,
		window: 20 * time.Millisecond}
	s.programs = func() []worldtest.Program {
		return []worldtest.Program{&leaser{}, &requester{name: "A", requests: 4}, &requester{name: "B", requests: 3}}
	}
	tried := func(sampled bool) (found, int) {
		x := s.exploration(t, &strategy.FewestDeviations{})
		if sampled {
			x.Space.Sample = &space.Sample{Made: func() int { return 0 }}
		}
		got := explore(t, x, 0)
		return got, x.Space.Probing.Tries
	}
	_, most := tried(false)
	some, n := tried(true)
	if again, m := tried(true); n == 0 || n > 240 || n >= most || m != n || !maps.Equal(some.states, again.states) {
		t.Fatalf("%d tries of %d in %d states, then %d in %d", n, most, len(some.states), m, len(again.states))
	}
	s.programs = func() []worldtest.Program {
		return []worldtest.Program{&leaser{turns: []ariadne.Time{8_500_000}}, &requester{name: "A", requests: 4},
			&requester{name: "B", requests: 3}}
	}
	if got, _ := tried(true); len(got.late) == 0 {
		t.Error("no turn was found")
	}
}

// TestWindowsBetweenTimes: where there is too much time for each millisecond, what begins and is
// over in between is found if it is there at one of eight times, each two thirds of the one behind
// it, and is not found otherwise.
func TestWindowsBetweenTimes(t *testing.T) {
	const most = 100 * time.Millisecond
	found, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		const first = ariadne.Time(time.Millisecond) // when the request arrives
		opens := first + ariadne.Time(rapid.IntRange(1, int(most-8*time.Millisecond)).Draw(t, "opens"))
		closes := opens + ariadne.Time(rapid.IntRange(1_000_000, 30_000_000).Draw(t, "length"))
		s := small{rules: world.Rules{Latency: time.Duration(first), Delays: 1, MaxDelay: most}, instant: true,
			window: most}
		s.programs = func() []worldtest.Program {
			return []worldtest.Program{&leaser{turns: []ariadne.Time{opens, closes}, odd: true},
				&requester{name: "A", requests: 1}}
		}
		there := closes > first+ariadne.Time(most) // it does not close within the bound
		for d, i := ariadne.Time(most), 0; i < 8; d, i = d*2/3, i+1 {
			there = there || opens <= first+d && first+d < closes
		}
		got := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 0)
		said := outcomesOf(got)
		if !said["A: phase a; "] || said["A: phase b; "] != there || len(said) > 2 {
			t.Fatalf("from %v to %v: %v", opens, closes, said)
		}
		if there {
			found++
		} else {
			missed++
		}
	})
	if (found < 10 || missed < 10) && !testing.Short() { // which draws a fifth
		t.Errorf("%d were found and %d were not", found, missed)
	}
}
